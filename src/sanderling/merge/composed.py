"""Composed queries in a merge partition: rows of branches wait until their tick has closed in all streams.

rows of branches ─┐
rows of tables ───┼─► wait for the slowest stream ─► tree ─► signed rows
begun, ended ─────┘
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.batches import TURNS
from sanderling.clock import NOTHING_YET, ticks_from
from sanderling.merge.consolidate import repeated
from sanderling.merge.constants import Constants
from sanderling.merge.tree import Tree
from sanderling.plan.plans import PlannedTable, PlannedTree

I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
NOTHING = np.empty(0, np.int64)

Tables = Mapping[str, PlannedTable]
Closed = dict[str, tuple[int, bool]]  # by stream the tick that has closed, and whether it has ended


@dataclass(slots=True)
class Input:
    """What a batch brings for a tree: rows by branch, and turns."""

    rows: dict[int, pa.Table] = field(default_factory=dict)
    turns: pa.Table = field(default_factory=TURNS.empty_table)


class Composed:
    """The composed queries of one shape.

    Promises (tests/properties/test_sql.py): what comes out at a tick is the difference of two answers,
    however streams are cut into batches and whichever of them runs ahead.
    """

    def __init__(self, planned: PlannedTree, tables: Tables):
        self.planned = planned
        self.tables = tables
        self.tree = Tree(planned.root, Constants(planned.queries, planned.constants))
        self.ready = NOTHING_YET  # all streams have closed this tick
        self.waiting: dict[int, pa.Table] = {}
        self.turns = TURNS.empty_table()
        self.begun = np.empty(0, np.int64)
        # By table the ticks that its changes hold from, and whether the tree has been told.
        self.ticks: dict[str, I64] = {}
        self.is_told: dict[str, Bools] = {}
        self._learn_changes(NOTHING_YET)

    def turn_to(self, planned: PlannedTree, tables: Tables) -> None:
        """Goes on with these queries; nothing is left of those that were dropped."""
        gone = np.setdiff1d(self.planned.queries, planned.queries)
        self.planned, self.tables = planned, tables
        self.tree.constants.replace(planned.queries, planned.constants)
        self._learn_changes(self.ready)
        if len(gone):
            self.tree.forget(gone)
            self.waiting = {b: _without(rows, gone) for b, rows in self.waiting.items()}
            self.turns = _without(self.turns, gone)
            self.begun = np.setdiff1d(self.begun, gone)

    def advance(self, came: Input, closed: Closed) -> pa.Table:
        """One batch; `closed` says by stream which tick has closed. Gives signed rows."""
        for branch, rows in came.rows.items():
            before = self.waiting.get(branch)
            self.waiting[branch] = rows if before is None else pa.concat_tables([before, rows])
        self.turns = pa.concat_tables([self.turns, came.turns])
        self.ready = _ready([closed.get(name, (NOTHING_YET, False)) for name in self.planned.streams])
        branches: dict[int, pa.Table] = {}
        for branch, rows in list(self.waiting.items()):
            branches[branch], self.waiting[branch] = _split(rows, self.ready)
        begun, ended, end = self._turned()
        changes = self._changes()
        schema = self.planned.template.schema()
        if not any(t.num_rows for t in (*branches.values(), *changes.values(), begun)):
            out = schema.empty_table()
        else:
            out = repeated(self.tree.apply(branches, changes, begun), schema)
        if len(ended):
            self.tree.forget(ended)
            out = _before(out, ended, end)
        return out

    def _turned(self) -> tuple[pa.Table, I64, I64]:
        """Queries that begin, when the first of their streams says so; and those that end, with the tick."""
        now, self.turns = _split(self.turns, self.ready)
        query, tick, sign = (now.column(c).to_numpy() for c in TURNS.names)
        order = np.argsort(tick[sign > 0], kind="stable")
        begun, first = np.unique(query[sign > 0][order], return_index=True)
        is_new = ~np.isin(begun, self.begun)
        begun, first = begun[is_new], tick[sign > 0][order][first[is_new]]
        ended, row = np.unique(query[sign < 0], return_index=True)
        if len(begun) or len(ended):
            self.begun = np.setdiff1d(np.union1d(self.begun, begun), ended)
        return pa.table({"query": begun, "tick": first}), ended.astype(np.int64), tick[sign < 0][row]

    def _learn_changes(self, ready: int) -> None:
        """What is heard of now holds from the next tick on, or from its own time on, if that is later."""
        for name in self.planned.tables:
            known = len(self.ticks.get(name, ()))
            ticks = ticks_from(self.tables[name].time[known:], self.planned.tick_us)
            if ready != NOTHING_YET:
                ticks = np.maximum(ticks, ready + self.planned.tick_us)
            self.ticks[name] = np.concatenate([self.ticks.get(name, NOTHING), ticks])
            heard = np.zeros(len(ticks), np.bool_)
            self.is_told[name] = np.concatenate([self.is_told.get(name, heard[:0]), heard])

    def _changes(self) -> dict[str, pa.Table]:
        """What happened to tables up to the tick that is ready."""
        changes = {}
        for name in self.planned.tables:
            is_now = ~self.is_told[name] & (self.ticks[name] <= self.ready)
            changes[name] = self._rows_of(name, np.flatnonzero(is_now))
            self.is_told[name] |= is_now
        return changes

    def _rows_of(self, name: str, which: I64) -> pa.Table:
        table = self.tables[name]
        rows = table.rows.take(pa.array(which))
        for place, (column, values) in enumerate((
            ("query", np.full(len(which), -1, np.int32)),
            ("tick", self.ticks[name][which]),
            ("sign", table.sign[which].astype(np.int64)),
        )):  # fmt: skip
            rows = rows.add_column(place, column, pa.array(values))
        return rows

    def answer(self, queries: Sequence[int], rows: Mapping[int, pa.Table], tick: int) -> pa.Table:
        """The whole answers of some queries, of the whole answers of their branches."""
        mine = np.intersect1d(queries, self.planned.queries)
        schema = self.planned.template.schema()
        if not len(mine) or self.ready == NOTHING_YET:
            return schema.empty_table()
        fresh = Tree(self.planned.root, self.tree.constants)
        tables = {name: self._rows_of(name, np.flatnonzero(told)) for name, told in self.is_told.items()}
        begun = pa.table({"query": mine, "tick": np.full(len(mine), tick)})
        return repeated(put_at(fresh.apply(dict(rows), tables, begun), tick), schema)


def put_at(rows: pa.Table, tick: int) -> pa.Table:
    """What is there, as if it had come at this tick."""
    return rows.set_column(1, "tick", pa.array(np.full(rows.num_rows, tick), pa.int64()))


def _split(rows: pa.Table, ready: int) -> tuple[pa.Table, pa.Table]:
    """Those up to a tick, and the rest."""
    is_ready = rows.column("tick").to_numpy() <= ready
    if is_ready.all():
        return rows, rows[:0]
    return rows.filter(pa.array(is_ready)), rows.filter(pa.array(~is_ready))


def _ready(closed: Sequence[tuple[int, bool]]) -> int:
    """Up to which tick all have come; nobody waits for a stream that has ended."""
    running = [tick for tick, is_ended in closed if not is_ended]
    return min(running) if running else max(tick for tick, _ in closed)


def _before(rows: pa.Table, ended: I64, end: I64) -> pa.Table:
    """A table may change in the tick that a query ends in, which says nothing more then."""
    query = rows.column("query").to_numpy()
    at = np.minimum(np.searchsorted(ended, query), len(ended) - 1)
    is_over = (ended[at] == query) & (rows.column("tick").to_numpy() >= end[at])
    return rows.filter(pa.array(~is_over)) if is_over.any() else rows


def _without(rows: pa.Table, queries: I64) -> pa.Table:
    return rows.filter(pa.array(~np.isin(rows.column("query").to_numpy(), queries)))
