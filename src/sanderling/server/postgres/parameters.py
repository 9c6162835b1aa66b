"""Parameters of a client as they stand in a SELECT."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from sqlglot import exp

from sanderling.errors import ServerError
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
    UNKNOWN,
)
from sanderling.server.postgres.wire import BINARY

OF_TIMESTAMP, OF_DATE = datetime(2000, 1, 1), date(2000, 1, 1)
READ: dict[int, Callable[[bytes], Any]] = {
    BOOL: lambda raw: raw != b"\0", INT2: lambda raw: struct.unpack("!h", raw)[0],
    INT4: lambda raw: struct.unpack("!i", raw)[0], INT8: lambda raw: struct.unpack("!q", raw)[0],
    26: lambda raw: struct.unpack("!I", raw)[0],
    FLOAT4: lambda raw: struct.unpack("!f", raw)[0], FLOAT8: lambda raw: struct.unpack("!d", raw)[0],
    DATE: lambda raw: OF_DATE + timedelta(days=struct.unpack("!i", raw)[0]),
    TIMESTAMP: lambda raw: OF_TIMESTAMP + timedelta(microseconds=struct.unpack("!q", raw)[0]),
    TIMESTAMPTZ: lambda raw: OF_TIMESTAMP + timedelta(microseconds=struct.unpack("!q", raw)[0]),
}  # fmt: skip
CASTS = {
    BOOL: "BOOLEAN", INT2: "SMALLINT", INT4: "INT", INT8: "BIGINT", 26: "BIGINT", FLOAT4: "FLOAT",
    FLOAT8: "DOUBLE", DATE: "DATE", TIME: "TIME", TIMESTAMP: "TIMESTAMP", TIMESTAMPTZ: "TIMESTAMP",
    NUMERIC: "DECIMAL(38, 10)", BYTEA: "BLOB",
}  # fmt: skip


ARRAYS = {
    1000: BOOL, 1005: INT2, 1007: INT4, 1009: STRING, 1015: STRING, 1016: INT8, 1021: FLOAT4, 1022: FLOAT8,
    1115: TIMESTAMP, 1182: DATE, 1231: NUMERIC,
}  # fmt: skip
ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,"]+)')


def constant(raw: bytes | None, oid: int, form: int) -> exp.Expression:
    """A parameter as it stands in a SELECT."""
    if oid in ARRAYS and raw is not None and form != BINARY:
        return array_of(raw.decode(errors="replace"), ARRAYS[oid])
    words = _words(raw, oid, form) if raw is not None else None
    literal = exp.Null() if words is None else exp.Literal.string(words)
    cast = CASTS.get(oid)
    return literal if cast is None else exp.cast(literal, exp.DataType.build(cast, dialect="duckdb"))


def array_of(words: str, oid: int = 0) -> exp.Expression:
    return exp.Array(expressions=[constant(one, oid, 0) for one in _elements(words)])


def _elements(words: str) -> list[bytes | None]:
    """Of an array of one dimension, as text."""
    found = [(m[1], m[2]) for m in ELEMENT.finditer(words.strip()[1:-1])]
    return [
        None if plain == "NULL" else (plain or re.sub(r"\\(.)", r"\1", quoted)).encode()
        for quoted, plain in found
    ]


def _words(raw: bytes, oid: int, form: int) -> str:
    try:
        if form == BINARY and oid in READ:
            return str(READ[oid](raw))
        if form == BINARY and oid not in (*UNKNOWN, STRING, 1042, 1043):
            raise ServerError("query.unsupported", f"a binary parameter of type {oid}", "send it as text")
        return raw.decode()
    except (struct.error, OverflowError, UnicodeDecodeError) as e:
        raise ServerError("request.bad", f"a parameter cannot be read: {e}", "send it as text") from e
