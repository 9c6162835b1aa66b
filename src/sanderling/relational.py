"""DuckDB on Arrow: scalar SQL over columns. The only import of duckdb.

The engine inside is locked: expressions of users reach no file, no network and no setting.
"""

from __future__ import annotations

import threading
from typing import Sequence

import duckdb
import pyarrow as pa

_local = threading.local()


def connection() -> duckdb.DuckDBPyConnection:
    """This thread's connection, made once."""
    con = getattr(_local, "connection", None)
    if con is None:
        con = duckdb.connect(":memory:")
        # One thread: Spark has a worker per core already, and rows keep their order.
        for setting in (
            "threads = 1",
            "TimeZone = 'UTC'",
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            con.execute(f"SET {setting}")
        _local.connection = con
    return con


def run(sql: str, **tables: pa.Table) -> pa.Table:
    """What `sql` gives over the named Arrow tables, in their order of rows."""
    con = connection()
    for name, table in tables.items():
        con.register(name, table)
    try:
        return con.sql(sql).to_arrow_table()
    finally:
        for name in tables:
            con.unregister(name)


def evaluate(expressions: Sequence[str], table: pa.Table) -> list[pa.ChunkedArray]:
    """Each expression over each row. A row an expression fails on (a bad cast, an overflow) gives NULL."""
    items = ", ".join(f"TRY({sql}) AS e{i}" for i, sql in enumerate(expressions))
    answer = run(f"SELECT {items} FROM readings", readings=table)
    return [answer.column(i) for i in range(len(expressions))]


def quoted(name: str) -> str:
    """A name as a DuckDB identifier."""
    return '"' + name.replace('"', '""') + '"'
