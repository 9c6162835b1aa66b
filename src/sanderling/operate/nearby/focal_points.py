"""The places that NEARBY looks around, as rows of each query, which tables and written places are not.

rows of a table that come and go ─┐
written places ───────────────────┼─► as often as there are queries
queries that begin ───────────────┘
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


@dataclass(slots=True)
class FocalState:
    """The rows as they are, and whose they are."""

    rows: Multiset
    queries: I64 = field(default_factory=lambda: np.empty(0, np.int64))


class FocalPoints:
    """Promises (tests/operate/test_focal_points.py): exact at every tick, however batches are cut."""

    def __init__(self, node: nodes.FocalPoints):
        self.node = node
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> FocalState:
        rows = Multiset(self.types)
        if self.node.table is None:
            written = np.array(self.node.written, np.float64)
            numbers = rows.number(np.full(len(written), -1), [pa.array(column) for column in written.T])
            np.add.at(rows.count, numbers, 1)
        return FocalState(rows)

    def apply(self, state: FocalState, given: Changes) -> Signed:
        changes = given.inputs[0] if given.inputs else Signed.none(self.types)
        new, begin = given.begun.query, given.begun.tick
        told = [
            _for_each(state.queries, np.full(len(state.queries), -1), changes),
            _for_each(new, begin, _there(state.rows)),
            _for_each(new, begin, changes),
        ]
        numbers = state.rows.number(changes.query, changes.columns)
        np.add.at(state.rows.count, numbers, changes.sign)
        state.rows.tidy()
        state.queries = np.union1d(state.queries, new)
        return put_together(told)

    def present(self, state: FocalState, queries: I64, tick: int) -> Signed:
        mine = np.intersect1d(queries, state.queries)
        return _for_each(mine, np.full(len(mine), tick), _there(state.rows))

    def forget(self, state: FocalState, queries: I64) -> None:
        state.queries = np.setdiff1d(state.queries, queries)

    def held(self, state: FocalState) -> int:
        return len(state.rows.alive)

    def saved(self, state: FocalState) -> dict[str, pa.Table]:
        return {"rows": state.rows.saved(), "queries": pa.table({"query": state.queries})}

    def restore(self, state: FocalState, tables: dict[str, pa.Table]) -> None:
        state.rows.restore(tables["rows"])
        state.queries = np.asarray(tables["queries"].column("query").to_numpy(), np.int64)


def _there(rows: Multiset) -> Signed:
    """All rows, as if they had come before everything."""
    alive = rows.alive
    before = np.full(len(alive), np.iinfo(np.int64).min)
    return Signed(rows.owner[alive], before, rows.count[alive].copy(), rows.columns(alive))


def _for_each(queries: I64, begin: I64, rows: Signed) -> Signed:
    """The rows once for each query; none before it begins."""
    found = rows.take(np.tile(np.arange(len(rows)), len(queries)))
    tick = np.maximum(found.tick, np.repeat(begin, len(rows)))
    return replace(found, query=np.repeat(queries, len(rows)), tick=tick)
