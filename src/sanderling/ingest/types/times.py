"""Texts to timestamps and dates: ISO 8601, with 'T' or a space; without a zone it is UTC.

First the whole column by Arrow, without zones, then with zones; where a column mixes them, part by part.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.ingest.types.typed import Typed, judged, mask, trimmed

Int64s = npt.NDArray[np.int64]

DAY = r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
SECOND = r"(?P<second>[0-5][0-9])(?:\.(?P<fraction>[0-9]+))?"
CLOCK = rf"(?P<hour>[01][0-9]|2[0-3])(?::(?P<minute>[0-5][0-9])(?::{SECOND})?)?"
ZONE = r" *(?:[Zz]|UTC|(?P<sign>[+-])(?P<zone_hour>[01][0-9]|2[0-3])(?::?(?P<zone_minute>[0-5][0-9]))?)"
TIMESTAMP = rf"\A{DAY}(?:[T ]{CLOCK}(?:{ZONE})?)?\z"
DATE = rf"\A{DAY}\z"

DAY_US = 86_400_000_000
# The years 1 to 9999, which every later stage and every reader of the answers can write.
FIRST_DAY = int(np.datetime64("0001-01-01", "D").astype(np.int64))
LAST_DAY = int(np.datetime64("9999-12-31", "D").astype(np.int64))
FIRST_US = FIRST_DAY * DAY_US
LAST_US = (LAST_DAY + 1) * DAY_US - 1


def parse_timestamps(texts: pa.Array) -> Typed:
    values = _at_once(texts)
    if values is None:
        return _parse_each_timestamp(texts)
    return within_years(values)


def within_years(values: pa.Array) -> Typed:
    """Timestamps in microseconds, those outside the years 1 to 9999 marked."""
    us = np.asarray(values.cast(pa.int64()).fill_null(0))
    is_good = (us >= FIRST_US) & (us <= LAST_US)
    return (
        Typed(values, None) if is_good.all() else judged(us, mask(pc.is_null(values)), is_good, values.type)
    )


def _at_once(texts: pa.Array) -> pa.Array | None:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return texts.cast(kind).cast(pa.int64()).cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            pass
    return None


def _parse_each_timestamp(texts: pa.Array) -> Typed:
    clean = trimmed(texts)
    parts = parts_of(clean, TIMESTAMP)
    days, is_good = days_of(parts)
    seconds = (number_of(parts["hour"]) * 60 + number_of(parts["minute"])) * 60 + number_of(parts["second"])
    zone = (number_of(parts["zone_hour"]) * 60 + number_of(parts["zone_minute"])) * 60
    zone[mask(pc.equal(parts["sign"], "-"))] *= -1
    us = days * DAY_US + (seconds - zone) * 1_000_000 + microseconds_of(parts["fraction"])
    is_good &= (us >= FIRST_US) & (us <= LAST_US)
    return judged(us, mask(pc.is_null(clean)), is_good, pa.timestamp("us"))


def parse_dates(texts: pa.Array) -> Typed:
    try:
        days = np.asarray(texts.cast(pa.date32()).cast(pa.int32()).fill_null(0)).astype(np.int64)
        is_null = mask(pc.is_null(texts))
        is_good = np.ones(len(texts), np.bool_)
    except pa.ArrowInvalid:
        clean = trimmed(texts)
        days, is_good = days_of(parts_of(clean, DATE))
        is_null = mask(pc.is_null(clean))
    is_good &= (days >= FIRST_DAY) & (days <= LAST_DAY)
    return judged(days.astype("datetime64[D]"), is_null, is_good, pa.date32())


def parts_of(texts: pa.Array, pattern: str) -> dict[str, pa.Array]:
    """The named parts of each text; null where it is not of this pattern, empty where it lacks the part."""
    found = pc.extract_regex(texts, pattern)
    return dict(zip([field.name for field in found.type], found.flatten(), strict=True))


def number_of(digits: pa.Array) -> Int64s:
    """0 where there are none."""
    digits = pc.if_else(pc.equal(digits, ""), "0", digits).fill_null("0")
    return np.array(digits.cast(pa.int64()))


def microseconds_of(fraction: pa.Array) -> Int64s:
    """Further digits are cut off, not rounded: a time must not move into the next tick."""
    return number_of(pc.utf8_rpad(pc.utf8_slice_codeunits(fraction, 0, 6), 6, "0"))


def days_of(parts: dict[str, pa.Array]) -> tuple[Int64s, npt.NDArray[np.bool_]]:
    """Days since 1970, and whether the month has that day."""
    months = (number_of(parts["year"]) - 1970) * 12 + number_of(parts["month"]) - 1
    day = number_of(parts["day"])
    begin, end = _first_day(months), _first_day(months + 1)
    return begin + day - 1, (day >= 1) & (begin + day <= end)


def _first_day(months: Int64s) -> Int64s:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
