"""kNN over all shards: of the nearest in each shard, the k nearest; told as rows that came and went.

lists of shard 0 ─┐
lists of shard 1 ─┼─► at each moment ─► the k smallest by distance, then key ─► minus those before ─► − and +
lists of shard 2 ─┘

A moment is a tick in which some shard sent a new list of a query. All moments of a batch are worked
out at once, as columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.merge.consolidate import consolidate
from sanderling.merge.lists import ShardLists, rows_of
from sanderling.merge.ranks import key_ranks
from sanderling.plan.plans import StreamPlan, Template

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

BEFORE = -1  # the tick of what was there before the batch


class Moments(NamedTuple):
    """Queries at ticks, in order, by their numbers among all queries and ticks of a batch."""

    query: I64
    tick: I64


class MergeNearest:
    """The kNN queries of one template.

    Promises (tests/properties/test_knn.py):
      exact   what goes out is the difference of two answers
      order   neither the order of shards nor that of their lists matters
    """

    def __init__(self, plan: StreamPlan, template: Template):
        self.template = template
        regions, nearest = plan.regions, plan.nearest
        mine = np.flatnonzero(regions.template[nearest.region] == template.id)
        rows = nearest.region[mine]
        order = np.argsort(regions.query[rows], kind="stable")
        self.k: I64 = nearest.k[mine][order]
        self.ends: I64 = regions.end[rows][order]
        columns = [(f.name, f.type) for f in list(template.schema())[3:]]
        schema = pa.schema([("d2", pa.float64()), ("key", plan.stream.key_type.arrow), *columns])
        self.lists = ShardLists(regions.query[rows][order].astype(np.int64), schema)

    def advance(self, candidates: list[tuple[int, pa.Table]]) -> pa.Table:
        """The new lists of a batch, each table with its shard; gives signed rows."""
        shard = np.concatenate([np.full(table.num_rows, n) for n, table in candidates])
        told = pa.concat_tables([table for _, table in candidates])
        query = np.searchsorted(self.lists.queries, told.column("query").to_numpy())
        ticks, tick = np.unique(told.column("tick").to_numpy(), return_inverse=True)
        self.lists.make_room(int(shard.max()) + 1)
        # Stable: the entries of a list stay together.
        order = np.lexsort((tick, shard, query))
        query, shard, tick = query[order], shard[order], tick[order]
        is_there = np.asarray(told.column("d2").is_valid().to_numpy(), np.bool_)[order]
        first_row = self.lists.append(told.take(pa.array(order[is_there])))
        is_first = (np.diff(query) != 0) | (np.diff(shard) != 0) | (np.diff(tick) != 0)
        begins = np.flatnonzero(np.append(True, is_first))
        before = np.concatenate([[0], np.cumsum(is_there)])
        start = first_row + before[begins]
        length = before[np.append(begins[1:], len(query))] - before[begins]
        query, shard, tick = query[begins], shard[begins], tick[begins]
        rows = self._changes(ticks, query, shard, tick, start, length)
        is_last = np.append((np.diff(query) != 0) | (np.diff(shard) != 0), True)
        self.lists.put(query[is_last], shard[is_last], start[is_last], length[is_last])
        self.lists.forget(self.ends <= ticks[-1])
        self.lists.compact()
        return rows

    def _changes(self, ticks: I64, query: I64, shard: I64, tick: I64, start: I64, length: I64) -> pa.Table:
        """Signed rows of lists that are in order of query, shard and tick."""
        moments = self._moments(query, tick)
        n, shards = len(moments.query), self.lists.shards
        # By moment and shard, the last list up to then; or the one from before the batch.
        wanted = (moments.query[:, None] * shards + np.arange(shards)).ravel()
        wide = len(ticks) + 1
        codes = (query * shards + shard) * wide + tick
        at = np.searchsorted(codes, wanted * wide + np.repeat(moments.tick, shards), side="right") - 1
        is_new = (at >= 0) & (query[at] * shards + shard[at] == wanted)
        starts = np.where(is_new, start[at], self.lists.start.ravel()[wanted])
        lengths = np.where(is_new, length[at], self.lists.length.ravel()[wanted])
        owner = np.repeat(np.repeat(np.arange(n), shards), lengths)
        owner, rows = self._nearest(owner, rows_of(starts, lengths), self.k[moments.query])
        return self._signed(moments, ticks, owner, rows)

    def _moments(self, query: I64, tick: I64) -> Moments:
        """Each query with what was before, then with each of its ticks."""
        queries = np.unique(query)
        codes = np.unique(
            np.stack([np.append(query, queries), np.append(tick, np.full(len(queries), BEFORE))]), axis=1
        )
        return Moments(codes[0], codes[1])

    def _nearest(self, owner: I64, rows: I64, k: I64) -> tuple[I64, I64]:
        """Of the rows of each moment the k smallest by distance, then key; `owner` is in order."""
        d2: F64 = self.lists.store.column("d2").to_numpy()[rows]
        order = np.lexsort((d2, owner))
        in_order, d2_in_order = owner[order], d2[order]
        is_tied = (np.diff(in_order) == 0) & (d2_in_order[1:] == d2_in_order[:-1])
        if is_tied.any():
            some = order[np.append(is_tied, False) | np.append(False, is_tied)]
            rank = np.zeros(len(rows), np.int64)
            rank[some] = key_ranks(self.lists.store.column("key").take(pa.array(rows[some])))
            order = np.lexsort((rank, d2, owner))
        place = np.arange(len(order)) - np.searchsorted(owner, owner)
        chosen = order[place < k[owner]]
        return owner[chosen], rows[chosen]

    def _signed(self, moments: Moments, ticks: I64, owner: I64, rows: I64) -> pa.Table:
        """Who is there at a moment comes in it, and goes in the query's next one."""
        has_next = np.append(np.diff(moments.query) == 0, False)
        comes, goes = moments.tick[owner] != BEFORE, has_next[owner]
        moment = np.concatenate([owner[goes] + 1, owner[comes]])
        row = np.concatenate([rows[goes], rows[comes]])
        sign = np.concatenate([np.full(int(goes.sum()), -1, np.int8), np.ones(int(comes.sum()), np.int8)])
        # Whose list is the same as before has the same rows: they need not be compared.
        code, which = np.unique(moment * (int(row.max(initial=0)) + 1) + row, return_inverse=True)
        is_left = np.bincount(which, sign, len(code))[which] != 0
        moment, row, sign = moment[is_left], row[is_left], sign[is_left]
        shown = self.lists.store.select(self.lists.store.column_names[2:]).take(pa.array(row))
        query = self.lists.queries[moments.query[moment]].astype(np.int32)
        tick = ticks[moments.tick[moment]]
        columns = [pa.array(query), pa.array(tick), pa.array(sign), *shown.columns]
        told = pa.Table.from_arrays(columns, schema=self.template.schema())
        return consolidate(told) if told.num_rows else told
