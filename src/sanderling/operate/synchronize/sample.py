"""SYNCHRONIZE … EVERY: a row comes and goes when it is looked at, not before.

signed rows ──► the tick of the next look ──► those of looks that have been ──► put together ──► signed rows
                                          └─► the others wait
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_places


@dataclass(slots=True)
class SampleState:
    """Rows as they were at the last look, by query; and what is to be told at later ones."""

    seen: Multiset
    waiting: Signed


class Sample:
    """Promises (tests/operate/test_sample.py): at every tick what was there at the last look, however batches
    are cut, also where nothing comes; what came and went between two looks is never told.
    """

    def __init__(self, node: nodes.Sample):
        self.node = node
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> SampleState:
        return SampleState(Multiset(self.types), Signed.none(self.types))

    def apply(self, state: SampleState, given: Changes) -> Signed:
        (changes,) = given.inputs
        looked_at = self.node.refresh.ticks(changes.tick, self.node.tick_us)
        rows = put_together([state.waiting, replace(changes, tick=looked_at)]).consolidated()
        is_told = rows.tick <= given.closed_to
        state.waiting, told = rows.take(np.flatnonzero(~is_told)), rows.take(np.flatnonzero(is_told))
        row = state.seen.number(told.query, told.columns)
        np.add.at(state.seen.count, row, told.sign)
        state.seen.tidy()
        return told

    def due(self, state: SampleState) -> int | None:
        return int(state.waiting.tick.min()) if len(state.waiting) else None

    def present(self, state: SampleState, queries: I64, tick: int) -> Signed:
        rows = state.seen.alive
        rows = rows[np.isin(state.seen.owner[rows], queries)]
        columns = state.seen.columns(rows)
        return Signed(state.seen.owner[rows], np.full(len(rows), tick), state.seen.count[rows], columns)

    def forget(self, state: SampleState, queries: I64) -> None:
        state.waiting = state.waiting.take(np.flatnonzero(~np.isin(state.waiting.query, queries)))
        state.seen.forget(queries)
        state.seen.tidy(is_due=True)

    def held(self, state: SampleState) -> int:
        return len(state.seen.alive) + len(state.waiting)

    def saved(self, state: SampleState) -> dict[str, pa.Table]:
        return {"seen": state.seen.saved(), "waiting": state.waiting.table()}

    def restore(self, state: SampleState, tables: dict[str, pa.Table]) -> None:
        state.seen.restore(tables["seen"])
        state.waiting = Signed.of(tables["waiting"], by_places(len(self.types)), self.types)
