"""n ROWS over all shards: the order of all readings, and the rows of those among the last n.

readings of shard 0 ─┐
readings of shard 1 ─┼─► one order, by time, then key ─► a reading leaves with the n-th behind it
rows that queries take ──────────────────────────────► + when it comes, − when it leaves
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.batches import HIDDEN
from sanderling.merge.order import NOWHERE, SHARD, Order
from sanderling.operate.sql.consolidate import consolidate
from sanderling.plans.plan import NEVER, StreamPlan, Template


def _is_hidden(candidates: pa.Table) -> Bools:
    if HIDDEN not in candidates.column_names:
        return np.zeros(candidates.num_rows, np.bool_)
    return np.asarray(candidates.column(HIDDEN), np.bool_)


def _signs(rows: pa.Table) -> I64:
    """+1, or −1 for a row that takes back another: what that one's region held when it went."""
    return np.asarray(np.where(rows.column("code").to_numpy() < 0, -1, 1), np.int64)


def _readings(rows: pa.Table) -> I64:
    """The readings that rows are of, as numbers."""
    code: I64 = rows.column("code").to_numpy()
    return np.where(code < 0, ~code, code)


class MergeLatest:
    """The n ROWS queries of one template. A row that takes back another stays with it until both leave.

    Promises (tests/properties/test_window.py):
      exact   what goes out is the difference of two answers
      order   neither the order of shards nor that of their rows matters
    """

    def __init__(self, plan: StreamPlan, template: Template):
        assert template.window is not None
        self.stream, self.template, self.size = plan.stream.name, template, template.window.reach
        columns = [(f.name, f.type) for f in list(template.schema())[3:]]
        self._shown = [name for name, _ in columns]
        schema = pa.schema([("query", pa.int32()), ("code", pa.int64()), *columns])
        self.rows: pa.Table = schema.empty_table()
        self.place: I64 = np.empty(0, np.int64)
        self.fresh = 0
        self.turn_to(plan)

    def turn_to(self, plan: StreamPlan) -> None:
        """Goes on with the queries of this plan; rows of others are forgotten."""
        mine = plan.regions.template == self.template.id
        queries, some = np.unique(plan.regions.query[mine], return_index=True)
        self.queries, self.ends = queries.astype(np.int64), plan.regions.end[mine][some]
        self._keep(np.isin(self.rows.column("query").to_numpy(), queries))

    def _keep(self, kept: Bools) -> None:
        if not kept.all():
            self.fresh = int(kept[len(kept) - self.fresh :].sum())
            self.rows = self.rows.filter(pa.array(kept)).combine_chunks()
            self.place = self.place[kept]

    def replace(self, order: Order) -> None:
        """The readings have other places now."""
        self.place = order.places(_readings(self.rows))
        self._keep(self.place != NOWHERE)

    def advance(self, candidates: list[tuple[int, pa.Table]], order: Order) -> pa.Table:
        """Rows that came, each table with its shard; and what leaves, now that the order goes on."""
        leaving, leaves = self._leaving(order)
        told = [self._told(leaving, leaves, -_signs(leaving))]
        came, place, begins = self._came(candidates, order)
        leaves = order.ticks(place + self.size)
        has_been = leaves > begins
        came, place = came.filter(pa.array(has_been)), place[has_been]
        begins, leaves = begins[has_been], leaves[has_been]
        is_over, sign = leaves != NEVER, _signs(came)
        told.append(self._told(came, begins, sign))
        told.append(self._told(came.filter(pa.array(is_over)), leaves[is_over], -sign[is_over]))
        self.rows = pa.concat_tables([self.rows, came.filter(pa.array(~is_over))]).combine_chunks()
        self.place = np.concatenate([self.place, place[~is_over]])
        self.fresh += int((~is_over).sum())
        if len(order.tick):
            self._keep(self._end(self.rows) > order.tick[-1])
        rows = pa.concat_tables(told)
        return consolidate(rows) if rows.num_rows else rows

    def _leaving(self, order: Order) -> tuple[pa.Table, I64]:
        leaves = order.ticks(self.place + self.size)
        is_over = leaves != NEVER
        leaving = self.rows.filter(pa.array(is_over))
        self._keep(~is_over)
        return leaving, leaves[is_over]

    def _came(self, candidates: list[tuple[int, pa.Table]], order: Order) -> tuple[pa.Table, I64, I64]:
        """Rows, the places of their readings, and the ticks in which they begin to be told."""
        tables, codes, ticks = [self.rows[:0]], [self.place[:0]], [self.place[:0]]
        hidden = [np.empty(0, np.bool_)]
        for shard, table in candidates:
            number = table.column("number").to_numpy()
            is_back = number < 0
            codes.append(shard * SHARD + np.where(is_back, ~number, number))
            ticks.append(table.column("tick").to_numpy())
            hidden.append(_is_hidden(table))
            code = pa.array(np.where(is_back, ~codes[-1], codes[-1]))
            columns = [table.column("query"), code, *(table.column(c) for c in self._shown)]
            tables.append(pa.Table.from_arrays(columns, schema=self.rows.schema))
        place = order.places(np.concatenate(codes))
        is_near = place != NOWHERE
        is_near[is_near] &= ~(order.shows(place[is_near]) & np.concatenate(hidden)[is_near])
        return (
            pa.concat_tables(tables).filter(pa.array(is_near)),
            place[is_near],
            np.concatenate(ticks)[is_near],
        )

    def _end(self, rows: pa.Table) -> I64:
        """The ticks in which the queries of rows end."""
        at = np.searchsorted(self.queries, rows.column("query").to_numpy())
        return np.asarray(self.ends[at])

    def _told(self, rows: pa.Table, tick: I64, sign: I64) -> pa.Table:
        """Signed rows, of queries that have not ended."""
        lives = tick < self._end(rows)
        rows, tick = rows.filter(pa.array(lives)), tick[lives]
        schema = self.template.schema()
        signs = pa.array(sign[lives]).cast(schema.field("sign").type)
        shown = [rows.column(c) for c in self._shown]
        return pa.Table.from_arrays([rows.column("query"), pa.array(tick), signs, *shown], schema=schema)

    def answer(self, queries: I64, tick: int) -> pa.Table:
        """The whole answers of those of the queries that live, as at the last tick that closed."""
        is_asked = np.isin(self.rows.column("query").to_numpy(), queries)
        rows = self.rows.filter(pa.array(is_asked))
        told = self._told(rows, np.full(rows.num_rows, tick), _signs(rows))
        return consolidate(told) if told.num_rows else told

    # ----- saved and restored

    def drain(self, is_whole: bool) -> pa.Table:
        """All rows, or those that came since the last time."""
        some = len(self.place) if is_whole else self.fresh
        self.fresh = 0
        return self.rows.slice(len(self.place) - some)

    def replay(self, table: pa.Table, order: Order, is_whole: bool) -> None:
        """Takes up what was drained; `order` has been brought to where it was then."""
        known = self.rows[:0] if is_whole else self.rows
        self.rows = pa.concat_tables([known, table.select(self.rows.column_names)]).combine_chunks()
        self.replace(order)
        self._keep(order.ticks(self.place + self.size) == NEVER)
        self.fresh = 0
