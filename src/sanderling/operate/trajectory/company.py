"""STAY_WITHIN: pairs of keys whose objects have been near each other for long enough, told when that is so.

signed rows of both sides ──► where each object is after each tick ──► a walk through ticks ──► signed pairs
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64
from sanderling.clock import NEVER
from sanderling.kernels.order import ordered_by
from sanderling.kernels.trajectory.company import Moves
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import as_doubles
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed
from sanderling.operate.trajectory.held import SIDES, Held
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class Company:
    """Promises (tests/operate/test_company.py): the same as PERSISTENCY over a join by DISTANCE, at every
    tick, however batches are cut; what is gone is freed; cost by who moves, and by whom it may meet.
    """

    def __init__(self, node: nodes.Company | nodes.Passing, constants: Constants):
        self.node, self.constants = node, constants
        self.is_self = node.left == node.right
        self.sides = 1 if self.is_self else 2

    def new_state(self, at: None) -> Held:
        first, second = (t.arrow for t in self.node.types)
        return Held((first, second), self.is_self, self.node.is_globe)

    def apply(self, state: Held, given: Changes) -> Signed:
        queries = np.unique(np.concatenate([changes.query for changes in given.inputs]))
        state.learn(queries, *self.asked(queries))
        slots, starts, moves = self._moves(state, given)
        due = np.setdiff1d(state.is_due(given.closed_to), slots)
        starts = np.concatenate([starts, np.full(len(due), starts[-1])])
        told = state.walk(np.concatenate([slots, due]), starts, moves, given.closed_to)
        found = signed_pairs(state, told)
        state.tidy(lambda tables: self.restore(state, tables))
        return found

    def asked(self, queries: I64) -> tuple[F64, I64]:
        """By query the radius, below 0 for none, and how long company has to last, in whole ticks."""
        radius, is_null = as_doubles(self.constants.computed(self.node.radius, queries))
        radius = np.where(is_null | np.isnan(radius), -1.0, radius)
        stay = self.constants.computed(self.node.stay, queries).cast(pa.int64()).fill_null(0)
        tick = self.node.tick_us
        return radius, -(-np.asarray(stay.to_numpy(), np.int64) // tick) * tick

    def _moves(self, state: Held, given: Changes) -> tuple[I64, I64, Moves]:
        """By query and tick where objects are after it."""
        sides = enumerate(given.inputs[: self.sides])
        parts = [self._after(state, side, changes) for side, changes in sides]
        tick, one, at, cell = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        slot = state.objects.rows[one, 0] // SIDES
        order = ordered_by(ordered_by(ordered_by(np.arange(len(one)), one), tick), slot)
        slots = np.unique(slot)
        starts = np.append(np.searchsorted(slot[order], slots), len(order))
        return slots, starts, Moves(tick[order], one[order], at[order], cell[order])

    def _after(self, state: Held, side: int, changes: Signed) -> tuple[I64, I64, F64, I64]:
        """Of each object after each tick at which it changes: tick, object, place and cell."""
        key, place = self.node.keys[side], self.node.places[side]
        (x, no_x), (y, no_y) = (as_doubles(changes.columns[axis]) for axis in place)
        x, y = (np.where(no_x | no_y, np.nan, axis) for axis in (x, y))
        placed = state.placed(changes.query, side, changes.columns[key], x, y)
        steps, came = Steps.of(placed.one, changes.tick), np.flatnonzero(changes.sign > 0)
        times = np.bincount(steps.step[came], minlength=len(steps))
        if (times > 1).any():  # one of them goes at the same tick
            return self._after(state, side, changes.consolidated())
        row = np.empty(len(steps), np.int64)
        row[steps.step] = np.arange(len(changes))
        row[steps.step[came]] = came
        at = placed.at[row]
        at[times == 0] = np.nan
        return steps.tick, steps.group, at, placed.cell[row]

    def due(self, state: Held) -> int | None:
        return None if (due := state.next_due) == NEVER else due

    def present(self, state: Held, queries: I64, tick: int) -> Signed:
        one, other, since = state.pairs()
        is_told = (since + state.stay_of(one) <= state.walked_to) & np.isin(state.query_of(one), queries)
        one, other = one[is_told], other[is_told]
        if self.is_self:
            turned = np.flatnonzero(one != other)
            one, other = np.append(one, other[turned]), np.append(other, one[turned])
        else:
            is_turned = state.objects.rows[one, 0] % SIDES == 1
            one, other = np.where(is_turned, other, one), np.where(is_turned, one, other)
        always = np.ones(len(one), np.int64)
        return signed_pairs(state, np.column_stack([one, other, always * tick, always]))

    def forget(self, state: Held, queries: I64) -> None:
        self.restore(state, state.saved(without=queries))

    def held(self, state: Held) -> int:
        """Pairs that are near."""
        return state.near

    def saved(self, state: Held) -> dict[str, pa.Table]:
        return state.saved()

    def restore(self, state: Held, tables: dict[str, pa.Table]) -> None:
        state.restore(tables, self.asked)


def signed_pairs(state: Held, told: I64) -> Signed:
    left, right, tick, sign = told.T
    columns = [state.keys(left, 0), state.keys(right, 0 if state.is_self else 1)]
    return Signed(state.query_of(left), tick, sign, columns)
