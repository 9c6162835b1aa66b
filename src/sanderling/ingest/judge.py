"""Which rows can be readings: they have a key, a time and a place, and every value fits its type.

Rows are asked in this order, and an answer of no is final: so a row with several faults gets one letter.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.catalog import Stream
from sanderling.clock import show_duration, show_time
from sanderling.ingest.formats.rows import Rows
from sanderling.ingest.letters import joined
from sanderling.ingest.types.convert import convert
from sanderling.ingest.types.show import show
from sanderling.ingest.types.times import DAY_US, FIRST_US, LAST_US
from sanderling.ingest.types.typed import Mask, Typed, judged, mask
from sanderling.space.sphere import FARTHEST_EAST, POLE
from sanderling.types import SqlType

SHOWN = 80  # characters of a value in a letter's detail
YEARS = "a time between the years 1 and 9999"
OTHER_FORMS = "time_format = 'dd/MM/yyyy HH:mm:ss' reads others"


class Judge:
    """The rows of one slice, while they are looked at."""

    def __init__(self, stream: Stream, rows: Rows, read_at_us: int | None = None) -> None:
        """`read_at_us`: of a live source, when its batch began by the clock on the wall."""
        self.stream = stream
        self.read_at_us = read_at_us
        self.rows = rows
        columns = zip(rows.columns, stream.columns, strict=True)
        self.typed = [convert(values, c.type, stream.written.time_format) for values, c in columns]
        self.is_open = np.ones(len(rows.numbers), np.bool_)

    def readings(self) -> pa.Table:
        """The rows that can be readings; the others are added to the faults of the rows."""
        stream = self.stream
        self._refuse_missing("missing_key", stream.key)
        # Not a number is not equal to itself: such an object could never be found again.
        self._refuse("missing_key", _is_nan(self._typed(stream.key).values), stream.key, "a key")
        self._refuse_missing("missing_time", stream.time)
        time = self._time()
        self._refuse("unreadable_time", time.bad(), stream.time, self._expected_time())
        self._refuse_missing("missing_place", stream.x)
        self._refuse_missing("missing_place", stream.y)
        for name in (stream.x, stream.y):
            self._refuse("bad_place", _is_not_finite(self._typed(name).values), name, "a finite coordinate")
        if stream.is_globe:
            for name, most, word in ((stream.x, FARTHEST_EAST, "longitude"), (stream.y, POLE, "latitude")):
                is_off = _is_beyond(self._typed(name).values, most)
                self._refuse("bad_place", is_off, name, f"a {word} from -{most:g} to {most:g}")
        if stream.partition is not None:
            self._refuse_missing("missing_partition", stream.partition)
        for column, typed in zip(stream.columns, self.typed, strict=True):
            self._refuse("wrong_type", typed.bad(), column.name, _a(column.type))
        if stream.ahead_us is not None and self.read_at_us is not None:
            bound = f"more than {show_duration(stream.ahead_us)} after {show_time(self.read_at_us)}"
            is_ahead = np.asarray(time.values.fill_null(0)) > self.read_at_us + stream.ahead_us
            self._take(is_ahead, "ahead", f"{stream.time} is {bound}, when it came")
        return self._table(time)

    def _expected_time(self) -> str:
        pattern = self.stream.written.time_format
        if not pa.types.is_string(self.rows.columns[self._at(self.stream.time)].type):
            return YEARS
        if self._typed(self.stream.time).values.type != pa.timestamp("us"):
            return f"{YEARS}, as a number of seconds; a TIMESTAMP is read by time_format = '…'"
        return f"{YEARS}, as {pattern!r} says" if pattern else f"{YEARS}, as ISO 8601 has it; {OTHER_FORMS}"

    def _at(self, name: str) -> int:
        column = self.stream.column(name)
        return next(i for i, c in enumerate(self.stream.columns) if c is column)

    def _typed(self, name: str) -> Typed:
        return self.typed[self._at(name)]

    def _time(self) -> Typed:
        """Microseconds; bad where there is a value, but no time can be read from it."""
        typed = self._typed(self.stream.time)
        found = microseconds(typed.values)
        return Typed(found.values, found.bad() | typed.bad())

    def _refuse_missing(self, reason: str, name: str) -> None:
        typed = self._typed(name)
        is_missing = is_empty(typed.values) & ~typed.bad()
        self._take(is_missing, reason, f"{name} is empty")

    def _refuse(self, reason: str, is_bad: Mask, name: str, expected: str) -> None:
        at = np.flatnonzero(is_bad & self.is_open)
        if len(at):
            value = pc.utf8_slice_codeunits(
                show(self.rows.columns[self._at(name)].take(pa.array(at))), 0, SHOWN
            )
            self._take(is_bad, reason, joined(f'{name}: "', value, f'" is not {expected}'))

    def _take(self, is_bad: Mask, reason: str, detail: str | pa.Array) -> None:
        is_bad = is_bad & self.is_open
        self.rows.faults.add(self.rows.numbers[is_bad], reason, detail)
        self.is_open &= ~is_bad

    def _table(self, time: Typed) -> pa.Table:
        names = [*(c.name for c in self.stream.columns), "__ts", "__row"]
        columns = [*(typed.values for typed in self.typed), time.values, pa.array(self.rows.numbers)]
        table = pa.Table.from_arrays(columns, names)
        return table if self.is_open.all() else table.filter(pa.array(self.is_open)).combine_chunks()


def is_empty(values: pa.Array) -> Mask:
    """Null or an empty text."""
    is_null = mask(pc.is_null(values))
    if pa.types.is_string(values.type):
        return is_null | mask(pc.equal(pc.binary_length(values), 0))
    return is_null


def microseconds(values: pa.Array) -> Typed:
    """Since 1970 in UTC, from timestamps, dates, or numbers of seconds."""
    is_null = mask(pc.is_null(values))
    if pa.types.is_timestamp(values.type):
        return Typed(values.cast(pa.int64()), None)
    if pa.types.is_date(values.type):
        days = np.asarray(values.cast(pa.int32()).fill_null(0)).astype(np.int64)
        return judged(days * DAY_US, is_null, ~is_null, pa.int64())
    if pa.types.is_floating(values.type):
        # Rounded: 0.1 seconds is no double, but 100000 microseconds it is.
        us = np.rint(np.asarray(values.fill_null(0)).astype(np.float64) * 1e6)
        # One past the last is a double, the last is not.
        is_good = (us >= FIRST_US) & (us < LAST_US + 1)
        return judged(np.where(is_good, us, 0).astype(np.int64), is_null, is_good, pa.int64())
    seconds = np.asarray(values.cast(pa.int64()).fill_null(0))
    is_good = (seconds >= FIRST_US // 1_000_000) & (seconds <= LAST_US // 1_000_000)
    return judged(np.where(is_good, seconds, 0) * 1_000_000, is_null, is_good, pa.int64())


def _is_not_finite(values: pa.Array) -> Mask:
    if not pa.types.is_floating(values.type):
        return np.zeros(len(values), np.bool_)
    return np.asarray(~np.isfinite(np.asarray(values.fill_null(0.0))))


def _is_beyond(values: pa.Array, most: float) -> Mask:
    return np.asarray(np.abs(np.asarray(values.fill_null(0)).astype(np.float64)) > most)


def _is_nan(values: pa.Array) -> Mask:
    is_float = pa.types.is_floating(values.type)
    return mask(pc.is_nan(values)) if is_float else np.zeros(len(values), np.bool_)


def _a(type: SqlType) -> str:
    return f"an {type.name}" if type.name == "INT" else f"a {type.name}"
