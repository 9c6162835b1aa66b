"""What has been seen so far: the readings of streams, and tables as they were at a tick.

readings ──► late or accepted ──► of two with one object and one time the later arrival ──► told up to T
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .oracle import Reading, Row, Values, arrive, is_present, stale_tick, tick_end
from .shapes import Changing, Following, Shape


@dataclass(frozen=True)
class Stream:
    """A stream with all that will ever arrive, in order of arrival."""

    readings: Sequence[Reading]
    tick_us: int
    lateness_us: int = 0
    stale_after_us: int | None = None

    @cached_property
    def accepted(self) -> list[Reading]:
        return arrive(self.readings, self.tick_us, self.lateness_us, ended=True)[0]

    @cached_property
    def late(self) -> list[int]:
        return arrive(self.readings, self.tick_us, self.lateness_us, ended=True)[1]

    @cached_property
    def closed_to(self) -> int | None:
        """The last tick that closes, when the input ends."""
        return arrive(self.readings, self.tick_us, self.lateness_us, ended=True)[2]

    @cached_property
    def first_tick(self) -> int | None:
        return min((self.tick_of(reading) for reading in self.accepted), default=None)

    @cached_property
    def told(self) -> list[Reading]:
        """In order of time and key; a reading that was replaced is not there at all."""
        by_time = {(reading.ts, reading.key): reading for reading in self.accepted}
        return [by_time[place] for place in sorted(by_time)]  # type: ignore[type-var]

    def told_by(self, key: object) -> list[Reading]:
        return [reading for reading in self.told if reading.key == key]

    def tick_of(self, reading: Reading) -> int:
        return tick_end(reading.ts, self.tick_us)

    def seen(self, tick: int) -> list[Reading]:
        return [reading for reading in self.told if reading.ts <= tick]

    def last(self, key: object, tick: int) -> Reading | None:
        """An object's last reading as at a tick, if the object is present then."""
        own = [reading for reading in self.seen(tick) if reading.key == key]
        return own[-1] if own and is_present(own[-1], tick, self.stale_after_us) else None

    def is_parted(self, earlier: Reading, later: Reading) -> bool:
        """Of two successive readings of one object: was it gone, or stale at some tick, between them?"""
        return earlier.gone or self.is_stale_before(earlier, self.tick_of(later))

    def is_stale_before(self, reading: Reading, tick: int) -> bool:
        """Silent from this reading on, is the object stale at some tick before this one?"""
        if self.stale_after_us is None:
            return False
        return stale_tick(reading, self.tick_us, self.stale_after_us) < tick

    def previous(self, reading: Reading) -> Reading | None:
        """The same object's reading before this one; none after it was gone or stale."""
        before = [other for other in self.told_by(reading.key) if other.ts < reading.ts]
        return before[-1] if before and not self.is_parted(before[-1], reading) else None


@dataclass(frozen=True)
class Table:
    """What a table holds from a time on, oldest first; None: from the beginning."""

    columns: tuple[str, ...]
    changes: Sequence[tuple[int | None, Sequence[Values]]]

    def rows(self, tick: int) -> Sequence[Values]:
        held: Sequence[Values] = ()
        for since, rows in self.changes:
            if since is None or since <= tick:  # the tick that contains the time is the first
                held = rows
        return held


@dataclass(frozen=True)
class Past:
    """All streams and tables. A query over several streams needs them to have one tick.

    `begin`: when the query began that is asked for, which shows where windows are refreshed now and then, and
    where somebody has to stay. `answers` are known already, by query, its begin and tick.
    """

    streams: dict[str, Stream]
    tables: dict[str, Table]
    begin: int | None = None
    answers: dict[tuple[int, int, int], tuple[object, list[Row]]] = field(
        default_factory=dict, compare=False, repr=False
    )


def is_inside(shape: Shape, reading: Reading, stream: Stream, tick: int) -> bool:
    """A moving shape holds nobody while its focal object is absent, and never the focal object itself."""
    if isinstance(shape, Changing):
        shape = shape.at(tick)
    if isinstance(shape, Following):
        focal = stream.last(shape.focal, tick)
        if focal is None or reading.key == shape.focal:
            return False
        return shape.holds(reading.x, reading.y, focal.x, focal.y)
    return shape.holds(reading.x, reading.y)
