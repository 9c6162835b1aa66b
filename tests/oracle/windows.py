"""Which readings of a stream a window holds as at a tick. WHERE and INSIDE select from these afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from .brackets import nearby, tessellated, within
from .oracle import Reading, Values, is_present
from .past import Past, Stream, is_inside
from .shapes import Shape


@dataclass(frozen=True)
class Now:
    """Each object's last reading."""

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        found = (stream.last(key, tick) for key in {reading.key for reading in stream.seen(tick)})
        return [reading for reading in found if reading is not None]


@dataclass(frozen=True)
class Lasting:
    """WINDOW 1 hour: the readings of the last hour, (T - 1h, T]."""

    size_us: int

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        return [r for r in stream.seen(tick) if not r.gone and r.ts > tick - self.size_us]


@dataclass(frozen=True)
class Rows:
    """WINDOW n ROWS: the last n readings, whoever sent them; of one time, those with the larger keys."""

    n: int

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        return [r for r in stream.seen(tick) if not r.gone][-self.n :]


@dataclass(frozen=True)
class RowsPerKey:
    """WINDOW n ROWS PER KEY: each object's last n readings."""

    n: int

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        seen = [r for r in stream.seen(tick) if not r.gone]
        return [r for key in {r.key for r in seen} for r in [s for s in seen if s.key == key][-self.n :]]


@dataclass(frozen=True)
class UntilNext:
    """WINDOW UNTIL NEXT: a reading is held until the same object's next one."""

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        return Until(lambda held, later: True).holds(stream, tick)


@dataclass(frozen=True)
class Until:
    """WINDOW UNTIL condition: held until a later reading of the same object makes it true.

    Being gone or stale ends it too, for good. `sql` is the condition as it is written.
    """

    condition: Callable[[Values, Values], object]  # of the held reading and the later one
    sql: str = ""
    duck: str = ""

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        return [r for r in stream.seen(tick) if not r.gone and self._is_held(r, stream, tick)]

    def _is_held(self, reading: Reading, stream: Stream, tick: int) -> bool:
        since = [r for r in stream.seen(tick) if r.key == reading.key and r.ts >= reading.ts]
        if any(stream.is_parted(a, b) for a, b in pairwise(since)):
            return False
        if not is_present(since[-1], tick, stream.stale_after_us):
            return False
        return not any(self.condition(reading.values, later.values) is True for later in since[1:])


@dataclass(frozen=True)
class Extent:
    """[EXTENT c NOW] and [EXTENT c RANGE t]: of these readings those in the region as it is at the tick.

    `sql` is the coverage as it is written.
    """

    shape: Shape
    scope: Now | Lasting
    sql: str = ""

    def holds(self, stream: Stream, tick: int) -> list[Reading]:
        return [r for r in self.scope.holds(stream, tick) if is_inside(self.shape, r, stream, tick)]


@dataclass(frozen=True)
class Focal:
    """What NEARBY looks around: places as written, or those of a table, or of a stream's objects now.

    `where` chooses among them; `sql` is all of it as it is written.
    """

    sql: str
    places: tuple[tuple[float, float], ...] = ()
    table: str = ""
    stream: str = ""
    where: Callable[[Values], object] = field(default=lambda row: True, repr=False)

    def at(self, past: Past, tick: int) -> list[tuple[float, float]]:
        """All of them, as often as they are there; who is nowhere is none."""
        rows = [dict(zip("xy", place, strict=True)) for place in self.places]
        if self.table:
            rows = [dict(row) for row in past.tables[self.table].rows(tick)]
        if self.stream:
            rows = [dict(reading.values) for reading in Now().holds(past.streams[self.stream], tick)]
        chosen = [(row["x"], row["y"]) for row in rows if self.where(row) is True]
        return [(float(x), float(y)) for x, y in chosen if x is not None and y is not None]


@dataclass(frozen=True)
class Nearby:
    """[NEARBY F ROWS k] and [NEARBY F WITHIN d NOW | RANGE t]; either k or d is given."""

    focal: Focal
    k: int | None = None
    d: float | None = None
    scope: Now | Lasting = field(default_factory=Now)

    def holds_in(self, past: Past, stream: Stream, tick: int) -> list[Reading]:
        places, held = self.focal.at(past, tick), self.scope.holds(stream, tick)
        if self.d is not None:
            return within(held, places, self.d)
        assert self.k is not None
        return nearby(held, places, self.k)


@dataclass(frozen=True)
class Tessellated:
    """[TESSELLATE BY areas ROWS n], areas by their keys, or [TESSELLATE BY column ROWS n]: of what has come
    since the query began; of several areas a reading is in the one with the smallest key.
    """

    n: int
    sql: str
    areas: tuple[tuple[str, Shape], ...] = ()
    column: str = ""

    def holds_in(self, past: Past, stream: Stream, tick: int) -> list[Reading]:
        begin = past.begin
        told = [r for r in stream.seen(tick) if begin is None or stream.tick_of(r) >= begin]
        return [reading for _, reading in tessellated(told, self._tile_of, self.n)]

    def _tile_of(self, reading: Reading) -> tuple[object] | None:
        if self.column:
            return (reading.values[self.column],)
        names = sorted(name for name, area in self.areas if area.holds(reading.x, reading.y))
        return (names[0],) if names else None


Window = Now | Lasting | Rows | RowsPerKey | UntilNext | Until | Extent | Nearby | Tessellated
