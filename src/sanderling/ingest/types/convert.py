"""Untyped columns to declared types, with a mask of the values that do not fit.

texts ──► parse, by declared type ─────────────┐
numbers, times of parquet ──► cast, if exact ──┴──► values, is_bad
anything else ──► as text ──► parse

What becomes of a value depends on that value alone, never on its neighbours: where a whole column cannot
be taken at once, the slow way that looks at each value agrees with the fast one.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.ingest.types.numbers import parse_booleans, parse_floats, parse_integers
from sanderling.ingest.types.recast import numbers_to_numbers, times_to_dates, times_to_timestamps
from sanderling.ingest.types.show import show
from sanderling.ingest.types.time_format import parse_by
from sanderling.ingest.types.times import parse_dates, parse_timestamps
from sanderling.ingest.types.typed import Typed, from_bytes
from sanderling.types import SqlType


def convert(values: pa.Array, type: SqlType, time_format: str | None = None) -> Typed:
    """The values in the declared type; those that do not fit are null and marked."""
    if time_format is not None and type.name == "TIMESTAMP" and _is_text(values.type):
        return parse_by(values.cast(pa.string()), time_format)
    typed = _convert(values, type)
    if not pa.types.is_floating(type.arrow):
        return typed
    # -0.0 becomes 0.0: the two are equal, and must have one hash.
    return Typed(pc.add(typed.values, pa.scalar(0.0, type.arrow)), typed.is_bad)


def _convert(values: pa.Array, type: SqlType) -> Typed:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_null(values.type):
        return Typed(pa.nulls(len(values), type.arrow), None)
    if _is_bytes(values.type):
        return from_bytes(values, lambda texts: _convert(texts, type))
    if _is_text(values.type):
        return _parse(values.cast(pa.string()), type)
    return _recast(values, type)


def _parse(texts: pa.Array, type: SqlType) -> Typed:
    if type.name == "STRING":
        return Typed(texts, None)
    if type.name == "BOOLEAN":
        return parse_booleans(texts)
    if type.name == "TIMESTAMP":
        return parse_timestamps(texts)
    if type.name == "DATE":
        return parse_dates(texts)
    return parse_integers(texts, type.arrow) if type.is_integer else parse_floats(texts, type.arrow)


def _recast(values: pa.Array, type: SqlType) -> Typed:
    kind = values.type
    if type.is_number and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return numbers_to_numbers(values, type.arrow)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        if type.name == "TIMESTAMP":
            return times_to_timestamps(values)
        if type.name == "DATE":
            return times_to_dates(values)
    if kind == type.arrow:
        return Typed(values, None)
    return _parse(show(values), type)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_fixed_size_binary,
        pa.types.is_binary_view,
    )
    return any(test(kind) for test in tests)
