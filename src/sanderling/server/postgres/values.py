"""Rows on their way: columns as text and as binary.

Promise (tests/server/test_postgres_values.py): a driver reads what was there, in either form.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.server.postgres.types import (
    BOOL,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    oid_of,
)
from sanderling.server.postgres.wire import BINARY

EPOCH_US = 946_684_800_000_000  # 2000-01-01 in microseconds since 1970
EPOCH_DAYS = 10_957
Bytes = list[bytes | None]


def rows_of(table: pa.Table, forms: Sequence[int]) -> list[list[bytes | None]]:
    """Each row's values, in the form that is wanted of each column."""
    columns = [encoded(column, form) for column, form in zip(table.columns, forms, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[]] * table.num_rows


def encoded(column: pa.ChunkedArray, form: int) -> Bytes:
    oid = oid_of(column.type)
    if form != BINARY or oid == STRING:
        return [None if words is None else words.encode() for words in texts_of(column)]
    plain = _plain(column, oid)
    pack = BINARIES[oid]
    return [None if value is None else pack(value) for value in plain]


# ----- as text


def texts_of(column: pa.ChunkedArray) -> list[str | None]:
    type_, is_ = column.type, pa.types
    if is_.is_boolean(type_):
        column = pc.if_else(column, "t", "f")
    elif is_.is_floating(type_):
        return [None if v is None else _float(v) for v in column.to_pylist()]
    elif is_.is_timestamp(type_):
        zone = "" if type_.tz is None else "+00"
        words = pc.cast(column.cast(pa.timestamp("us")), pa.string())
        column = pc.binary_join_element_wise(pc.replace_substring_regex(words, r"\.?0+$", ""), zone, "")
    elif is_.is_time(type_):
        column = pc.replace_substring_regex(column.cast(pa.string()), r"\.?0+$", "")
    elif is_.is_binary(type_) or is_.is_large_binary(type_):
        return [None if v is None else "\\x" + v.hex() for v in column.to_pylist()]
    elif not (is_.is_integer(type_) or is_.is_date(type_) or is_.is_decimal(type_) or _is_text(type_)):
        return [None if v is None else _nested(v) for v in column.to_pylist()]
    found: list[str | None] = column.cast(pa.string()).to_pylist()
    return found


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _float(value: float) -> str:
    words = repr(value)
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(words, words.removesuffix(".0"))


def _nested(value: Any) -> str:
    """A list as PostgreSQL writes arrays; all else as JSON."""
    if isinstance(value, list):
        return "{" + ",".join("NULL" if v is None else _element(v) for v in value) + "}"
    return json.dumps(value, default=str) if isinstance(value, dict) else str(value)


def _element(value: Any) -> str:
    words = _nested(value) if not isinstance(value, bool | float) else _scalar(value)
    is_plain = isinstance(value, list) or (words and not set(words) & set('{},"\\ ') and words != "NULL")
    return words if is_plain else '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _scalar(value: bool | float) -> str:
    return ("t" if value else "f") if isinstance(value, bool) else _float(value)


# ----- as binary


def _plain(column: pa.ChunkedArray, oid: int) -> list[Any]:
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif oid == DATE:
        column = column.cast(pa.int32())
    elif oid == TIME:
        column = column.cast(pa.time64("us")).cast(pa.int64())
    found: list[Any] = column.to_pylist()
    return found


def _packed(form: str) -> Callable[[Any], bytes]:
    return struct.Struct("!" + form).pack


def _numeric(value: Decimal | int) -> bytes:
    """Digits to the base of ten thousand."""
    sign, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    shown = "".join(map(str, digits)) + "0" * max(exponent, 0)
    whole, part = (shown[:-scale], shown[-scale:].rjust(scale, "0")) if scale else (shown, "")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    part = part.ljust(-(-len(part) // 4) * 4, "0")
    groups = [int((whole + part)[at : at + 4]) for at in range(0, len(whole + part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups, weight = groups[1:], weight - 1
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, 0x4000 if sign else 0, scale)
    return head + struct.pack(f"!{len(groups)}h", *groups)


BINARIES: dict[int, Callable[[Any], bytes]] = {
    BOOL: _packed("?"), INT2: _packed("h"), INT4: _packed("i"), INT8: _packed("q"), FLOAT4: _packed("f"),
    FLOAT8: _packed("d"), BYTEA: bytes, NUMERIC: _numeric, TIME: _packed("q"),
    DATE: lambda days: struct.pack("!i", days - EPOCH_DAYS),
    TIMESTAMP: lambda us: struct.pack("!q", us - EPOCH_US),
    TIMESTAMPTZ: lambda us: struct.pack("!q", us - EPOCH_US),
}  # fmt: skip
