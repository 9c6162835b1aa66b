"""A pattern in words: its positions in order, what each waits for, and how long a run is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sanderling.clock import show_duration
from sanderling.figures.figures import Figure, OperatorId
from sanderling.plan.explain.outline import Note
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Branch, Match, Position

ValueOf = Callable[[Expression], int]


@dataclass(frozen=True)
class Counted:
    """What was done by all patterns of a shape: what their positions are called, and how runs ended there."""

    position: Callable[[int], OperatorId]
    ended: Callable[[int], Figure]

    def ends(self, at: int) -> str:
        found = self.ended(at)
        words = [f"{n:,} {how}" for n, how in ((found.rows_in, "broken"), (found.rows_out, "timed out")) if n]
        return f": {', '.join(words)}" if words else ""


def words_of_match(node: Match) -> str:
    report = f"report {'first' if node.is_first else 'all'}{' with timeouts' if node.has_timeouts else ''}"
    skip = ", skip past last step" if node.is_skipping else ""
    where = f" where {node.where.words}" if node.where is not None else ""
    return f"pattern{where}, {report}{skip}"


def notes_of_match(node: Match, value_of: ValueOf, counted: Counted | None) -> tuple[str | Note, ...]:
    """A line for each position and for each NOT before it; then how long a run lives."""

    def note(at: int, words: str) -> Note:
        return Note(words) if counted is None else Note(words + counted.ends(at), (counted.position(at),))

    lines: list[str | Note] = [note(0, f"1  {_step(node, 0, value_of)}")]
    for number, position in enumerate(node.positions, 2):
        lines += [f"!  {_step(node, step, value_of)}: breaks it" for step in position.nots]
        word = " and " if position.is_all else " or "
        steps = word.join(_step(node, step, value_of) for step in position.steps)
        words = f"{number}  {steps or 'nothing of that'}{_bounds(position, value_of)}"
        lines.append(note(number - 1, words))
    if not node.positions:
        return tuple(lines)
    lines += _known(node)
    return (*lines, f"a run is kept at most {show_duration(_longest(node.positions, value_of))}")


def _known(node: Match) -> list[str]:
    """Later steps that are looked at for all; what the first step knows is known anyway."""
    some = {i for i, p in enumerate(node.presences) if isinstance(p.child, Branch) and p.child.is_waited}
    names = [step.name for step in node.steps[1:] if step.presence not in {0, *some}]
    return [f"looked at for everybody: {', '.join(dict.fromkeys(names))}"] if names else []


def _step(node: Match, number: int, value_of: ValueOf) -> str:
    step, stay = node.steps[number], value_of(node.steps[number].stay)
    how = "entering " if step.is_entering else "leaving " if step.is_leaving else ""
    lasting = f" for {show_duration(stay)}" if stay else ""
    if step.own is not None:
        constants = ", ".join(repr(constant) for constant in step.own.constants)
        lasting = f" by the program's {step.own.name}{f'({constants})' if constants else ''}"
    return f"{how}{step.name}{lasting}{f', {step.times} times' if step.times > 1 else ''}"


def _bounds(position: Position, value_of: ValueOf) -> str:
    bounds = [f"{show_duration(value_of(b.within))} of {b.of + 1}" for b in position.bounds]
    return f", within {' and '.join(bounds)}"


def _longest(positions: Sequence[Position], value_of: ValueOf) -> int:
    """The latest that each position can be reached, after the first was."""
    latest = [0]
    for position in positions:
        latest.append(min(latest[b.of] + value_of(b.within) for b in position.bounds))
    return max(latest)
