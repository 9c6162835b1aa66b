"""DuckDB on Arrow: scalar SQL over columns. The only import of duckdb.

The engine inside is locked: expressions of users reach no file, no network and no setting. What they may
build is bounded: each text (macros.py), all texts of a batch, and the memory that DuckDB may take.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.errors import QueryError
from sanderling.macros import BUILDERS, JOINERS, definitions

# What it says to SQL it cannot run.
Refused = duckdb.Error

# By process, and never dropped: a forked worker must neither use its parent's nor let go of it.
_databases: dict[int, duckdb.DuckDBPyConnection] = {}
LOCKED: dict[str, str | bool | int | float | list[str]] = {
    # One thread: Spark has a worker per core already, and rows keep their order.
    "threads": 1,
    # They would compute constants beforehand, also those behind a condition; and on what is nested deeply
    # they take longer than it is worth.
    "disabled_optimizers": "expression_rewriter,statistics_propagation,common_subexpressions",
    "memory_limit": "2GB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
# What the expressions of one call may give, in bytes of text. Arrow's texts end at 2 GiB, and what several
# shards say is put together.
MOST_TEXT = 256 << 20
# Rows that are computed at once where texts are built: if all that goes in is short, and if not.
ROWS_OF_SHORT, ROWS_OF_LONG = 2048, 128
LONGEST_SHORT = 512
# A SELECT that somebody else wrote is planned as DuckDB likes, and sees nothing of this program.
OF_OTHERS: dict[str, str | bool | int | float | list[str]] = {
    **{name: value for name, value in LOCKED.items() if name != "disabled_optimizers"},
    "memory_limit": "512MB",
    "temp_directory": "",
    "python_enable_replacements": "false",
}
# Rows that are taken at once, to look at how much they are.
ROWS_TAKEN = 10_000
FIRST_TIME, LAST_TIME = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)


def connection() -> duckdb.DuckDBPyConnection:
    """A connection to this process's database; each call has its own, so threads may share it."""
    process = os.getpid()
    if process not in _databases:
        database = duckdb.connect(":memory:", config=LOCKED)
        for definition in definitions():
            database.execute(definition)
        _databases[process] = database
    return _databases[process].cursor()


def run(sql: str, **tables: pa.Table) -> pa.Table:
    """What `sql` gives over the named Arrow tables, in their order of rows."""
    with connection() as con:
        for name, table in tables.items():
            con.register(name, table)
        return con.sql(sql).to_arrow_table()


class Stopped(Exception):
    """Somebody wanted no answer any more."""


class Questions:
    """A database for SELECTs that others write, with macros, and nothing else in it."""

    def __init__(self, macros: Sequence[str]):
        self._database = duckdb.connect(":memory:", config=OF_OTHERS)
        for macro in macros:
            self._database.execute(macro)

    def new(self) -> Question:
        return Question(self._database)


class Question:
    """One SELECT at a time. May be stopped from another thread."""

    def __init__(self, database: duckdb.DuckDBPyConnection):
        self._database = database
        self._con: duckdb.DuckDBPyConnection | None = None

    def answer(self, sql: str, tables: Mapping[str, pa.Table], most_bytes: int) -> pa.Table:
        """What it gives over these tables; refused when it is more than so much."""
        with self._database.cursor() as con:
            self._con = con
            for name, table in tables.items():
                con.register(name, table)
            try:
                reader = con.sql(sql).to_arrow_reader(ROWS_TAKEN)
                batches, size = [], 0
                for batch in reader:
                    size += batch.nbytes
                    if size > most_bytes:
                        raise _too_many(most_bytes)
                    batches.append(batch)
                return pa.Table.from_batches(batches, reader.schema)
            except duckdb.InterruptException as e:
                raise Stopped from e
            finally:
                self._con = None

    def stop(self) -> None:
        con = self._con
        if con is not None:
            with suppress(duckdb.Error):  # it has just ended by itself
                con.interrupt()


def evaluate(expressions: Sequence[str], table: pa.Table) -> list[pa.ChunkedArray]:
    """Each expression over each row. A row an expression fails on (a bad cast, an overflow) gives NULL."""
    try:
        return tried(expressions, table)
    except Refused:
        # DuckDB's TRY lets some errors through: what is left is to find out which rows they are of.
        return [_row_by_row(sql, table) for sql in expressions]


def tried(expressions: Sequence[str], table: pa.Table) -> list[pa.ChunkedArray]:
    """The same, but raises what TRY does not catch, and what cannot be understood at all."""
    items = ", ".join(f"TRY({sql}) AS e{i}" for i, sql in enumerate(expressions))
    sql = f"SELECT {items} FROM readings"
    answer = _built(sql, table) if any(b in sql for b in BUILDERS + JOINERS) else run(sql, readings=table)
    return [answer.column(i) for i in range(len(expressions))]


def _row_by_row(sql: str, table: pa.Table) -> pa.ChunkedArray:
    """One expression, half by half; what fails alone is NULL."""
    try:
        return tried([sql], table)[0]
    except Refused:
        if table.num_rows == 0:
            raise
        if table.num_rows == 1:
            return pa.chunked_array([pa.nulls(1, tried([sql], table.slice(0, 0))[0].type)])
        half = table.num_rows // 2
        halves = [_row_by_row(sql, table.slice(0, half)), _row_by_row(sql, table.slice(half))]
        return pa.chunked_array([chunk for part in halves for chunk in part.chunks])


def _built(sql: str, table: pa.Table) -> pa.Table:
    """The same in pieces, as long as there is room."""
    pieces, size, rows = [], 0, _rows_at_once(sql, table)
    with connection() as con:
        con.register("readings", pa.Table.from_batches(table.to_batches(rows), table.schema))
        reader = con.sql(sql).to_arrow_reader(rows)
        for piece in reader:
            size += sum(c.nbytes for c in piece.columns if pa.types.is_string(c.type))
            if size > MOST_TEXT:
                raise _too_large()
            pieces.append(piece)
        return pa.Table.from_batches(pieces, reader.schema).combine_chunks()


def _rows_at_once(sql: str, table: pa.Table) -> int:
    """So few that what they build fits into memory."""
    texts = [c for c in table.columns if pa.types.is_string(c.type)]
    longest = max((pc.max(pc.binary_length(c)).as_py() or 0 for c in texts), default=0)
    is_short = longest <= LONGEST_SHORT and not any(b in sql for b in BUILDERS)
    return ROWS_OF_SHORT if is_short else ROWS_OF_LONG


def _too_many(most_bytes: int) -> QueryError:
    return QueryError("query.too_large", f"this gives more than {most_bytes >> 20} MiB", "LIMIT, or WHERE")


def _too_large() -> QueryError:
    message = f"the texts that expressions build in one batch are longer than {MOST_TEXT >> 20} MiB together"
    return QueryError(
        "query.too_large", message, "build shorter texts, or of fewer rows: repeat, lpad, concat, …"
    )


def finite(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """What an expression gives, as an answer may hold it: what is not finite is NULL, as is a time that no
    calendar of ours has; and there is one zero.
    """
    type_ = values.type
    if pa.types.is_floating(type_):
        return pc.add(_where(pc.is_finite(values), values), pa.scalar(0.0, type_))
    if not pa.types.is_temporal(type_) or not len(values):
        return values
    first, last = (
        pa.scalar(t.date() if pa.types.is_date(type_) else t, type_) for t in (FIRST_TIME, LAST_TIME)
    )
    return _where(pc.and_(pc.greater_equal(values, first), pc.less_equal(values, last)), values)


def _where(is_kept: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(is_kept, values, pa.scalar(None, values.type))
