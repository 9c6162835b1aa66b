"""STAY_WITHIN and PASS_WITHIN, from their definitions: where objects are at each tick of a range.

An object is at its last reading; nowhere while it is absent, or that reading fails the conditions on it. How
near is near may change from tick to tick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .oracle import Reading
from .past import Stream
from .windows import Now

Radius = Callable[[int], float]  # by tick


@dataclass(frozen=True)
class Trail:
    """The objects of a stream that satisfy a condition, at every tick from one on."""

    stream: Stream
    holds: Callable[[Reading], bool]
    begin: int
    known: dict[int, dict[object, Reading]] = field(default_factory=dict, compare=False)

    def at(self, tick: int) -> dict[object, Reading]:
        """Who is somewhere, and where."""
        if tick < self.begin:
            return {}
        if tick not in self.known:
            self.known[tick] = {r.key: r for r in Now().holds(self.stream, tick) if self.holds(r)}
        return self.known[tick]


def ticks_of(tick: int, range_us: int, tick_us: int) -> list[int]:
    """Those t with tick - range < t <= tick, the latest first."""
    return list(range(tick, tick - range_us, -tick_us))


def stays(one: Trail, other: Trail, r: Radius, ticks: Sequence[int]) -> list[tuple[Reading, Reading]]:
    """Near each other at every tick; each as it was read last."""
    now, then = one.at(ticks[0]), other.at(ticks[0])
    return [(a, b) for a in now.values() for b in then.values() if _stay(one, other, a.key, b.key, r, ticks)]


def _stay(one: Trail, other: Trail, a: object, b: object, r: Radius, ticks: Sequence[int]) -> bool:
    for tick in ticks:
        mine, its = one.at(tick).get(a), other.at(tick).get(b)
        if mine is None or its is None or not is_near(mine, its, r(tick)):
            return False
    return True


def passes(one: Trail, other: Trail, r: Radius, ticks: Sequence[int]) -> list[tuple[Reading, Reading]]:
    """Near a place where the other has been, at whichever ticks of the range, as near is now."""
    last: list[dict[object, Reading]] = [{}, {}]
    for tick in reversed(ticks):
        for known, trail in zip(last, (one, other), strict=True):
            known.update(trail.at(tick))
    places = [[r for tick in ticks for r in trail.at(tick).values()] for trail in (one, other)]
    met = {(a.key, b.key) for a in places[0] for b in places[1] if is_near(a, b, r(ticks[0]))}
    return [(last[0][a], last[1][b]) for a, b in met]


def nearest(
    pairs: Sequence[tuple[Reading, Reading]], one: Trail, other: Trail, ticks: Sequence[int], k: int,
    is_other: bool,
) -> list[tuple[Reading, Reading]]:  # fmt: skip
    """Of each a the k of b whose greatest distance at these ticks is the least; ties by the smaller key."""
    found = []
    for key in {a.key for a, _ in pairs}:
        mine = [(a, b) for a, b in pairs if a.key == key and not (is_other and b.key == key)]
        far = {
            b.key: max(squared(one.at(tick)[a.key], other.at(tick)[b.key]) for tick in ticks) for a, b in mine
        }
        found += sorted(mine, key=lambda pair: (far[pair[1].key], pair[1].key))[:k]
    return found


def squared(a: Reading, b: Reading) -> float:
    dx, dy = float(a.x) - float(b.x), float(a.y) - float(b.y)
    return dx * dx + dy * dy


def is_near(a: Reading, b: Reading, r: float) -> bool:
    """As squares, in doubles."""
    return r >= 0 and squared(a, b) <= float(r) * float(r)
