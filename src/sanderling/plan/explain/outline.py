"""A plan as lines of text: what stands below what, drawn as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sanderling.figures.figures import OperatorId


@dataclass(frozen=True, slots=True)
class Note:
    """What else is to say, of something that has figures."""

    words: str
    operators: tuple[OperatorId, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A part of a plan in words, where it runs, what else is to say of it, and the parts it takes rows of."""

    words: str
    runs: str = ""  # shard or merge
    notes: tuple[str | Note, ...] = ()
    below: tuple[Outline, ...] = ()
    operators: tuple[OperatorId, ...] = ()  # whose figures are its own

    @property
    def line(self) -> str:
        return f"{self.words}   [{self.runs}]" if self.runs else self.words


Line = tuple[str, Outline | Note | None]  # None: a note that nothing is counted of


def drawn(outline: Outline) -> Iterator[Line]:
    """From the top down."""
    yield outline.line, outline
    yield from _drawn_below(outline, "")


def _drawn_below(outline: Outline, indent: str) -> Iterator[Line]:
    for part in outline.below:
        is_last = part is outline.below[-1]
        yield f"{indent}{'└─' if is_last else '├─'} {part.line}", part
        under = indent + ("   " if is_last else "│  ")
        for note in part.notes:
            said = note if isinstance(note, Note) else None
            yield f"{under}{'│' if part.below else ' '} {said.words if said else note}", said
        yield from _drawn_below(part, under)
