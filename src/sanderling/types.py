"""The column types of the language, and what they are called in Arrow and DuckDB."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

# What a coordinate or a size of a region may be: half the largest double, so that every width is finite.
LARGEST = 8e307


@dataclass(frozen=True, slots=True)
class SqlType:
    """One column type: its name in our SQL, in DuckDB, and in Arrow."""

    name: str
    duckdb: str
    arrow: pa.DataType

    @property
    def is_number(self) -> bool:
        return bool(pa.types.is_integer(self.arrow) or pa.types.is_floating(self.arrow))

    @property
    def is_integer(self) -> bool:
        return bool(pa.types.is_integer(self.arrow))

    def __reduce__(self) -> tuple[object, tuple[str]]:
        # One object per type on every worker.
        return (_known, (self.name,))


TYPES: dict[str, SqlType] = {
    t.name: t
    for t in (
        SqlType("BOOLEAN", "BOOLEAN", pa.bool_()),
        SqlType("TINYINT", "TINYINT", pa.int8()),
        SqlType("SMALLINT", "SMALLINT", pa.int16()),
        SqlType("INT", "INTEGER", pa.int32()),
        SqlType("BIGINT", "BIGINT", pa.int64()),
        SqlType("FLOAT", "FLOAT", pa.float32()),
        SqlType("DOUBLE", "DOUBLE", pa.float64()),
        SqlType("STRING", "VARCHAR", pa.string()),
        # Without a zone: all times inside are UTC.
        SqlType("TIMESTAMP", "TIMESTAMP", pa.timestamp("us")),
        SqlType("DATE", "DATE", pa.date32()),
    )
}


def _known(name: str) -> SqlType:
    return TYPES[name]


ALIASES: dict[str, str] = {
    "BOOL": "BOOLEAN",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "TEXT": "STRING",
    "VARCHAR": "STRING",
    "CHAR": "STRING",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "DATETIME": "TIMESTAMP",
}


def type_named(name: str) -> SqlType | None:
    """The type a user wrote, under any of its usual names, or None."""
    upper = name.upper()
    return TYPES.get(ALIASES.get(upper, upper))
