"""Event time: microseconds, cut into ticks.

A tick is named by its end. A reading at `ts` belongs to the tick that ends at ceil(ts / tick) · tick.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING_YET = int(np.iinfo(np.int64).min)
# Before all ticks, and after them.
ALWAYS, NEVER = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
# The years 1 to 9999, which every stage can write.
FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999

UNITS_US = {
    "microsecond": 1, "us": 1, "millisecond": 1_000, "ms": 1_000,
    "second": 1_000_000, "sec": 1_000_000, "s": 1_000_000,
    "minute": 60_000_000, "min": 60_000_000, "hour": 3_600_000_000, "h": 3_600_000_000,
    "day": 86_400_000_000, "d": 86_400_000_000, "week": 604_800_000_000,
}  # fmt: skip


class Rise(NamedTuple):
    """A reading that the clock of its partition moves to, if that stood at `least` or later before."""

    least: int
    ts: int
    key: str
    row: int


class Rises(NamedTuple):
    """What a slice does to the clock of a partition."""

    first: int  # the time of its first reading
    readings: Sequence[Rise]  # the later, the more they ask of the clock

    def known(self, clock: int) -> int:
        """By what the slice is judged: where nothing has come before, by its first reading."""
        return self.first if clock == NOTHING_YET else clock

    def moves(self, clock: int) -> Rise | None:
        """The reading that the clock stands at afterwards; None: it stays where it is."""
        known = self.known(clock)
        found = [rise for rise in self.readings if rise.least <= known and rise.ts > clock]
        return found[-1] if found else None


class Furthest(NamedTuple):
    """The reading at which a clock stands."""

    ts: int
    key: str
    file: str  # empty where it came from none
    row: int


@dataclass(slots=True)
class Clock:
    """What a shard knows of a stream's time. The same in all shards after the same batches.

    Promises (tests/properties/test_partitions.py):
      in order  a reading that is in order in its partition, which is not idle, is never late
      cut       then neither batches nor how partitions take turns show
    """

    # By partition, the highest time seen in it; where partitions are not known, all is one without a name.
    highs: dict[str, int] = field(default_factory=dict)
    closed_to: int = NOTHING_YET
    first_tick: int = NOTHING_YET
    is_ended: bool = False
    begun: int = NEVER  # versions from this number on begin at the next tick to close, or wait

    @property
    def max_ts(self) -> int:
        """The highest time seen."""
        return max(self.highs.values(), default=NOTHING_YET)

    def see(self, rises: Mapping[str, Rises], min_ts: int, tick_us: int) -> Rise | None:
        """A slice has come: what it does to the clock of each partition, and the least of all its times.

        Gives the reading that is further than all before, if there is one. To be told of a slice once: a
        clock that has moved takes readings that were ahead of it.
        """
        was = self.max_ts
        found = {name: mine.moves(self.highs.get(name, NOTHING_YET)) for name, mine in rises.items()}
        moved = {name: rise for name, rise in found.items() if rise is not None}
        # Anew: a copy from before the batch has the old ones.
        self.highs = {**self.highs, **{name: rise.ts for name, rise in moved.items()}}
        if self.closed_to == NOTHING_YET != min_ts:
            first = tick_end(min_ts, tick_us)
            self.first_tick = first if self.first_tick == NOTHING_YET else min(first, self.first_tick)
        furthest = max(moved.values(), key=lambda rise: rise.ts, default=None)
        return furthest if furthest is not None and furthest.ts > was else None

    def time(self, idle_after_us: int | None) -> int:
        """The highest time seen; where partitions are known, the least of theirs, so that each is waited for.

        But none for ever: one that is so far behind the greatest is idle. At first partitions that nobody has
        heard of are waited for just as long.
        """
        if idle_after_us is None:
            return self.max_ts
        active = self.max_ts - idle_after_us
        return NOTHING_YET if active <= self.first_tick else max(active, min(self.highs.values()))


def tick_end(ts: int, tick_us: int) -> int:
    """The tick that a time belongs to."""
    return -(-ts // tick_us) * tick_us


def tick_ends(ts: npt.NDArray[np.int64], tick_us: int) -> npt.NDArray[np.int64]:
    """The same for a column."""
    return -(-ts // tick_us) * tick_us


def ticks_from(times: npt.NDArray[np.int64], tick_us: int) -> npt.NDArray[np.int64]:
    """The same, where a time may be always or never."""
    is_time = (times != ALWAYS) & (times != NEVER)
    return np.where(is_time, tick_ends(np.where(is_time, times, 0), tick_us), times)


def closed_by(clock: int, tick_us: int) -> int:
    """The last tick that a clock has passed: the largest end before it."""
    return tick_end(clock, tick_us) - tick_us


def duration_us(text: str | int | float) -> int | None:
    """'5 seconds', '1.5 hours' or a number of seconds, in microseconds; None if unreadable."""
    if not isinstance(text, str):
        return round(text * 1_000_000)
    match = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if not match:
        return None
    unit = match[2].lower() or "second"
    scale = UNITS_US.get(unit) or UNITS_US.get(unit.removesuffix("s"))
    return round(float(match[1]) * scale) if scale else None


def timestamp_us(text: str | int | float) -> int | None:
    """An ISO timestamp (no zone means UTC) or a number of seconds, in microseconds; None if unreadable."""
    if not isinstance(text, str):
        return round(text * 1_000_000)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def time_of(written: str | int | float) -> int | None:
    """A time that an author wrote; None for what is no time, or none of the years 1 to 9999."""
    try:
        time = timestamp_us(written)
    except OverflowError:
        return None
    return time if time is not None and FIRST_US <= time <= LAST_US else None


def show_time(ts: int) -> str:
    """A time as users see it: 2008-05-23T19:00:05Z, with a fraction only where there is one."""
    # NumPy's calendar goes on where datetime's ends: the last tick of 9999 ends in 10000.
    return str(np.datetime64(ts, "us")).removesuffix(".000000") + "Z"


def show_duration(us: int) -> str:
    """A duration as users see it."""
    for unit in ("day", "hour", "minute", "second", "millisecond"):
        if us and us % UNITS_US[unit] == 0:
            count = us // UNITS_US[unit]
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{us} microseconds" if us else "0 seconds"
