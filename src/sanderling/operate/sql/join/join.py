"""JOIN: pairs of rows that are equal in their keys, or near; a row without a partner alone, if asked.

changes of both sides, tick by tick, in a kernel:
  a change of the left  ──► the right as it is then ─┬─► pairs, at the tick of the change
  a change of the right ──► the left as it is then  ─┘
  and is taken in

The sign of a pair is the product of both. However many ticks come at once, work follows what is there at a
tick.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64
from sanderling.kernels.order import ordered_by
from sanderling.kernels.sql.partners import Changes as Changed
from sanderling.kernels.sql.partners import Rule, Told, walk_partners
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.join.side import Coming, Shape, Side
from sanderling.operate.sql.rows.codes import as_doubles, common_type, new_texts
from sanderling.operate.sql.rows.numbered import Numbered, Waste
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import NO_QUERY, Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.nodes import is_table


class JoinState:
    """Both sides of a join, and the keys they have in common."""

    def __init__(self, node: nodes.Join, is_in_cells: bool):
        self.node, self.is_in_cells = node, is_in_cells
        self.waste = Waste()
        self.looked = 0  # pairs, so far
        self.begin()

    def begin(self) -> None:
        node, texts = self.node, new_texts()
        types = [[t.arrow for t in side.types] for side in (node.left, node.right)]
        key_types = tuple(
            common_type(types[0][i], types[1][j])
            for i, j in zip(node.left_keys, node.right_keys, strict=True)
        )
        near, is_by_query = node.near, not has_table(node)
        is_globe = near is not None and near.is_globe
        self.left, self.right = (
            Side(Shape(tuple(t), keys, key_types, place, is_by_query, self.is_in_cells, is_globe), texts)
            for t, keys, place in (
                (types[0], node.left_keys, near.left if near else None),
                (types[1], node.right_keys, near.right if near else None),
            )
        )
        cells = 2 if self.is_in_cells else 0
        self.keys = Numbered(1 + len(key_types) + cells)

    @property
    def alive(self) -> int:
        return len(self.left.alive) + len(self.right.alive)

    def is_wasteful(self, is_due: bool) -> bool:
        known = len(self.left.numbered) + len(self.right.numbered)
        return self.waste.is_too_much(known, lambda: self.alive, is_due)


class Join:
    """Promises:
    exact  whatever the order, the cut and the ticks (tests/operate/test_join.py)
    cost   by what changes and what it meets at its tick, whatever comes later (test_long_batches.py)
    """

    def __init__(self, node: nodes.Join, constants: Constants):
        self.node = node
        self.constants = constants
        # The size of cells is a query's, and a table's rows are for all queries: they do without.
        self.is_in_cells = node.near is not None and not has_table(node)
        if node.is_left and is_table(node.left) and not is_table(node.right):
            raise ValueError("rows of a table belong to no query: they cannot stand alone for one")

    def new_state(self, at: None) -> JoinState:
        return JoinState(self.node, self.is_in_cells)

    def apply(self, state: JoinState, given: Changes) -> Signed:
        left, right = (
            side.number(changes, self._radius(changes.query), state.keys)
            for side, changes in zip((state.left, state.right), given.inputs, strict=True)
        )
        told = self._told(state, self._walked(state, left, right))
        self._tidy(state, is_due=False)
        return told

    def _radius(self, query: I64) -> F64 | None:
        """How far each query looks; NaN for rows of no query, below 0 if nowhere."""
        if self.node.near is None:
            return None
        radius, is_null = as_doubles(self.constants.computed(self.node.near.radius, query))
        return np.where(query == NO_QUERY, np.nan, np.where(is_null | np.isnan(radius), -1.0, radius))

    def _walked(self, state: JoinState, left: Coming, right: Coming) -> Told:
        """Both sides' changes in order of tick: each meets what is there then."""
        near, keys = self.node.near, len(state.keys)
        row, tick, sign, probes = (
            np.concatenate(both)
            for both in zip(
                *((c.row, c.tick, c.sign, self._probes(state, c)) for c in (left, right)), strict=True
            )
        )
        # What goes before what comes: else they would meet, and part again in the same tick.
        order = ordered_by(ordered_by(np.arange(len(row)), (sign > 0).astype(np.int64)), tick)
        rule = Rule(near is not None, near is not None and near.is_open, self.node.is_left)
        told = walk_partners(
            state.left.party(keys), state.right.party(keys), rule, Changed(row, tick, sign, probes),
            len(left.row), order,
        )  # fmt: skip
        state.looked += told.looked
        return told

    def _probes(self, state: JoinState, coming: Coming) -> I64:
        """The keys under which a row's partners may be: its own, or those of the cells around it."""
        if not self.is_in_cells:
            return coming.key[:, None]
        return state.keys.find_around(coming.key_codes, coming.key >= 0)

    def _told(self, state: JoinState, told: Told) -> Signed:
        row, other, tick, sign = told.pairs[: told.n].T
        alone, alone_tick, alone_sign = _together(*told.pads[: told.m].T)
        row, other = np.concatenate([row, alone]), np.concatenate([other, np.full(len(alone), -1)])
        tick, sign = np.concatenate([tick, alone_tick]), np.concatenate([sign, alone_sign])
        query = state.right.query(other) if is_table(self.node.left) else state.left.query(row)
        return Signed(query, tick, sign, [*state.left.columns(row), *state.right.columns(other)])

    def _tidy(self, state: JoinState, is_due: bool) -> None:
        if state.is_wasteful(is_due):
            self.restore(state, self.saved(state))

    def forget(self, state: JoinState, queries: I64) -> None:
        for side in (state.left, state.right):
            side.forget(queries, len(state.keys))
        self._tidy(state, is_due=True)

    def held(self, state: JoinState) -> int:
        return state.alive

    def saved(self, state: JoinState) -> dict[str, pa.Table]:
        return {"left": state.left.saved(), "right": state.right.saved()}

    def restore(self, state: JoinState, tables: dict[str, pa.Table]) -> None:
        state.begin()
        for side, table in ((state.left, tables["left"]), (state.right, tables["right"])):
            query, count = table.column("query").to_numpy(), table.column("count").to_numpy()
            rows = Signed(query, np.zeros(len(query), np.int64), count, table.columns[3:])
            coming = side.number(rows, self._radius(query), state.keys)
            side.take_in(coming.row, coming.sign, len(state.keys))
            side.set_matches(coming.row, table.column("matches").to_numpy())


def has_table(node: nodes.Join) -> bool:
    return is_table(node.left) or is_table(node.right)


def _together(row: I64, tick: I64, sign: I64) -> tuple[I64, I64, I64]:
    """What becomes of each row in a tick, if anything does."""
    steps = Steps.of(row, tick)
    total = np.zeros(len(steps), np.int64)
    np.add.at(total, steps.step, sign)
    left = np.flatnonzero(total)
    return steps.group[left], steps.tick[left], total[left]
