"""DuckDB on Arrow: scalar SQL over columns. The only import of duckdb.

The engine inside is locked: expressions of users reach no file, no network and no setting.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import duckdb
import pyarrow as pa

# What it says to SQL it cannot run.
Refused = duckdb.Error

# By process, and never dropped: a forked worker must neither use its parent's nor let go of it.
_databases: dict[int, duckdb.DuckDBPyConnection] = {}
LOCKED: dict[str, str | bool | int | float | list[str]] = {
    # One thread: Spark has a worker per core already, and rows keep their order.
    "threads": 1,
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}


def connection() -> duckdb.DuckDBPyConnection:
    """A connection to this process's database; each call has its own, so threads may share it."""
    process = os.getpid()
    if process not in _databases:
        _databases[process] = duckdb.connect(":memory:", config=LOCKED)
    return _databases[process].cursor()


def run(sql: str, **tables: pa.Table) -> pa.Table:
    """What `sql` gives over the named Arrow tables, in their order of rows."""
    with connection() as con:
        for name, table in tables.items():
            con.register(name, table)
        return con.sql(sql).to_arrow_table()


def evaluate(expressions: Sequence[str], table: pa.Table) -> list[pa.ChunkedArray]:
    """Each expression over each row. A row an expression fails on (a bad cast, an overflow) gives NULL."""
    items = ", ".join(f"TRY({sql}) AS e{i}" for i, sql in enumerate(expressions))
    answer = run(f"SELECT {items} FROM readings", readings=table)
    return [answer.column(i) for i in range(len(expressions))]


def quoted(name: str) -> str:
    """A name as a DuckDB identifier."""
    return '"' + name.replace('"', '""') + '"'
