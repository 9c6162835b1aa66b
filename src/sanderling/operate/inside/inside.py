"""INSIDE: who is in which region, told as entries (+1) and exits (-1).

moved objects ──► regions over the old place ──► minus ──► -1 left
              └─► regions over the new place ──► minus ──► +1 entered
still objects ──► regions that moved, before and after ──► the same two
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I64, Bools
from sanderling.batches import DeltaBatch
from sanderling.figures import Figures
from sanderling.kernels.inside.cross import Moves, cross
from sanderling.kernels.inside.grid import Geometry, Grid, build_grid
from sanderling.operate.inside.moving import MovingRegions, moving_geometry
from sanderling.operate.inside.tell import Tell
from sanderling.operate.readings.pairs import MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.asks import Asks
from sanderling.operate.where.orders import Ordered, Orders
from sanderling.operate.where.probe import a_few, found, taken
from sanderling.plans.plan import NEVER, StreamPlan


@dataclass(slots=True)
class InsideState:
    """Which regions live now, a grid over those that stand still, and where the others are.

    All of it follows from the plan, the clock and the last readings, so it is rebuilt rather than saved.
    """

    is_live: Bools
    still_ids: I64
    geometry: Geometry
    grid: Grid
    moving: MovingRegions | None


class Inside:
    """Joins moved objects with moved regions, for all range queries of a stream at once.

    Promises (tests/properties/test_inside.py):
      exact     changes = difference of two answers computed from scratch
      chunking  cutting the input elsewhere gives the same changes per tick
      cost      what did not move is not touched
    """

    def __init__(
        self, plan: StreamPlan, polygons: npt.NDArray[np.object_], figures: Figures | None = None,
        orders: Orders | None = None,
    ):  # fmt: skip
        self.plan = plan
        self.asks = Asks(plan, figures=figures, orders=orders)
        self.polygons = polygons
        self.tell = Tell(plan, self.asks, self.polygons)
        # Where kNN looks for the nearest is its own affair, and so is what windows hold.
        self.is_range = ~plan.is_windowed
        self.is_range[plan.nearest.region] = False

    # ----- which regions live

    def new_state(
        self, closed_to: int, objects: LastReadings, focals: LastReadings, ready: int = NEVER
    ) -> InsideState:
        """The state after the tick `closed_to`: what has begun and not ended lives.

        Versions from the number `ready` on have not begun, whatever the plan says.
        """
        return self._with_live(self.plan.regions.lives(closed_to, ready) & self.is_range, objects, focals)

    def _with_live(self, is_live: Bools, objects: LastReadings, focals: LastReadings) -> InsideState:
        is_moving = self.plan.regions.focal >= 0
        still, moving = np.flatnonzero(is_live & ~is_moving), np.flatnonzero(is_live & is_moving)
        geometry = self._geometry(still)
        movers = MovingRegions.of(moving, self.asks, objects, focals) if len(moving) else None
        return InsideState(is_live, still, geometry, build_grid(geometry), movers)

    def _geometry(self, ids: I64) -> Geometry:
        r = self.plan.regions
        return Geometry(r.kind[ids], r.a[ids], r.b[ids], r.c[ids], r.d[ids])

    def ended(
        self, state: InsideState, tick: int, objects: LastReadings, focals: LastReadings, ready: int = NEVER
    ) -> tuple[InsideState, list[DeltaBatch]]:
        """Before the moves of `tick`: queries that end at it say nothing more.

        A region whose row is gone from its table takes back what it held.
        """
        r = self.plan.regions
        is_over, is_gone = r.end <= tick, r.is_gone(tick, ready)
        is_ending = state.is_live & (is_over | is_gone)
        if not is_ending.any():
            return state, []
        told = self._whole(is_ending & ~is_over, tick, objects, focals, are_leaving=True)
        return self._with_live(state.is_live & ~is_ending, objects, focals), told

    def begun(
        self, state: InsideState, tick: int, objects: LastReadings, focals: LastReadings, ready: int = NEVER
    ) -> tuple[InsideState, list[DeltaBatch]]:
        """After the moves of `tick`: what begins at it begins with all that it holds."""
        is_beginning = ~state.is_live & self.plan.regions.lives(tick, ready) & self.is_range
        if not is_beginning.any():
            return state, []
        live = self._with_live(state.is_live | is_beginning, objects, focals)
        return live, self._whole(is_beginning, tick, objects, focals)

    def answer(
        self, state: InsideState, queries: list[int], tick: int, objects: LastReadings, focals: LastReadings
    ) -> list[DeltaBatch]:
        """The whole answers of those of the queries that live, as at the last tick that closed."""
        is_asked = state.is_live & np.isin(self.plan.regions.query, queries)
        return self._whole(is_asked, tick, objects, focals)

    def _whole(
        self, is_wanted: Bools, tick: int, objects: LastReadings, focals: LastReadings,
        are_leaving: bool = False,
    ) -> list[DeltaBatch]:  # fmt: skip
        """All that some regions hold now, as if everybody had just arrived, or were leaving."""
        if not is_wanted.any():
            return []
        r = self.plan.regions
        present = np.flatnonzero(objects.row_of >= 0)
        rows = objects.row_of[present]
        sides = (rows, np.full(len(rows), -1)) if are_leaving else (np.full(len(rows), -1), rows)
        everybody = MoveBatch(np.full(len(rows), tick), present, *sides)
        moves = self.asks.moves(everybody, objects)
        still, moving = (
            np.flatnonzero(is_wanted & (r.focal < 0)),
            np.flatnonzero(is_wanted & (r.focal >= 0)),
        )
        pairs = []
        for ids, geometry in (
            (still, self._geometry(still)),
            (moving, moving_geometry(self.plan, moving, focals)),
        ):
            grid = build_grid(geometry)
            met = cross(moves, self.asks.rules(ids, objects), geometry, grid, geometry, grid)
            pairs.append(PairBatch.of(met, everybody, moves.changed, ids))
        return self.tell.rows(pairs, objects)

    # ----- what changes

    def apply(
        self, state: InsideState, moves: MoveBatch, columns: Moves, objects: LastReadings,
        rows_before: I64, focal_moves: MoveBatch, focals: LastReadings,
    ) -> list[DeltaBatch]:  # fmt: skip
        """The changes of all live queries over the ticks of `moves` and `focal_moves`."""
        pairs = []
        if len(state.still_ids) and len(moves):
            rules = self.asks.rules(state.still_ids, objects)
            met = cross(columns, rules, state.geometry, state.grid, state.geometry, state.grid)
            pairs.append(PairBatch.of(met, moves, columns.changed, state.still_ids))
        if state.moving is not None:
            pairs.append(state.moving.meet(moves, columns, rows_before, objects, focal_moves, focals))
            if state.moving.is_scattered:
                state.moving = MovingRegions.of(state.moving.ids, self.asks, objects, focals)
        return self.tell.rows(pairs, objects)

    # ----- what there would be

    def probe(self, state: InsideState, due: list[Ordered], columns: Moves, focals: LastReadings) -> None:
        """What some templates would find by place alone, among a few of the moves."""
        r = self.plan.regions
        for ordered in due:
            mine = state.is_live & (r.template == ordered.template.id)
            some = a_few(len(columns.object), int(mine.sum()))
            few = taken(columns, some)
            ordered.counts.sampled += 2 * len(some)
            still, moving = np.flatnonzero(mine & (r.focal < 0)), np.flatnonzero(mine & (r.focal >= 0))
            for ids, geometry in (
                (still, self._geometry(still)),
                (moving, moving_geometry(self.plan, moving, focals)),
            ):
                ordered.counts.found += found(few, self.asks.watch_by_pair[ids], geometry)
