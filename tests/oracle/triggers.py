"""CREATE TRIGGER by brute force: every combination of events, every constraint as it was stated.

Events are those of one trigger, in event order. A solution is told as the places of its events in that order,
variable by variable; it is found when the last of them comes.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field

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
    """distance(i, j) op radius."""

    i: int
    j: int
    op: str
    radius: float

    def holds(self, a: Event, b: Event) -> bool:
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
    found = sorted((max(s), s) for s in every if trigger.takes(events, s))
    if is_first:
        found = [min(some) for _, some in itertools.groupby(found, key=lambda f: f[0])]
    return [s for _, s in found]
