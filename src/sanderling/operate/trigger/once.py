"""REPORT ONCE PER: of the alerts of a key the first, and none for a while after it.

alerts ──► of each key and tick the smallest ──► not told for so long? ──► told, and remembered
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.kernels.trigger.once import walk_once
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import Coder, Column
from sanderling.operate.sql.rows.numbered import Grown, Numbered, Waste
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_places


class OnceState:
    """Keys, by query, and when each was told last."""

    def __init__(self, types: list[pa.DataType]):
        self.types = types
        self.waste = Waste()
        self.begin()

    def begin(self) -> None:
        self.coder = Coder(self.types)
        self.keys = Numbered(1 + self.coder.width)
        self._last = Grown(NOTHING_YET, np.int64)

    @property
    def last(self) -> I64:
        return self._last.up_to(len(self.keys))

    @property
    def query(self) -> I64:
        return self.keys.rows[:, 0]

    def number(self, query: I64, columns: list[Column]) -> I64:
        return self.keys.number(self.coder.codes(columns, query))

    def saved(self, keys: I64) -> pa.Table:
        columns = self.coder.columns(self.keys.rows[keys, 1:])
        fixed = [pa.array(self.query[keys]), pa.array(self.last[keys])]
        return pa.Table.from_arrays([*fixed, *columns], names=["query", "last", *by_places(len(columns))])

    def restore(self, table: pa.Table) -> None:
        self.begin()
        keys = self.number(table.column("query").to_numpy(), table.columns[2:])
        self.last[keys] = table.column("last").to_numpy()


class Once:
    """Promises (tests/operate/test_once.py): exact at every tick, however batches are cut; what may be told
    again is forgotten.
    """

    def __init__(self, node: nodes.Once, constants: Constants):
        self.node, self.constants = node, constants
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> OnceState:
        return OnceState([self.types[key] for key in self.node.keys])

    def apply(self, state: OnceState, given: Changes) -> Signed:
        (alerts,) = given.inputs
        if not len(alerts):
            return Signed.none(self.types)
        key = state.number(alerts.query, [alerts.columns[place] for place in self.node.keys])
        order = _in_order(key, alerts)
        key, tick = key[order], alerts.tick[order]
        is_other = np.append(True, (key[1:] != key[:-1]) | (tick[1:] != tick[:-1]))
        order, key, tick = order[is_other], key[is_other], tick[is_other]
        is_told = walk_once(key, tick, self._every(alerts.query[order]), state.last)
        told = alerts.take(order[is_told])
        self._tidy(state, given.closed_to)
        return Signed(told.query, told.tick, np.ones(len(told), np.int64), told.columns)

    def _every(self, queries: I64) -> I64:
        if self.node.every is None:
            return np.full(len(queries), NEVER)
        return np.asarray(self.constants.computed(self.node.every, queries).fill_null(0).to_numpy(), np.int64)

    def _alive(self, state: OnceState, tick: int) -> I64:
        """Those that may not be told at the next tick."""
        every = self._every(state.query)
        is_held = (every == NEVER) | (
            state.last[: len(state.keys)] > tick - np.where(every == NEVER, 0, every)
        )
        return np.flatnonzero(is_held & (state.last[: len(state.keys)] != NOTHING_YET))

    def _tidy(self, state: OnceState, tick: int, is_due: bool = False) -> None:
        if state.waste.is_too_much(len(state.keys), lambda: len(self._alive(state, tick)), is_due):
            state.restore(state.saved(self._alive(state, tick)))

    def forget(self, state: OnceState, queries: I64) -> None:
        state.last[: len(state.keys)][np.isin(state.query, queries)] = NOTHING_YET
        self._tidy(state, NOTHING_YET // 2, is_due=True)

    def held(self, state: OnceState) -> int:
        return int((state.last[: len(state.keys)] != NOTHING_YET).sum())

    def saved(self, state: OnceState) -> dict[str, pa.Table]:
        return {"told": state.saved(np.flatnonzero(state.last[: len(state.keys)] != NOTHING_YET))}

    def restore(self, state: OnceState, tables: dict[str, pa.Table]) -> None:
        state.restore(tables["told"])


def _in_order(key: I64, alerts: Signed) -> I64:
    """By key, then tick, then the whole row: so none depends on the order in which they were found."""
    names = ["key", "tick", *by_places(len(alerts.columns))]
    table = pa.Table.from_arrays([pa.array(key), pa.array(alerts.tick), *alerts.columns], names=names)
    by = [(name, "ascending", "at_start") for name in names]
    return np.asarray(pc.sort_indices(table, sort_keys=by).to_numpy(), np.int64)
