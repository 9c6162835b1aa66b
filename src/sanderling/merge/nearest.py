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

from sanderling.arrays import I64, differs, key_ranks, rows_of
from sanderling.batches import NOTHING, Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.kernels.nearest.choose import choose, compare
from sanderling.merge.lists import ShardLists
from sanderling.operate.sql.consolidate import consolidate
from sanderling.operate.takers import Taker
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan, Template
from sanderling.state.frame import Frame

BEFORE = -1  # the tick of what was there before the batch


class Moments(NamedTuple):
    """Queries at ticks, in order, by their numbers among all queries and ticks of a batch."""

    query: I64
    tick: I64


class Fresh(NamedTuple):
    """New lists: of which query (by its place among all), shard and tick, and its rows in the store."""

    query: I64
    shard: I64
    tick: I64
    start: I64
    length: I64

    @classmethod
    def concat(cls, parts: list[Fresh]) -> Fresh:
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class MergeNearest(Taker):
    """The kNN queries of one template.

    Promises (tests/properties/test_knn.py):
      exact   what goes out is the difference of two answers
      order   neither the order of shards nor that of their lists matters
    """

    k: I64
    ends: I64

    def __init__(self, plan: Plan, template: Template, figures: Figures):
        self.template, self.figures = template, figures
        self.operator = operator_ids.merge(template.id)
        self.takes = [(Kind.CANDIDATES, template.id)]
        columns = [(f.name, f.type) for f in list(template.schema())[3:]]
        key_type = plan.stream(template.stream).stream.key_type.arrow
        schema = pa.schema([("d2", pa.float64()), ("key", key_type), *columns])
        self.lists = ShardLists(np.empty(0, np.int64), schema)
        self.turn_to(plan)

    def turn_to(self, plan: Plan) -> None:
        """Queries that stay keep their lists."""
        own = plan.stream(self.template.stream)
        regions, nearest = own.regions, own.nearest
        mine = np.flatnonzero(regions.template[nearest.region] == self.template.id)
        rows = nearest.region[mine]
        order = np.argsort(regions.query[rows], kind="stable")
        self.k, self.ends = nearest.k[mine][order], regions.end[rows][order]
        self.lists.turn_to(regions.query[rows][order].astype(np.int64))

    def advance(self, came: list[Batch]) -> list[Batch]:
        """New lists; gives signed rows."""
        with self.figures.timed(self.operator):
            lists = [batch for batch in came if batch.table.num_rows]
            rows = self._advanced(lists) if lists else NOTHING
        self.figures.add(self.operator, sum(batch.table.num_rows for batch in came), rows.num_rows)
        return self.told(self.template, rows)

    def _advanced(self, lists: list[Batch]) -> pa.Table:
        self.lists.make_room(max(batch.shard for batch in lists) + 1)
        new = Fresh.concat([self._taken(batch.shard, batch.table) for batch in lists])
        ticks = np.unique(new.tick[np.append(True, np.diff(new.tick) != 0)])  # in runs, as ticks were told
        new = new._replace(tick=np.searchsorted(ticks, new.tick))
        order = np.argsort(self._codes(new, len(ticks)), kind="stable")
        new = Fresh(*(column[order] for column in new))
        rows = self._changes(ticks, new)
        is_last = np.append((np.diff(new.query) != 0) | (np.diff(new.shard) != 0), True)
        last = Fresh(*(column[is_last] for column in new))
        self.lists.put(last.query, last.shard, last.start, last.length)
        self.lists.forget(self.ends <= ticks[-1])
        self.lists.compact()
        return rows

    def answer(self, asked: list[Batch], whole: list[Batch]) -> list[Batch]:
        """Of those of the queries that live, as at the last tick that closed."""
        return self.answers(self.template, asked, self._answer)

    def saved(self, is_whole: bool) -> Frame:
        lists = self.lists.drain(is_whole)
        return Frame({"lists": lists} if lists.num_rows else {})

    def restore(self, frame: Frame) -> None:
        for lists in frame.tables.values():
            self.lists.replay(lists)

    def _answer(self, queries: I64, tick: int) -> pa.Table:
        which = np.flatnonzero(np.isin(self.lists.queries, queries) & (tick < self.ends))
        offsets, rows = self._chosen(self.lists.start[which], self.lists.length[which], self.k[which])
        query = np.repeat(self.lists.queries[which], np.diff(offsets))
        return self._told(query, np.full(len(rows), tick), np.ones(len(rows), np.int8), rows)

    def _taken(self, shard: int, told: pa.Table) -> Fresh:
        """The lists of a table, whose rows are stored; those of a list stand together, nearest first."""
        query, tick = told.column("query").to_numpy(), told.column("tick").to_numpy()
        is_there = np.asarray(told.column("d2").is_valid().to_numpy(), np.bool_)
        first = self.lists.append(told if is_there.all() else told.filter(pa.array(is_there)))
        begins = np.flatnonzero(np.append(True, (np.diff(query) != 0) | (np.diff(tick) != 0)))
        before = np.concatenate([[0], np.cumsum(is_there)])
        length = before[np.append(begins[1:], len(query))] - before[begins]
        at = np.searchsorted(self.lists.queries, query[begins])
        return Fresh(at, np.full(len(begins), shard), tick[begins], first + before[begins], length)

    def _codes(self, new: Fresh, ticks: int) -> I64:
        """Numbers in order of query, shard and tick."""
        return np.asarray((new.query * self.lists.shards + new.shard) * (ticks + 1) + new.tick)

    def _changes(self, ticks: I64, new: Fresh) -> pa.Table:
        """Signed rows of lists that are in order of query, shard and tick."""
        moments = self._moments(new, len(ticks))
        shards, k = self.lists.shards, self.k[moments.query]
        # By moment and shard, the last list up to then; or the one from before the batch.
        wanted = moments.query[:, None] * shards + np.arange(shards)
        asked = wanted * (len(ticks) + 1) + moments.tick[:, None]
        at = np.searchsorted(self._codes(new, len(ticks)), asked, side="right") - 1
        is_new = (at >= 0) & (new.query[at] * shards + new.shard[at] == wanted)
        starts = np.where(is_new, new.start[at], self.lists.start.ravel()[wanted])
        lengths = np.where(is_new, new.length[at], self.lists.length.ravel()[wanted])
        offsets, rows = self._chosen(starts, lengths, k)
        changed = compare(offsets, rows, moments.tick != BEFORE, self.lists.mark)
        return self._signed(moments, ticks, *changed)

    def _moments(self, new: Fresh, ticks: int) -> Moments:
        """Each query with what was before, then with each of its ticks."""
        is_first = np.append(True, np.diff(new.query) != 0)
        befores = new.query[is_first] * (ticks + 1)
        codes = np.sort(np.concatenate([befores, new.query * (ticks + 1) + new.tick + 1]))
        codes = codes[np.append(True, np.diff(codes) != 0)]
        return Moments(codes // (ticks + 1), codes % (ticks + 1) - 1)

    def _chosen(self, starts: I64, lengths: I64, k: I64) -> tuple[I64, I64]:
        """Of lists by moment and shard the k nearest: where each moment's begin, and their rows."""
        offsets, rows, is_tied = choose(starts, lengths, k, self.lists.d2)
        if is_tied.any():
            offsets, rows = self._by_key(starts, lengths, k, offsets, rows, is_tied)
        return offsets, rows

    def _by_key(
        self, starts: I64, lengths: I64, k: I64, offsets: I64, rows: I64, is_tied: npt.NDArray[np.bool_]
    ) -> tuple[I64, I64]:
        """The choice where it is the key that decides who is among the first k."""
        tied = np.flatnonzero(is_tied)
        owner = np.repeat(tied, lengths[tied].sum(axis=1))
        some = rows_of(starts[tied].ravel(), lengths[tied].ravel())
        ranks = key_ranks(self.lists.store.column("key").take(pa.array(some)))
        order = np.lexsort((ranks, self.lists.d2[some], owner))
        place = np.arange(len(order)) - np.searchsorted(owner, owner)
        chosen = order[place < k[owner]]
        whose = np.repeat(np.arange(len(k)), np.diff(offsets))
        is_sure = ~is_tied[whose]
        whose = np.concatenate([whose[is_sure], owner[chosen]])
        by_moment = np.argsort(whose, kind="stable")
        rows = np.concatenate([rows[is_sure], some[chosen]])[by_moment]
        return np.searchsorted(whose[by_moment], np.arange(len(k) + 1)), rows

    def _signed(self, moments: Moments, ticks: I64, moment: I64, before: I64, after: I64) -> pa.Table:
        """− of rows before and + of rows after, unless an object has the same row as before."""
        shown = self.lists.store.select(self.lists.store.column_names[1:])
        both = np.flatnonzero((before >= 0) & (after >= 0))
        olds, news = shown.take(pa.array(before[both])), shown.take(pa.array(after[both]))
        differ = [differs(old, new) for old, new in zip(olds.columns, news.columns, strict=True)]
        is_changed = np.ones(len(moment), np.bool_)
        is_changed[both] = np.logical_or.reduce(differ)
        goes, comes = (before >= 0) & is_changed, (after >= 0) & is_changed
        moment = np.concatenate([moment[goes], moment[comes]])
        row = np.concatenate([before[goes], after[comes]])
        sign = np.concatenate([np.full(int(goes.sum()), -1, np.int8), np.ones(int(comes.sum()), np.int8)])
        told = self._told(self.lists.queries[moments.query[moment]], ticks[moments.tick[moment]], sign, row)
        # Without the key, equal rows of several objects cancel; so do those of keys that share a mark.
        has_mistaken = bool(len(both)) and bool(differ[0].any())
        may_cancel = not self.template.is_keyed or has_mistaken
        return consolidate(told) if may_cancel and told.num_rows else told

    def _told(self, query: I64, tick: I64, sign: npt.NDArray[np.int8], row: I64) -> pa.Table:
        schema = self.template.schema()
        signs = pa.array(sign, schema.field("sign").type)
        fixed = [pa.array(query.astype(np.int32)), pa.array(tick), signs]
        shown = self.lists.store.select(self.lists.store.column_names[2:]).take(pa.array(row))
        return pa.Table.from_arrays([*fixed, *shown.columns], schema=schema)
