"""TICK(): a row is there at the ticks that are within its bounds, and is told when that is so.

signed rows ──► from which tick on, up to which ──► now, or later: what waits for its tick ──► signed rows

Nothing is remembered of rows but what is still to be told: a row that goes takes back what was to come.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from sanderling import relational
from sanderling.arrays import I64
from sanderling.clock import FIRST_US, LAST_US
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.select import evaluated
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tick.schedule import Schedule
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_places

# Before all moments, and after them, as far as they can be shifted.
LONG_AGO, FAR = -(2**61), 2**61


class Ticking:
    """Promises (tests/operate/test_ticking.py): exact at every tick, however batches are cut, also where
    nothing comes; cost by change, and by what becomes due.
    """

    def __init__(self, node: nodes.Ticking, constants: Constants):
        self.node, self.constants = node, constants
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> Schedule:
        return Schedule(self.types)

    def apply(self, state: Schedule, given: Changes) -> Signed:
        (changes,) = given.inputs
        rows = self.told_by(changes)
        is_now = rows.tick <= given.closed_to
        state.add(rows.take(np.flatnonzero(~is_now)))
        now = rows.take(np.flatnonzero(is_now))
        return put_together([now, state.take(given.closed_to)]).consolidated()

    def told_by(self, changes: Signed) -> Signed:
        """What is to be told because of these, now or later: each comes when it is within, goes when not."""
        since, until = changes.tick, np.full(len(changes), FAR)
        for bound in self.node.bounds:
            at = self.first_past(bound, changes)
            since = since if bound.is_upper else np.maximum(since, at)
            until = np.minimum(until, at) if bound.is_upper else until
        is_there = np.flatnonzero((since < until) & (since < FAR))
        rows = replace(changes.take(is_there), tick=since[is_there])
        ends = np.flatnonzero(until[is_there] < FAR)
        gone = rows.take(ends)
        gone = replace(gone, tick=until[is_there][ends], sign=-gone.sign)
        return put_together([rows, gone])

    def first_past(self, bound: nodes.TickBound, rows: Signed) -> I64:
        """The first tick past a row's moment: it holds from there on, or no longer.

        A row without a moment is there at no tick, which a lower bound says by never, an upper one by always.
        """
        tick_us = self.node.tick_us
        shift = np.asarray(self.constants.computed(bound.shift, rows.query).fill_null(0).to_numpy(), np.int64)
        base, is_known = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        if bound.base is not None and len(rows):
            (computed,) = evaluated([bound.base], rows, self.constants)
            found = relational.finite(computed.cast(bound.base.type.arrow))
            is_known = np.asarray(found.is_valid().to_numpy(), np.bool_)
            base = _microseconds(found)
        is_finite = (base > LONG_AGO) & (base < FAR)
        # > and <= are of the first tick behind the moment, >= and < of that which may be at it.
        is_behind = bound.is_open != bound.is_upper
        moment = np.where(is_finite, base, 0) + shift
        tick = (moment // tick_us + 1) * tick_us if is_behind else -(-moment // tick_us) * tick_us
        tick = np.where(is_finite, tick, base)
        return np.where(is_known, tick, LONG_AGO if bound.is_upper else FAR)

    def due(self, state: Schedule) -> int | None:
        return state.due

    def forget(self, state: Schedule, queries: I64) -> None:
        state.forget(queries)

    def held(self, state: Schedule) -> int:
        return len(state)

    def saved(self, state: Schedule) -> dict[str, pa.Table]:
        return {"waiting": state.all().table()}

    def restore(self, state: Schedule, tables: dict[str, pa.Table]) -> None:
        rows = Signed.of(tables["waiting"], by_places(len(self.types)), self.types)
        if len(rows):
            state.add(rows)


def _microseconds(column: pa.ChunkedArray) -> I64:
    """A time, or seconds; what is beyond the years 1 to 9999 is before or after all."""
    if pa.types.is_timestamp(column.type):
        us = np.asarray(column.cast(pa.timestamp("us")).cast(pa.int64()).fill_null(0).to_numpy(), np.int64)
        return _finite(us, us)
    if pa.types.is_integer(column.type):
        seconds = np.asarray(column.cast(pa.int64()).fill_null(0).to_numpy(), np.int64)
        is_safe = np.abs(seconds.astype(np.float64)) < 1e12
        return _finite(np.where(is_safe, seconds, 0) * 1_000_000, seconds.astype(np.float64) * 1e6)
    scaled = np.rint(np.asarray(column.cast(pa.float64()).fill_null(0).to_numpy(), np.float64) * 1e6)
    is_safe = np.abs(scaled) < 1e18
    return _finite(np.where(is_safe, scaled, 0).astype(np.int64), scaled)


def _finite(us: I64, size: object) -> I64:
    wide = np.asarray(size)
    return np.where(wide > LAST_US, FAR, np.where(wide < FIRST_US, LONG_AGO, us))
