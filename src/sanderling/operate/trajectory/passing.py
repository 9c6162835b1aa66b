"""PASS_WITHIN: pairs of keys, one of which has come near a place where the other has been not long ago.

signed rows of both sides ──► where each object is after each tick ──► a walk through ticks ──► signed pairs
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NEVER
from sanderling.kernels.order import ordered_by
from sanderling.kernels.trajectory.company import Moves
from sanderling.operate.sql.signed import Signed
from sanderling.operate.trajectory.company import Company, signed_pairs
from sanderling.operate.trajectory.trodden import Trodden
from sanderling.operate.tree.changes import Changes


class Passing(Company):
    """Promises (tests/operate/test_passing.py): as a join by DISTANCE of places that linger, at every tick,
    however batches are cut; what is gone is freed; cost by who moves, and by who has been there.
    """

    def new_state(self, at: None) -> Trodden:
        first, second = (t.arrow for t in self.node.types)
        return Trodden((first, second), self.is_self, self.node.is_globe, self.node.tick_us)

    def apply(self, state: Trodden, given: Changes) -> Signed:  # type: ignore[override]
        queries = np.unique(np.concatenate([changes.query for changes in given.inputs]))
        state.learn(queries, *self.asked(queries))
        parts = [self._after(state, side, c) for side, c in enumerate(given.inputs[: self.sides])]
        tick, one, at, cell = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = ordered_by(ordered_by(np.arange(len(one)), one), tick)
        moves = Moves(tick[order], one[order], at[order], cell[order])
        found = signed_pairs(state, state.pass_by(moves, given.closed_to))
        state.tidy(lambda tables: self.restore(state, tables))
        return found

    def due(self, state: Trodden) -> int | None:  # type: ignore[override]
        return None if (due := state.next_due) == NEVER else due

    def present(self, state: Trodden, queries: I64, tick: int) -> Signed:  # type: ignore[override]
        one, other = state.passed()
        mine = np.isin(state.query_of(one), queries)
        one, other = one[mine], other[mine]
        if self.is_self:
            turned = np.flatnonzero(one != other)
            one, other = np.append(one, other[turned]), np.append(other, one[turned])
        always = np.ones(len(one), np.int64)
        return signed_pairs(state, np.column_stack([one, other, always * tick, always]))

    def held(self, state: Trodden) -> int:  # type: ignore[override]
        """Places that somebody is at or was at not long ago."""
        return len(state.alive_places)

    def saved(self, state: Trodden) -> dict[str, pa.Table]:  # type: ignore[override]
        return state.saved()
