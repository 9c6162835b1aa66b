"""INSIDE: who is in which region, told as entries (+1) and exits (-1).

moved objects ──► regions over the old place ──► minus ──► -1 left
              └─► regions over the new place ──► minus ──► +1 entered
still objects ──► regions that moved, before and after ──► the same two (moving.py, posed.py)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.batches import Batch
from sanderling.kernels.inside.board import Board, build_board, cross_still
from sanderling.kernels.inside.cross import cross
from sanderling.kernels.inside.grid import Grid, build_grid
from sanderling.operate.inside.moving import MovingRegions
from sanderling.operate.inside.posed import PosedRegions, exact
from sanderling.operate.inside.roaming import Roaming
from sanderling.operate.inside.tell import Tell
from sanderling.operate.operator import Turned
from sanderling.operate.readings.pairs import MoveBatch, PairBatch
from sanderling.operate.shard.now import Moved, Now, Settled
from sanderling.operate.where.asks import Asks
from sanderling.operate.where.orders import Ordered
from sanderling.operate.where.probe import a_few, found, taken
from sanderling.plans import operator_ids
from sanderling.plans.plan import Over, StreamPlan
from sanderling.space.geometry import Geometry
from sanderling.space.outlines.polygons import Polygons
from sanderling.space.outlines.raster import Rasters


@dataclass(slots=True)
class InsideState:
    """Which regions live now, a board or a grid over those that stand still, and where the others are.

    All of it follows from the plan, the clock and the last readings, so it is rebuilt rather than saved.
    """

    is_live: Bools
    still_ids: I64
    geometry: Geometry
    over: Board | Grid
    rasters: Rasters
    moving: MovingRegions | Roaming | None
    posed: PosedRegions | None


class Inside:
    """Joins moved objects with moved regions, for all range queries of a stream at once.

    Promises (tests/properties/test_inside.py):
      exact     changes = difference of two answers computed from scratch
      chunking  cutting the input elsewhere gives the same changes per tick
      cost      what did not move is not touched
    """

    def __init__(self, plan: StreamPlan, asks: Asks, polygons: Polygons):
        self.plan = plan
        self.asks = asks
        self.tell = Tell(plan, asks, polygons)
        self.movers: type[MovingRegions] | type[Roaming] = Roaming if plan.stream.is_globe else MovingRegions
        # Where kNN looks for the nearest is its own affair, and what a pattern waits for is waited.py's.
        self.is_range = plan.is_over(Over.NOW) & ~plan.is_waited
        self.is_range[plan.nearest.region] = False
        self.is_posed = polygons.poses.is_posed

    # ----- which regions live

    def new_state(self, at: Now) -> InsideState:
        """What has begun and not ended lives."""
        return self._with_live(self.plan.regions.lives(at.closed_to, at.ready) & self.is_range, at)

    def _with_live(self, is_live: Bools, now: Now) -> InsideState:
        is_moving, is_posed = self.plan.regions.focal >= 0, self.is_posed
        still, moving, posed = (
            np.flatnonzero(is_live & some)
            for some in (~is_moving & ~is_posed, is_moving & ~is_posed, is_posed)
        )  # fmt: skip
        geometry = self.plan.regions.written(still)
        movers = self.movers.of(moving, self.asks, now.objects, now.focals) if len(moving) else None
        rasters = self.tell.polygons.rasters_of(still)
        over: Board | Grid = build_board(geometry) or build_grid(geometry, does_last=True)
        changing = PosedRegions.of(posed, self.asks, self.tell.polygons, now) if len(posed) else None
        return InsideState(is_live, still, geometry, over, rasters, movers, changing)

    def end(self, state: InsideState, tick: int, now: Now) -> Turned:
        r = self.plan.regions
        is_over, is_gone = r.end <= tick, r.is_gone(tick, now.ready)
        is_ending = state.is_live & (is_over | is_gone)
        if not is_ending.any():
            return Turned(state, [])
        told = self._whole(is_ending & ~is_over, tick, now, are_leaving=True)
        return Turned(self._with_live(state.is_live & ~is_ending, now), told)

    def begin(self, state: InsideState, tick: int, now: Now) -> Turned:
        is_beginning = ~state.is_live & self.plan.regions.lives(tick, now.ready) & self.is_range
        if not is_beginning.any():
            return Turned(state, [])
        live = self._with_live(state.is_live | is_beginning, now)
        return Turned(live, self._whole(is_beginning, tick, now))

    def answer(self, state: InsideState, queries: list[int], now: Now) -> list[Batch]:
        is_asked = state.is_live & np.isin(self.plan.regions.query, queries)
        return self._whole(is_asked, now.closed_to, now)

    def _whole(self, is_wanted: Bools, tick: int, now: Now, are_leaving: bool = False) -> list[Batch]:
        """All that some regions hold now, as if everybody had just arrived, or were leaving."""
        if not is_wanted.any():
            return []
        r, objects = self.plan.regions, now.objects
        present = np.flatnonzero(objects.row_of >= 0)
        rows = objects.row_of[present]
        sides = (rows, np.full(len(rows), -1)) if are_leaving else (np.full(len(rows), -1), rows)
        everybody = MoveBatch(np.full(len(rows), tick), present, *sides)
        moves = self.asks.moves(everybody, objects)
        polygons, is_still = self.tell.polygons, (r.focal < 0) & ~self.is_posed
        pairs = []
        for ids in (np.flatnonzero(is_wanted & is_still), np.flatnonzero(is_wanted & ~is_still)):
            geometry = r.posed(ids, polygons.poses, now.focals.all_places(), now.closed_to)
            grid = build_grid(geometry)
            met = cross(
                moves, self.asks.rules(ids, objects), geometry, grid, geometry, grid, polygons.rasters_of(ids)
            )
            if len(geometry.pose):
                met = exact(met, moves, geometry, geometry, ids, polygons)
            pairs.append(PairBatch.of(met, everybody, moves.changed, ids))
        return self.tell.rows(pairs, objects)

    # ----- what changes

    def apply(self, state: InsideState, given: Moved) -> list[Batch]:
        """The changes of all live queries over the ticks that have just closed."""
        self._probe(state, [o for o in given.due if o.template.over is Over.NOW], given)
        name = operator_ids.inside_all(self.plan.stream.name)
        self.asks.figures.add(name, len(given.moves))
        with self.asks.figures.timed(name):
            return self._changes(state, given)

    def _changes(self, state: InsideState, given: Moved) -> list[Batch]:
        moves, columns, objects, focals = given.moves, given.columns, given.now.objects, given.now.focals
        pairs = []
        if len(state.still_ids) and len(moves):
            rules, over = self.asks.rules(state.still_ids, objects), state.over
            if isinstance(over, Board):
                met = cross_still(columns, rules, over, state.rasters)
            else:
                met = cross(columns, rules, state.geometry, over, state.geometry, over, state.rasters)
            pairs.append(PairBatch.of(met, moves, columns.changed, state.still_ids))
        if state.moving is not None:
            pairs.append(
                state.moving.meet(moves, columns, given.rows_before, objects, given.focal_moves, focals)
            )
            if state.moving.is_scattered:
                state.moving = self.movers.of(state.moving.ids, self.asks, objects, focals)
        if state.posed is not None:
            pairs += state.posed.meet(given)
        return self.tell.rows(pairs, objects)

    def settle(self, state: InsideState, settled: Settled) -> None:
        if state.moving is not None:
            now = settled.now
            state.moving.settle(settled.moves, settled.focal_moves, now.objects, now.focals)
        if state.posed is not None:
            state.posed.settle(settled.now)

    def places_objects(self, state: InsideState) -> bool:
        """Only where regions move."""
        return state.moving is not None

    # ----- what there would be

    def _probe(self, state: InsideState, due: list[Ordered], given: Moved) -> None:
        """What some templates would find by place alone, among a few of the moves."""
        r, columns = self.plan.regions, given.columns
        for ordered in due:
            mine = np.flatnonzero(state.is_live & (r.template == ordered.template.id))
            some = a_few(len(columns.object), len(mine))
            ordered.counts.sampled += 2 * len(some)
            poses, places = self.tell.polygons.poses, given.now.focals.all_places()
            geometry = r.posed(mine, poses, places, given.now.closed_to)
            watch = self.asks.watch_by_pair[mine]
            rasters = self.tell.polygons.rasters_of(mine)
            ordered.counts.found += found(taken(columns, some), watch, geometry, rasters)
