"""One DuckDB in each process, locked down: no files, no network, no extensions."""

from __future__ import annotations

import os
from functools import cache

import duckdb
import pyarrow as pa


def query(sql: str, table: pa.Table) -> pa.Table:
    """The result of `sql` over `table`, which it calls `input`; rows keep their order."""
    # A connection of its own for each call: several threads may be reading.
    with _database(os.getpid()).cursor() as connection:
        connection.register("input", table)
        return connection.sql(sql).to_arrow_table()


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    # One for each process, never let go: a forked worker can neither use nor close its parent's.
    return duckdb.connect(
        ":memory:",
        config={
            "threads": 1,
            "enable_external_access": "false",
            "autoload_known_extensions": "false",
            "autoinstall_known_extensions": "false",
            "lock_configuration": "true",
        },
    )
