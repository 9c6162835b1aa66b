"""Typed columns of a parquet file to other types, where nothing but precision is lost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.ingest.types.times import DAY_US, FIRST_DAY, LAST_DAY, within_years
from sanderling.ingest.types.typed import Mask, Typed, judged, mask

UNITS_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def numbers_to_numbers(values: pa.Array, kind: pa.DataType) -> Typed:
    """An integer must stay the same integer; a float may lose digits, but not become infinite."""
    if values.type == kind:
        return Typed(values, None)
    is_null = mask(pc.is_null(values))
    numbers = np.asarray(values.fill_null(0))
    target = np.dtype(kind.to_pandas_dtype())
    is_good = _fits_integer(numbers, target) if pa.types.is_integer(kind) else _fits_float(numbers, target)
    numbers = np.where(is_good, numbers, np.zeros(1, numbers.dtype))
    return judged(numbers.astype(target), is_null, is_good, kind)


def _fits_integer(numbers: np.ndarray, target: np.dtype) -> Mask:
    bounds = np.iinfo(target)
    if numbers.dtype.kind != "f":
        return np.asarray((numbers >= bounds.min) & (numbers <= bounds.max))
    wide = numbers.astype(np.float64)
    # One past the largest integer is a power of two and so a float; the largest itself may not be.
    is_inside = (wide >= float(bounds.min)) & (wide < float(bounds.max + 1))
    return np.asarray(is_inside & (wide == np.floor(wide)))


def _fits_float(numbers: np.ndarray, target: np.dtype) -> Mask:
    with np.errstate(over="ignore"):
        is_over = np.isinf(numbers.astype(target)) & np.isfinite(numbers.astype(np.float64))
    return np.asarray(~is_over)


def times_to_timestamps(values: pa.Array) -> Typed:
    """Of any unit, zone or of a date; finer than a microsecond is cut off."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("ms"))
    is_null = mask(pc.is_null(values))
    # The integers of a time with a zone are UTC.
    ticks = np.asarray(values.cast(pa.int64()).fill_null(0))
    factor = UNITS_PER_SECOND[values.type.unit]
    if factor > 1_000_000:
        us = ticks // (factor // 1_000_000)
        is_good = np.ones(len(us), np.bool_)
    else:
        scale = 1_000_000 // factor
        is_good = np.abs(ticks // 2) <= np.iinfo(np.int64).max // scale // 2 - 1
        us = np.where(is_good, ticks, 0) * scale
    inside = within_years(pa.array(us, pa.timestamp("us"), mask=is_null | ~is_good))
    is_bad = inside.bad() | (~is_null & ~is_good)
    return Typed(inside.values, is_bad if is_bad.any() else None)


def times_to_dates(values: pa.Array) -> Typed:
    """A time of day other than midnight would be lost, so it does not fit."""
    typed = times_to_timestamps(values)
    us = np.asarray(typed.values.cast(pa.int64()).fill_null(0))
    days = us // DAY_US
    is_good = ~typed.bad() & (us == days * DAY_US) & (days >= FIRST_DAY) & (days <= LAST_DAY)
    return judged(days.astype("datetime64[D]"), mask(pc.is_null(values)), is_good, pa.date32())
