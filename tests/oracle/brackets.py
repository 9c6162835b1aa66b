"""Windows in brackets behind a stream's name: W(T), each from its definition, as plain functions of lists.

Where a window of other files holds readings, these choose among them, or among what has been told.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .oracle import Reading, tick_end

Place = tuple[float, float]
Tile = TypeVar("Tile", bound=Hashable)
Left = TypeVar("Left")
Right = TypeVar("Right")


@dataclass(frozen=True)
class Refresh:
    """EVERY dt: the window is looked at in the ticks that contain from + m · dt, and stays between them."""

    every_us: int
    from_us: int = 0

    def last(self, tick: int, tick_us: int) -> int:
        """The last of these ticks up to this one."""
        m = (tick - self.from_us) // self.every_us
        while tick_end(self.from_us + (m + 1) * self.every_us, tick_us) <= tick:
            m += 1
        while tick_end(self.from_us + m * self.every_us, tick_us) > tick:
            m -= 1
        return tick_end(self.from_us + m * self.every_us, tick_us)

    def between(self, first: int, last: int, tick_us: int) -> set[int]:
        """All of them in these bounds."""
        found, at = set(), self.last(last, tick_us)
        while at >= first:
            found.add(at)
            at = self.last(at - tick_us, tick_us)
        return found


def squared(a: Place, b: Place) -> float:
    dx, dy = float(a[0]) - float(b[0]), float(a[1]) - float(b[1])
    return dx * dx + dy * dy


def nearby(now: Sequence[Reading], spots: Iterable[Place], k: int) -> list[Reading]:
    """NEARBY F ROWS k: of each spot the k nearest, ties by the smaller key; each object once."""
    found: dict[object, Reading] = {}
    for spot in spots:
        by_distance = sorted(now, key=lambda r, s=spot: (squared((r.x, r.y), s), r.key))  # type: ignore[misc]
        found |= {reading.key: reading for reading in by_distance[:k]}
    return list(found.values())


def within(scope: Sequence[Reading], spots: Sequence[Place], d: float) -> list[Reading]:
    """NEARBY F WITHIN d: those that are no further than d from some spot; each reading once."""
    return [r for r in scope if any(squared((r.x, r.y), s) <= d * d for s in spots)]


def tessellated(
    told: Iterable[Reading], tile_of: Callable[[Reading], Tile | None], n: int
) -> list[tuple[Tile, Reading]]:
    """TESSELLATE ROWS n: of each tile the last n of those in it, by time and key."""
    of_tile: dict[Tile, list[Reading]] = {}
    for reading in sorted(told, key=lambda r: (r.ts, r.key)):
        tile = tile_of(reading)
        if tile is not None and not reading.gone:
            of_tile.setdefault(tile, []).append(reading)
    return [(tile, reading) for tile, held in of_tile.items() for reading in held[-n:]]


def neighbours(
    one: Left,
    others: Sequence[Right],
    k: int,
    apart: Callable[[Left, Right], float],
    order: Callable[[Right], tuple[object, ...]],
) -> list[Right]:
    """NN: the first k of the others, by how far apart they are, then by what breaks ties."""
    return sorted(others, key=lambda other: (apart(one, other), *order(other)))[:k]
