"""Regions on the globe that move with a focal object, and whom they meet: tick by tick.

In each tick:
  moved objects ──► regions that have stood still for long  ──► left, stayed with a watched change, entered
               └──► those that moved lately, before and after ──► the same
  still objects ──► regions that moved, before and after ──► left, entered

Unlike on a plane (moving.py), regions are in grids of degrees, as still ones are: how many degrees a metre
has depends on where a region is. A grid lasts until too many of its regions have moved. Objects are in cells
of the flat map, where those near a region that moved are found; where many regions move, all are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.inside.cross import Moves, Rules, cross
from sanderling.kernels.inside.grid import Grid, build_grid, no_grid
from sanderling.kernels.nearest.cells import Cells, near_any, no_cells, put_all
from sanderling.operate.inside.meet import WORTH_A_GRID
from sanderling.operate.readings.pairs import Found, MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.asks import Asks
from sanderling.space.geometry import Geometry
from sanderling.space.metric import laid_flat
from sanderling.space.moving.motion import placed
from sanderling.space.outlines.raster import NO_RASTERS
from sanderling.space.sizes import map_boxes, map_reaches

# A grid is made anew when one in so many of its regions is not where it was.
LASTS = 4
# Cells are asked where as many objects as this stand still for each region that moved.
WORTH_CELLS = 8


@dataclass(slots=True)
class Roaming:
    """Some regions that move on the globe. Follows from the readings; never saved."""

    ids: I64
    asks: Asks
    focal_x: F64
    focal_y: F64
    holds: Bools  # conditions × objects
    geometry: Geometry
    written: Geometry  # around nothing
    grid: Grid | None  # over regions where they were when it was made
    is_loose: Bools  # which of them are not there any more
    cells: Cells  # of objects
    is_scattered: bool = False

    @classmethod
    def of(cls, ids: I64, asks: Asks, objects: LastReadings, focals: LastReadings) -> Roaming:
        """As everything is now."""
        x, y = focals.all_places()
        written = asks.plan.regions.written(ids)
        geometry = asks.plan.regions.at(ids, (x, y))
        cells = _cells(geometry, len(objects.row_of))
        truth = asks.truth(objects, objects.row_of)
        nothing = np.zeros(len(ids), np.bool_)
        made = cls(ids, asks, x, y, truth, geometry, written, None, nothing, cells)
        made._put(np.arange(len(objects.row_of)), objects.all_places())
        return made

    def settle(
        self, moves: MoveBatch, focal_moves: MoveBatch, objects: LastReadings, focals: LastReadings
    ) -> None:
        """Everything is where it is now, whatever it met on its way."""
        now = Roaming.of(self.ids, self.asks, objects, focals)
        self.focal_x, self.focal_y, self.holds = now.focal_x, now.focal_y, now.holds
        self.geometry, self.grid, self.is_loose, self.cells = now.geometry, None, now.is_loose, now.cells

    def meet(
        self, moves: MoveBatch, columns: Moves, rows_before: I64, objects: LastReadings,
        focal_moves: MoveBatch, focals: LastReadings,
    ) -> PairBatch:  # fmt: skip
        """Pairs of objects and regions that entered, left or stayed with a watched change."""
        rows = np.full(len(objects.row_of), -1)
        rows[: len(rows_before)] = rows_before
        self._take_in(len(rows))
        rules = self.asks.rules(self.ids, objects)
        found: list[PairBatch] = []
        for tick in np.unique(np.concatenate([moves.tick, focal_moves.tick])):
            m, m_end = np.searchsorted(moves.tick, (tick, tick + 1))
            f, f_end = np.searchsorted(focal_moves.tick, (tick, tick + 1))
            old = self.geometry
            moved = self._move(focal_moves.object[f:f_end], focals.places(focal_moves.new_row[f:f_end]))
            some = slice(m, m_end)
            who = moves.object[some]
            if m < m_end:
                found += self._met(_part(columns, some), _batch(moves, some), rules, old, moved)
            if len(moved):
                found.append(self._passed(int(tick), moved, who, rows, rules, old, objects))
            rows[who], self.holds[:, who] = moves.new_row[some], columns.holds[:, some]
            self._put(who, (columns.new_x[some], columns.new_y[some]))
        return PairBatch.concat(found) if found else _nobody()

    def _take_in(self, n: int) -> None:
        """Objects seen for the first time get room."""
        holds = np.zeros((len(self.holds), n), np.bool_)
        holds[:, : self.holds.shape[1]] = self.holds
        self.holds = holds
        if n > len(self.cells.level):
            old = self.cells
            self.cells = _cells(self.geometry, 2 * n)
            put_all(self.cells, np.arange(len(old.level)), old.place)

    def _put(self, who: I64, places: tuple[F64, F64]) -> None:
        put_all(self.cells, who, np.stack(laid_flat(*places, True), axis=1))

    def _move(self, who: I64, places: tuple[F64, F64]) -> I64:
        """Focal objects are there now; gives the regions that moved with them, by place in `ids`."""
        x, y = places
        has_moved = np.zeros(len(self.focal_x), np.bool_)
        is_other = (self.focal_x[who] != x) | (self.focal_y[who] != y)
        has_moved[who[is_other]] = True
        self.focal_x[who], self.focal_y[who] = x, y
        moved = np.flatnonzero(has_moved[self.asks.plan.regions.focal[self.ids]])
        if len(moved):
            focal = self.asks.plan.regions.focal[self.ids[moved]]
            now = placed(_taken(self.written, moved), focal, (self.focal_x, self.focal_y))
            self.geometry = _with(self.geometry, moved, now)
            self.is_loose[moved] = True
        return moved

    def _met(
        self, moves: Moves, batch: MoveBatch, rules: Rules, old: Geometry, moved: I64
    ) -> list[PairBatch]:
        """Those who moved, and all regions."""
        new, n = self.geometry, len(self.ids)
        are_few = self.grid is None and len(moves.object) < WORTH_A_GRID
        if are_few or len(moved) * LASTS > n:
            met = _met(moves, rules, old, new)
            return [PairBatch.of(met, batch, moves.changed, self.ids)]
        if self.grid is None or np.count_nonzero(self.is_loose) * LASTS > n:
            self.grid, self.is_loose[:] = build_grid(new), False
            self.is_loose[moved] = True
        loose = np.flatnonzero(self.is_loose)
        fixed = new._replace(a=np.where(self.is_loose, np.nan, new.a))
        met = cross(moves, rules, fixed, self.grid, fixed, self.grid, NO_RASTERS)
        found = [PairBatch.of(met, batch, moves.changed, self.ids)]
        if len(loose):
            met = _met(moves, _of(rules, loose), _taken(old, loose), _taken(new, loose))
            found.append(PairBatch.of(met, batch, moves.changed, self.ids[loose]))
        return found

    def _passed(
        self, tick: int, moved: I64, movers: I64, rows: I64, rules: Rules, old: Geometry,
        objects: LastReadings,
    ) -> PairBatch:  # fmt: skip
        """Objects that stood still, and the regions that came over them or left them."""
        before, after = _taken(old, moved), _taken(self.geometry, moved)
        is_still = rows >= 0
        is_still[movers] = False
        if len(moved) * WORTH_CELLS < len(rows):
            boxes = np.concatenate([map_boxes(before), map_boxes(after)])
            is_still &= near_any(self.cells, boxes)[: len(rows)]
        who = np.flatnonzero(is_still)
        x, y = objects.places(rows[who])
        nothing, holds = np.zeros(len(who), np.uint64), self.holds[:, who]
        moves = Moves(who, x, y, x, y, nothing, holds, holds)
        met = _met(moves, _of(rules, moved), before, after)
        batch = MoveBatch(np.full(len(who), tick), who, rows[who], rows[who])
        return PairBatch.of(met, batch, nothing, self.ids[moved])


def _cells(geometry: Geometry, n: int) -> Cells:
    """Room for so many objects, in cells about as large as a region."""
    reach = map_reaches(geometry)
    size = max(float(np.median(reach)), 1.0)
    return no_cells(np.array([2 * size]), np.zeros(n, np.int32))


def _met(moves: Moves, rules: Rules, old: Geometry, new: Geometry) -> Found:
    first = _grid(old, len(moves.object))
    second = first if new is old else _grid(new, len(moves.object))
    return cross(moves, rules, old, first, new, second, NO_RASTERS)


def _grid(geometry: Geometry, places: int) -> Grid:
    return build_grid(geometry) if places >= WORTH_A_GRID else no_grid(geometry)


def _taken(g: Geometry, some: I64) -> Geometry:
    return Geometry(g.kind[some], g.a[some], g.b[some], g.c[some], g.d[some])


def _with(g: Geometry, some: I64, now: Geometry) -> Geometry:
    """With some that are elsewhere now."""
    a, b, c = g.a.copy(), g.b.copy(), g.c.copy()
    a[some], b[some], c[some] = now.a, now.b, now.c
    return Geometry(g.kind, a, b, c, g.d)


def _of(rules: Rules, some: I64) -> Rules:
    return Rules(rules.watch[some], rules.condition[some], rules.without[some])


def _part(columns: Moves, some: slice) -> Moves:
    return Moves(
        columns.object[some], columns.old_x[some], columns.old_y[some], columns.new_x[some],
        columns.new_y[some], columns.changed[some], columns.held[:, some], columns.holds[:, some],
    )  # fmt: skip


def _batch(moves: MoveBatch, some: slice) -> MoveBatch:
    return MoveBatch(moves.tick[some], moves.object[some], moves.old_row[some], moves.new_row[some])


def _nobody() -> PairBatch:
    none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
    return PairBatch(none, none, none, none, no, no, np.empty(0, np.uint64))
