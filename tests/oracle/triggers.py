"""CREATE TRIGGER by brute force: every combination of events, every constraint as it was stated.

Events are those of one trigger, in event order. A solution is told as the places of its events in that order,
variable by variable; it is found when the last of them comes.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field

from .globe import chord, chord_of

OPERATORS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    ts: int
    x: float
    y: float
    variables: frozenset[int]  # those whose own conditions it satisfies
    values: tuple[float | int | None, ...] = ()


@dataclass(frozen=True)
class Time:
    """t_j - t_i in [least, most]."""

    i: int
    j: int
    least: int
    most: int

    def holds(self, a: Event, b: Event) -> bool:
        return self.least <= b.ts - a.ts <= self.most


@dataclass(frozen=True)
class Distance:
    """distance(i, j) op radius; on the globe in metres."""

    i: int
    j: int
    op: str
    radius: float
    is_globe: bool = False

    def holds(self, a: Event, b: Event) -> bool:
        if self.is_globe:
            return bool(OPERATORS[self.op](chord(a.x, a.y, b.x, b.y), chord_of(self.radius)))
        dx, dy = a.x - b.x, a.y - b.y
        return bool(OPERATORS[self.op](dx * dx + dy * dy, self.radius * self.radius))


@dataclass(frozen=True)
class Values:
    """left(Vi) op right(Vj), or, with a constant, left(Vi) - right(Vj) op constant."""

    i: int
    left: int
    op: str
    j: int
    right: int
    constant: float | None = None

    def holds(self, a: Event, b: Event) -> bool:
        x, y = a.values[self.left], b.values[self.right]
        if x is None or y is None:
            return False
        if self.constant is not None:
            x, y = x - y, self.constant
        if math.isnan(x) or math.isnan(y):  # above all numbers, and equal to itself
            x, y = (1, 1) if math.isnan(x) and math.isnan(y) else (1, 0) if math.isnan(x) else (0, 1)
        return bool(OPERATORS[self.op](x, y))


Constraint = Time | Distance | Values


@dataclass(frozen=True)
class Trigger:
    """Variables by number. Those of a set (they stand together) are different events, in event order."""

    size: int
    constraints: tuple[Constraint, ...]
    sets: tuple[tuple[int, ...], ...] = field(default=())

    def takes(self, events: list[Event], chosen: tuple[int, ...]) -> bool:
        return all(
            chosen[a] < chosen[b] for members in self.sets for a, b in itertools.pairwise(members)
        ) and all(c.holds(events[chosen[c.i]], events[chosen[c.j]]) for c in self.constraints)


def solutions(trigger: Trigger, events: list[Event], is_first: bool = False) -> list[tuple[int, ...]]:
    """In order of the last event, then of the first variable's, of the second's, and so on."""
    domains = [[n for n, e in enumerate(events) if v in e.variables] for v in range(trigger.size)]
    every = itertools.product(*domains)
    return _told([s for s in every if trigger.takes(events, s)], is_first)


def _told(found: list[tuple[int, ...]], is_first: bool) -> list[tuple[int, ...]]:
    by_last = sorted((max(s), s) for s in found)
    if is_first:
        by_last = [min(some) for _, some in itertools.groupby(by_last, key=lambda f: f[0])]
    return [s for _, s in by_last]


def solutions_early(trigger: Trigger, events: list[Event], is_first: bool = False) -> list[tuple[int, ...]]:
    """The same: combinations grow by a variable, and constraints are asked as soon as they can be."""
    grown: list[tuple[int, ...]] = [()]
    for v in range(trigger.size):
        domain = [n for n, e in enumerate(events) if v in e.variables]
        due = tuple(c for c in trigger.constraints if max(c.i, c.j) == v)
        before = [v - 1 for members in trigger.sets if v in members[1:]]  # members stand together
        grown = [
            (*s, n)
            for s in grown
            for n in domain
            if all(s[b] < n for b in before)
            and all(c.holds(events[(*s, n)[c.i]], events[(*s, n)[c.j]]) for c in due)
        ]
    return _told(grown, is_first)
