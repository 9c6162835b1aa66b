"""How long a pattern waits: every wait has a bound, and what it asks for fits into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sanderling.clock import show_duration
from sanderling.errors import QueryError
from sanderling.language.statements import PatternBound, Span


@dataclass(slots=True)
class Wait:
    """A position behind the first, as it was written; the first step is position 0.

    `of` is the position that its bound is counted from, `least` how long each of its steps takes at least;
    `names` are its steps as they stand there.
    """

    steps: tuple[int, ...]
    is_all: bool
    nots: tuple[int, ...]
    within: PatternBound | None
    of: int | None
    names: str
    span: Span
    least: Sequence[int]
    bounds: list[tuple[int, int]] = field(default_factory=list)  # microseconds, and since which position

    def least_us(self, tick_us: int) -> int:
        whole = [-(-us // tick_us) * tick_us for us in self.least]
        return (max if self.is_all else min)(whole, default=0)


def bind(waits: Sequence[Wait], tick_us: int, text: str) -> None:
    """Gives each its bounds: its own, and those of later ones that are counted from before it."""
    for number, wait in enumerate(waits):
        for later in waits[number:]:
            if later.within is not None and later.of is not None and later.of <= number:
                wait.bounds.append((later.within.us, later.of))
        if not wait.bounds:
            message = f"nothing says how long {wait.names} is waited for: all would be kept"
            hint = f"write {wait.names} WITHIN 1 HOUR"
            raise QueryError("query.pattern_unbounded", message, hint, wait.span.place_in(text))
    for number, wait in enumerate(waits):
        if wait.within is None or wait.of is None:
            continue
        least = sum(one.least_us(tick_us) for one in waits[wait.of : number + 1])
        if least > wait.within.us // tick_us * tick_us:
            message = f"this takes {show_duration(least)} at least, which is longer than WITHIN says"
            hint = "wait longer, or ask for shorter stays"
            place = wait.within.span.place_in(text)
            raise QueryError("query.pattern_unsatisfiable", message, hint, place)
