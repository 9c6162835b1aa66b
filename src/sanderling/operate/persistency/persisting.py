"""PERSISTENCY: a row is told once its key has been there for long enough, and goes when its key is gone.

signed rows ──► which row each key shows ──► stays, by what comes and by what becomes due ──► signed rows
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import NEVER
from sanderling.kernels.persistency.stays import Asked, rows_before, walk_stays
from sanderling.operate.persistency.durations import ByQuery
from sanderling.operate.persistency.stays import KeySteps, StaysState
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.select import evaluated
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class Looked(NamedTuple):
    """Keys, each with its steps: when, which row it shows from then on, whether its stay may go on."""

    keys: I64
    asked: Asked
    starts: I64
    tick: I64
    after: I64
    may_go_on: Bools


class Persisting:
    """Promises (tests/operate/test_persisting.py): exact at every tick, however batches are cut, also where
    nothing comes; what is gone is freed; cost by change, and by what becomes due.
    """

    def __init__(self, node: nodes.Persisting, constants: Constants):
        self.node, self.constants = node, constants
        self.types = [t.arrow for t in node.types]
        self.stay, self.grace = (ByQuery(what, constants) for what in (node.stay, node.grace))

    def new_state(self, at: None) -> StaysState:
        return StaysState(self.types, self.node.keys)

    def apply(self, state: StaysState, given: Changes) -> Signed:
        (changes,) = given.inputs
        looked = self.looked_at(state, changes, given.closed_to)
        told = walk_stays(state.stays, *looked, given.closed_to)
        row, tick, sign = np.ascontiguousarray(told.T)
        found = Signed(state.query_of(state.key_of(row)), tick, sign, state.rows.columns(row))
        if len(state.corrections):
            found = put_together([state.corrections, found]).consolidated()
            state.corrections = Signed.none(self.types)
        state.look_ahead()
        state.tidy()
        return found

    def replan(self, state: StaysState, queries: I64, tick: int) -> None:
        keys = state.of_queries(queries)
        asked = self.asked(state, keys)
        over = state.replan(keys, asked, tick)
        state.correct(over[state.stays.is_long[over]], tick, -1)
        state.finish(over)
        state.judge(keys, asked, tick, self.node.tick_us)
        state.tidy()

    def looked_at(self, state: StaysState, changes: Signed, closed_to: int) -> Looked:
        """Takes in changes, for which columns may grow; what is to be walked."""
        steps = state.take_in(changes, closed_to)
        may_go_on = self._may_go_on(state, steps)
        asked = self.asked(state, steps.keys)
        return Looked(steps.keys, asked, steps.starts, steps.tick, steps.after, may_go_on)

    def asked(self, state: StaysState, keys: I64) -> Asked:
        """Who asks for a part of a tick waits for the whole; of a grace only whole ticks count."""
        query, tick = state.query_of(keys), self.node.tick_us
        stay, grace = self.stay.of(query), self.grace.of(query)
        return Asked(-(-stay // tick) * tick, grace // tick * tick)

    def _may_go_on(self, state: StaysState, steps: KeySteps) -> Bools:
        """WHILE, of each step at which a key shows another row than before."""
        after, found = steps.after, np.ones(len(steps.after), np.bool_)
        if self.node.goes_on is None:
            return found
        key = np.repeat(steps.keys, np.diff(steps.starts))
        before = rows_before(key, after, state.stays.row)
        changed = np.flatnonzero((before >= 0) & (after >= 0) & (before != after))
        if len(changed):
            columns = [*state.rows.columns(after[changed]), *state.rows.columns(before[changed])]
            signs = np.ones(len(changed), np.int64)
            pairs = Signed(state.query_of(key[changed]), steps.tick[changed], signs, columns)
            (verdict,) = evaluated([self.node.goes_on], pairs, self.constants)
            found[changed] = np.asarray(verdict.fill_null(False).to_numpy(), np.bool_)
        return found

    def due(self, state: StaysState) -> int | None:
        soonest = min([state.next_due, *state.corrections.tick.tolist()])
        return None if soonest == NEVER else soonest

    def present(self, state: StaysState, queries: I64, tick: int) -> Signed:
        keys = state.of_queries(queries)
        keys = keys[state.stays.is_long[keys]]
        columns = state.rows.columns(state.stays.row[keys])
        return Signed(state.query_of(keys), np.full(len(keys), tick), np.ones(len(keys), np.int64), columns)

    def forget(self, state: StaysState, queries: I64) -> None:
        state.forget(queries)
        state.tidy()

    def held(self, state: StaysState) -> int:
        return len(state.alive)

    def saved(self, state: StaysState) -> dict[str, pa.Table]:
        return state.saved()

    def restore(self, state: StaysState, tables: dict[str, pa.Table]) -> None:
        state.restore(tables)
