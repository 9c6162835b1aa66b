"""kNN over all shards: of the nearest in each shard, the k nearest; told as rows that came and went.

lists of shard 0 ─┐
lists of shard 1 ─┼─► at each moment ─► the k smallest by distance, then key ─► minus those before ─► − and +
lists of shard 2 ─┘

A moment is a tick in which some shard sent a new list of a query; a kernel goes through those of a batch
(kernels/nearest/moments.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I64, differs, flat, key_ranks, rows_of
from sanderling.batches import NOTHING, Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.kernels.nearest.choose import choose
from sanderling.kernels.nearest.moments import differences
from sanderling.kernels.order import ordered_by
from sanderling.merge.lists import ShardLists
from sanderling.operate.nearest.candidates import KEY, columns_told, count
from sanderling.operate.sql.consolidate import consolidate
from sanderling.operate.takers import Taker
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan, Template
from sanderling.state.frame import Frame

NO_RANKS = np.empty(0, np.int64)


class Fresh(NamedTuple):
    """New lists in order of arrival: of which query (by its place among all), shard and tick, and its rows in
    the store."""

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
        stream = plan.stream(template.stream).stream
        self.told_by = columns_told(template, stream)
        types = {f.name: f.type for f in template.schema()} | {KEY: stream.key_type.arrow}
        columns = [(name, types[name]) for name in dict.fromkeys([KEY, *self.told_by])]
        self.lists = ShardLists(np.empty(0, np.int64), pa.schema([("d2", pa.float64()), *columns]))
        # A whole number is its own mark: whoever has it is the same, and shows the same if that is all.
        self.are_marks_keys = bool(pa.types.is_integer(stream.key_type.arrow))
        self.are_alike = self.are_marks_keys and len(columns) == 1
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
        self.figures.add(self.operator, sum(count(batch.table) for batch in came), rows.num_rows)
        return self.told(self.template, rows)

    def _advanced(self, lists: list[Batch]) -> pa.Table:
        self.lists.make_room(max(batch.shard for batch in lists) + 1)
        new = Fresh.concat([self._taken(batch.shard, batch.table) for batch in lists])
        ticks = np.unique(new.tick[np.append(True, np.diff(new.tick) != 0)])  # in runs, as ticks were told
        new = new._replace(tick=np.searchsorted(ticks, new.tick))
        by_tick = ordered_by(np.arange(len(new.tick)), new.tick)
        rows = self._signed(ticks, *self._differences(new, ordered_by(by_tick, new.query)))
        # Of a query and shard the last counts.
        self.lists.put(new.query[by_tick], new.shard[by_tick], new.start[by_tick], new.length[by_tick])
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
        """The lists of a table, whose rows are stored."""
        query, tick = told.column("query").to_numpy(), told.column("tick").to_numpy()
        lists = {name: flat(told.column(name)) for name in self.lists.store.column_names}
        ends = np.cumsum(lists["d2"].value_lengths().to_numpy(zero_copy_only=False).astype(np.int64))
        length = np.diff(ends, prepend=0)
        first = self.lists.append(pa.table({name: column.flatten() for name, column in lists.items()}))
        at = np.searchsorted(self.lists.queries, query)
        return Fresh(at, np.full(len(query), shard), tick, first + ends - length, length)

    def _differences(self, new: Fresh, order: I64) -> tuple[I64, I64, I64, I64]:
        """By query, tick, and rows before and after."""
        known, ranks = self.lists, self.lists.mark if self.are_marks_keys else NO_RANKS
        while True:
            *found, needs_ranks = differences(
                order, new.query, new.shard, new.tick, new.start, new.length, known.start, known.length,
                self.k, known.d2, known.mark, ranks, self.are_alike,
            )  # fmt: skip
            if not needs_ranks:
                query, tick, before, after = found
                return query, tick, before, after
            ranks = key_ranks(known.store.column(KEY))

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

    def _signed(self, ticks: I64, query: I64, tick: I64, before: I64, after: I64) -> pa.Table:
        """− of rows before and + of rows after, unless an object has the same row as before."""
        both = np.flatnonzero((before >= 0) & (after >= 0))
        is_changed, has_mistaken = np.ones(len(query), np.bool_), False
        if len(both):
            shown = self.lists.store.select(self.lists.store.column_names[1:])
            olds, news = shown.take(pa.array(before[both])), shown.take(pa.array(after[both]))
            differ = [differs(old, new) for old, new in zip(olds.columns, news.columns, strict=True)]
            is_changed[both] = np.logical_or.reduce(differ)
            has_mistaken = bool(differ[0].any())
        goes, comes = (before >= 0) & is_changed, (after >= 0) & is_changed
        query, tick = np.concatenate([query[goes], query[comes]]), np.concatenate([tick[goes], tick[comes]])
        row = np.concatenate([before[goes], after[comes]])
        sign = np.concatenate([np.full(int(goes.sum()), -1, np.int8), np.ones(int(comes.sum()), np.int8)])
        told = self._told(self.lists.queries[query], ticks[tick], sign, row)
        # Without the key, equal rows of several objects cancel; so do those of keys that share a mark.
        may_cancel = not self.template.is_keyed or has_mistaken
        return consolidate(told) if may_cancel and told.num_rows else told

    def _told(self, query: I64, tick: I64, sign: npt.NDArray[np.int8], row: I64) -> pa.Table:
        schema = self.template.schema()
        signs = pa.array(sign, schema.field("sign").type)
        fixed = [pa.array(query.astype(np.int32)), pa.array(tick), signs]
        names = [*dict.fromkeys(self.told_by)]
        shown = self.lists.store.select(names).take(pa.array(row))
        columns = [shown.column(name) for name in self.told_by]
        return pa.Table.from_arrays([*fixed, *columns], schema=schema)
