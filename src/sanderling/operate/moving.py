"""Regions that move with a focal object: the join, tick by tick.

In each tick objects meet the regions as they are in that tick; so, unlike for regions that stand
still, the ticks of a batch cannot be taken together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sanderling.kernels.cross import Moves, Rules, cross
from sanderling.kernels.grid import ABSENT, CENTRED, DISC, Geometry, build_grid
from sanderling.operate.asks import Asks
from sanderling.operate.pairs import MoveBatch, PairBatch
from sanderling.operate.readings import LastReadings
from sanderling.plan.plans import BOX, StreamPlan

Bools = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


class FocalPlaces:
    """Where the plan's focal objects are, NaN where one is not; changes as their moves are applied."""

    def __init__(self, plan: StreamPlan, focals: LastReadings, rows: I64):
        self.plan = plan
        self.focals = focals
        numbers = pc.index_in(focals.keys, value_set=plan.focals)
        self.number_of = np.asarray(numbers.to_numpy(zero_copy_only=False), np.int64)
        self.x, self.y = np.full(len(plan.focals), np.nan), np.full(len(plan.focals), np.nan)
        known = self.number_of[: len(rows)]
        self.x[known], self.y[known] = focals.places(rows)

    def geometry(self, ids: I64) -> Geometry:
        """Moving regions as they are now."""
        r = self.plan.regions
        x, y = self.x[r.focal[ids]], self.y[r.focal[ids]]
        is_box = r.kind[ids] == BOX
        kind = np.where(np.isnan(x), ABSENT, np.where(is_box, CENTRED, DISC)).astype(np.int8)
        return Geometry(kind, x, y, np.where(is_box, r.a[ids] / 2, r.a[ids]), r.b[ids] / 2)

    def move(self, moves: MoveBatch) -> Bools:
        """Applies the moves of one tick; which focal objects are elsewhere than before."""
        numbers = self.number_of[moves.object]
        x, y = self.focals.places(moves.new_row)
        is_same = (self.x[numbers] == x) & (self.y[numbers] == y) | np.isnan(self.x[numbers]) & np.isnan(x)
        has_moved = np.zeros(len(self.x), np.bool_)
        has_moved[numbers] = ~is_same
        self.x[numbers], self.y[numbers] = x, y
        return has_moved


class ObjectPlaces:
    """Where all objects are between two ticks, and what conditions they satisfy."""

    def __init__(self, asks: Asks, objects: LastReadings, rows_before: I64):
        self.rows = np.full(len(objects.row_of), -1)
        self.rows[: len(rows_before)] = rows_before
        self.x, self.y = objects.places(self.rows)
        self.holds = asks.truth(objects, self.rows)

    def move(self, moves: MoveBatch, columns: Moves) -> None:
        self.rows[moves.object] = moves.new_row
        self.x[moves.object], self.y[moves.object] = columns.new_x, columns.new_y
        self.holds[:, moves.object] = columns.holds

    def without(self, objects: I64) -> tuple[I64, Moves]:
        """All present objects but some, as moves that lead nowhere."""
        is_still = self.rows >= 0
        is_still[objects] = False
        still = np.flatnonzero(is_still)
        x, y, holds = self.x[still], self.y[still], np.ascontiguousarray(self.holds[:, still])
        return still, Moves(still, x, y, x, y, np.zeros(len(still), np.uint64), holds, holds)


def join_moving(
    ids: I64, asks: Asks, moves: MoveBatch, columns: Moves, objects: LastReadings, rows_before: I64,
    focal_moves: MoveBatch, focals: LastReadings, focal_rows_before: I64,
) -> list[PairBatch]:  # fmt: skip
    """Pairs of objects and moving regions that entered, left or stayed with a watched change."""
    rules = asks.rules(ids, objects)
    places = ObjectPlaces(asks, objects, rows_before)
    focal_places = FocalPlaces(asks.plan, focals, focal_rows_before)
    geometry = focal_places.geometry(ids)
    grid = build_grid(geometry)
    pairs = []
    for tick in np.unique(np.concatenate([moves.tick, focal_moves.tick])):
        first, last = np.searchsorted(moves.tick, (tick, tick + 1))
        these, here = moves.slice(first, last), columns.slice(first, last)
        old_geometry, old_grid = geometry, grid
        first, last = np.searchsorted(focal_moves.tick, (tick, tick + 1))
        has_moved = focal_places.move(focal_moves.slice(first, last))
        if has_moved.any():
            geometry = focal_places.geometry(ids)
            grid = build_grid(geometry, old_grid.cell)
        if len(these):
            found = cross(here, rules, old_geometry, old_grid, geometry, grid)
            pairs.append(PairBatch.of(found, these, here.changed, ids))
        affected = np.flatnonzero(has_moved[asks.plan.regions.focal[ids]])
        if len(affected):
            pairs.append(_sweep(tick, places, these, rules, affected, old_geometry, geometry, ids))
        places.move(these, here)
    return pairs


def _sweep(
    tick: int, places: ObjectPlaces, moved: MoveBatch, rules: Rules, affected: I64,
    old: Geometry, new: Geometry, ids: I64,
) -> PairBatch:  # fmt: skip
    """Objects that did not move, under regions that did."""
    still, moves = places.without(moved.object)
    old, new = old.take(affected), new.take(affected)
    found = cross(moves, rules.take(affected), old, build_grid(old), new, build_grid(new))
    rows = places.rows[still]
    nowhere = MoveBatch(np.full(len(still), tick), still, rows, rows)
    return PairBatch.of(found, nowhere, moves.changed, ids[affected])
