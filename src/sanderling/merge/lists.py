"""The last lists that shards have sent of each kNN query of a template.

           shard 0        shard 1
query 3    rows 0…9       rows 40…49      rows of `store`: d2, key, and the select list
query 5    rows 10…19     –
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import F64, I64, Pile, is_worth_compacting, rows_of
from sanderling.kernels.hashing import hash_keys


class ShardLists:
    """Rows are only ever appended; those of lists that were replaced are forgotten from time to time."""

    def __init__(self, queries: I64, schema: pa.Schema):
        """`queries` are those that there are, in order; `schema` has the columns of a row."""
        self.queries = queries
        self._pile = Pile(schema.empty_table())
        # Of the rows of the store: how far, and a mark that tells their objects apart.
        self.d2: F64 = np.empty(0, np.float64)
        self.mark: I64 = np.empty(0, np.int64)
        self.start: I64 = np.zeros((len(queries), 0), np.int64)
        self.length: I64 = np.zeros((len(queries), 0), np.int64)
        self.is_fresh = np.zeros((len(queries), 0), np.bool_)  # since the last drain

    @property
    def store(self) -> pa.Table:
        return self._pile.table

    @property
    def shards(self) -> int:
        return int(self.start.shape[1])

    def make_room(self, shards: int) -> None:
        """For lists of so many shards."""
        more = ((0, 0), (0, max(0, shards - self.shards)))
        self.start, self.length = np.pad(self.start, more), np.pad(self.length, more)
        self.is_fresh = np.pad(self.is_fresh, more)

    def append(self, rows: pa.Table) -> int:
        """Rows that lists will point to; gives the number of the first."""
        first: int = self.store.num_rows
        if rows.num_rows:
            rows = rows.select(self.store.column_names)
            self._pile.append(rows)
            self.d2 = np.concatenate([self.d2, rows.column("d2").to_numpy()])
            self.mark = np.concatenate([self.mark, marks_of(rows.column("key"))])
        return first

    def put(self, query: I64, shard: I64, start: I64, length: I64) -> None:
        """From now on these are the lists; queries by their place among `queries`."""
        self.start[query, shard], self.length[query, shard] = start, length
        self.is_fresh[query, shard] = True

    def forget(self, is_over: npt.NDArray[np.bool_]) -> None:
        """Queries that have ended have no lists any more."""
        some = self.length[is_over] > 0
        self.is_fresh[is_over] |= some
        self.length[is_over] = 0

    def turn_to(self, queries: I64) -> None:
        """These are the queries from now on; lists of others are forgotten."""
        at = np.searchsorted(self.queries, queries)
        is_known = np.append(self.queries, -1)[at] == queries
        # One more row, of nothing, for those that are new.
        row = np.where(is_known, at, len(self.queries))
        more = ((0, 1), (0, 0))
        self.start, self.length = np.pad(self.start, more)[row], np.pad(self.length, more)[row]
        self.is_fresh = np.pad(self.is_fresh, more)[row]
        self.queries = queries
        self.compact()

    def compact(self) -> None:
        """Forgets rows that no list has, once they are the greater part."""
        alive = int(self.length.sum())
        if is_worth_compacting(self.store.num_rows, alive):
            start, length = self.start.ravel(), self.length.ravel()
            rows = rows_of(start, length)
            self._pile = Pile(self.store.take(pa.array(rows)))
            self.d2, self.mark = self.d2[rows], self.mark[rows]
            self.start = (np.cumsum(length) - length).reshape(self.start.shape)

    # ----- saved and restored

    def drain(self, is_whole: bool) -> pa.Table:
        """All lists, or those that are new since the last time; an empty one is a row of NULLs.

        A column that only says the key again is left out.
        """
        wanted = self.length > 0 if is_whole else self.is_fresh.copy()
        self.is_fresh[:] = False
        query, shard = np.nonzero(wanted)
        start, length = self.start[query, shard], self.length[query, shard]
        at = np.repeat(np.arange(len(query)), np.maximum(length, 1))
        rows = pa.array(rows_of(start, np.maximum(length, 1)), mask=(length == 0)[at])
        kept = self.store.take(rows).combine_chunks()
        again = [name for name in kept.column_names[2:] if kept.column(name).equals(kept.column("key"))]
        whose = {
            "query": pa.array(self.queries[query][at], pa.int32()),
            "shard": pa.array(shard[at], pa.int32()),
        }
        for name, column in reversed(whose.items()):
            kept = kept.add_column(0, name, column)
        return kept.drop_columns(again)

    def replay(self, table: pa.Table) -> None:
        """Takes up what was drained."""
        query, shard = table.column("query").to_numpy(), table.column("shard").to_numpy()
        if not len(query):
            return
        self.make_room(int(shard.max()) + 1)
        for name in set(self.store.column_names) - set(table.column_names):
            table = table.append_column(name, table.column("key"))
        is_there = np.asarray(table.column("d2").is_valid().to_numpy(), np.bool_)
        first = self.append(table.filter(pa.array(is_there)))
        begins = np.flatnonzero(np.append(True, (np.diff(query) != 0) | (np.diff(shard) != 0)))
        before = np.concatenate([[0], np.cumsum(is_there)])
        ends = np.append(begins[1:], len(query))
        at = np.searchsorted(self.queries, query[begins])
        length = before[ends] - before[begins]
        self.put(at, shard[begins], first + before[begins], length)
        self.is_fresh[:] = False
        self.compact()


def marks_of(keys: pa.ChunkedArray) -> I64:
    """The same for equal keys; for others hardly ever."""
    if pa.types.is_integer(keys.type):
        return np.asarray(keys.to_numpy(), np.int64)
    return np.concatenate([hash_keys(chunk) for chunk in keys.chunks]).view(np.int64)
