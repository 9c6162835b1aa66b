"""Arrow's types as PostgreSQL numbers and names them."""

from __future__ import annotations

import pyarrow as pa

BOOL, BYTEA, INT8, INT2, INT4, STRING, FLOAT4, FLOAT8 = 16, 17, 20, 21, 23, 25, 700, 701
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 1082, 1083, 1114, 1184, 1700
UNKNOWN = (0, 705)
# Names, sizes, and what `format_type` calls them.
KNOWN: dict[int, tuple[str, int, str]] = {
    BOOL: ("bool", 1, "boolean"), BYTEA: ("bytea", -1, "bytea"), INT8: ("int8", 8, "bigint"),
    INT2: ("int2", 2, "smallint"), INT4: ("int4", 4, "integer"), STRING: ("text", -1, "text"),
    FLOAT4: ("float4", 4, "real"), FLOAT8: ("float8", 8, "double precision"), DATE: ("date", 4, "date"),
    TIME: ("time", 8, "time without time zone"), TIMESTAMP: ("timestamp", 8, "timestamp without time zone"),
    TIMESTAMPTZ: ("timestamptz", 8, "timestamp with time zone"), NUMERIC: ("numeric", -1, "numeric"),
}  # fmt: skip
# Types that clients look for, and that no column of ours has.
MORE_TYPES = {
    18: "char", 19: "name", 26: "oid", 705: "unknown", 1042: "bpchar", 1043: "varchar", 1186: "interval",
}  # fmt: skip


def oid_of(type_: pa.DataType) -> int:
    """What is none of ours is shown as text."""
    is_ = pa.types
    exact = {
        pa.bool_(): BOOL, pa.int8(): INT2, pa.int16(): INT2, pa.uint8(): INT2, pa.int32(): INT4,
        pa.uint16(): INT4, pa.int64(): INT8, pa.uint32(): INT8, pa.float32(): FLOAT4, pa.float64(): FLOAT8,
        pa.date32(): DATE,
    }  # fmt: skip
    if type_ in exact:
        return exact[type_]
    if is_.is_timestamp(type_):
        return TIMESTAMP if type_.tz is None else TIMESTAMPTZ
    if is_.is_decimal(type_) or type_ == pa.uint64():
        return NUMERIC
    if is_.is_time64(type_):
        return TIME
    return BYTEA if is_.is_binary(type_) or is_.is_large_binary(type_) else STRING
