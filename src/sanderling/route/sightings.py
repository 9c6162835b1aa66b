"""Sightings as tables: readings with the queries that take them, a list in each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I32, I64, Bools
from sanderling.batches import QUERIES


def are_sightings(rows: pa.Table) -> bool:
    return QUERIES in rows.column_names


def count(rows: pa.Table) -> int:
    """How many rows a table stands for: a sighting is one for each query that takes it."""
    return len(lists_in(rows)[1]) if are_sightings(rows) else rows.num_rows


def lists_in(rows: pa.Table) -> tuple[I32, I32]:
    """Where the lists of queries start, and the lists."""
    column = rows.column(QUERIES)
    lists = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], column.type)
    start = np.asarray(lists.offsets.to_numpy(), np.int32)
    query = np.asarray(lists.values.to_numpy(), np.int32)
    return start - start[0], query[start[0] : start[-1]]


def lists_of(start: npt.NDArray[Any], query: I32) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(start, pa.int32()), pa.array(query, pa.int32()))


def with_lists(rows: pa.Table, start: npt.NDArray[Any], query: I32) -> pa.Table:
    """The same readings with other queries."""
    return rows.set_column(rows.column_names.index(QUERIES), QUERIES, lists_of(start, query))


def where(rows: pa.Table, is_kept: Bools) -> pa.Table:
    """Rows that are kept; of sightings the queries, as they stand behind each other, and who has some."""
    if is_kept.all():
        return rows
    if not are_sightings(rows):
        return rows.filter(pa.array(is_kept))
    start, query = lists_in(rows)
    before = np.append(0, np.cumsum(is_kept))[start]
    has_some = np.diff(before) > 0
    left = rows.filter(pa.array(has_some))
    return with_lists(left, starts_of(np.diff(before)[has_some]), query[is_kept])


def queries_and_ticks(rows: pa.Table) -> tuple[I64, I64]:
    """By row, or by sighting and query."""
    tick = np.asarray(rows.column("tick").to_numpy(), np.int64)
    if not are_sightings(rows):
        return np.asarray(rows.column("query").to_numpy(), np.int64), tick
    start, query = lists_in(rows)
    return query.astype(np.int64), np.repeat(tick, np.diff(start))


def apart(rows: pa.Table) -> pa.Table:
    """Each sighting as often as there are queries that take it, with one of them each."""
    start, query = lists_in(rows)
    one_each = rows.take(pa.array(np.repeat(np.arange(rows.num_rows), np.diff(start))))
    return with_lists(one_each, np.arange(len(query) + 1), query)


def starts_of(size: npt.NDArray[Any]) -> I32:
    return np.append(0, np.cumsum(size)).astype(np.int32)
