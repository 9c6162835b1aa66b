"""Which readings of a stream a window holds as at a tick. WHERE and INSIDE select from these afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from .oracle import Reading, Values, is_present
from .past import Stream


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


Window = Now | Lasting | Rows | RowsPerKey | UntilNext | Until
