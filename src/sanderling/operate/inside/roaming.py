"""Regions on the globe that move with a focal object, and whom they meet: tick by tick.

In each tick:
  moved objects ──► regions as they were, and as they are ──► left, stayed with a watched change, entered
  still objects ──► regions that moved, before and after  ──► left, entered

Unlike on a plane (moving.py), regions are in a grid that is made for each tick: how many degrees a metre has
depends on where a region is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.inside.cross import Moves, Rules, cross
from sanderling.kernels.inside.grid import Grid, build_grid, no_grid
from sanderling.operate.inside.meet import WORTH_A_GRID
from sanderling.operate.readings.pairs import Found, MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.asks import Asks
from sanderling.space.geometry import Geometry
from sanderling.space.outlines.raster import NO_RASTERS


@dataclass(slots=True)
class Roaming:
    """Some regions that move on the globe. Follows from the readings; never saved."""

    ids: I64
    asks: Asks
    focal_x: F64
    focal_y: F64
    holds: Bools  # conditions × objects
    is_scattered: bool = False

    @classmethod
    def of(cls, ids: I64, asks: Asks, objects: LastReadings, focals: LastReadings) -> Roaming:
        """As everything is now."""
        x, y = focals.all_places()
        return cls(ids, asks, x, y, asks.truth(objects, objects.row_of))

    def settle(
        self, moves: MoveBatch, focal_moves: MoveBatch, objects: LastReadings, focals: LastReadings
    ) -> None:
        """Everything is where it is now, whatever it met on its way."""
        self.focal_x, self.focal_y = focals.all_places()
        self.holds = self.asks.truth(objects, objects.row_of)

    def meet(
        self, moves: MoveBatch, columns: Moves, rows_before: I64, objects: LastReadings,
        focal_moves: MoveBatch, focals: LastReadings,
    ) -> PairBatch:  # fmt: skip
        """Pairs of objects and regions that entered, left or stayed with a watched change."""
        rows = np.full(len(objects.row_of), -1)
        rows[: len(rows_before)] = rows_before
        holds = np.zeros((len(self.holds), len(rows)), np.bool_)
        holds[:, : self.holds.shape[1]] = self.holds
        self.holds = holds
        rules = self.asks.rules(self.ids, objects)
        found: list[PairBatch] = []
        old = self._geometry()
        for tick in np.unique(np.concatenate([moves.tick, focal_moves.tick])):
            m, m_end = np.searchsorted(moves.tick, (tick, tick + 1))
            f, f_end = np.searchsorted(focal_moves.tick, (tick, tick + 1))
            moved = self._move(focal_moves.object[f:f_end], focals.places(focal_moves.new_row[f:f_end]))
            new = self._geometry() if len(moved) else old
            some = slice(m, m_end)
            if m < m_end:
                met = _met(_part(columns, some), rules, old, new)
                batch = _batch(moves, some)
                found.append(PairBatch.of(met, batch, columns.changed[some], self.ids))
            if len(moved):
                found.append(
                    self._passed(int(tick), moved, moves.object[some], rows, rules, old, new, objects)
                )
            who = moves.object[some]
            rows[who], self.holds[:, who] = moves.new_row[some], columns.holds[:, some]
            old = new
        return PairBatch.concat(found) if found else _nobody()

    def _geometry(self) -> Geometry:
        return self.asks.plan.regions.at(self.ids, (self.focal_x, self.focal_y))

    def _move(self, who: I64, places: tuple[F64, F64]) -> I64:
        """Focal objects are there now; gives the regions that moved with them, by place in `ids`."""
        x, y = places
        has_moved = np.zeros(len(self.focal_x), np.bool_)
        is_other = (self.focal_x[who] != x) | (self.focal_y[who] != y)
        has_moved[who[is_other]] = True
        self.focal_x[who], self.focal_y[who] = x, y
        return np.flatnonzero(has_moved[self.asks.plan.regions.focal[self.ids]])

    def _passed(
        self, tick: int, moved: I64, movers: I64, rows: I64, rules: Rules, old: Geometry, new: Geometry,
        objects: LastReadings,
    ) -> PairBatch:  # fmt: skip
        """Objects that stood still, and the regions that came over them or left them."""
        is_still = rows >= 0
        is_still[movers] = False
        who = np.flatnonzero(is_still)
        x, y = objects.places(rows[who])
        nothing, holds = np.zeros(len(who), np.uint64), self.holds[:, who]
        moves = Moves(who, x, y, x, y, nothing, holds, holds)
        some = Rules(rules.watch[moved], rules.condition[moved], rules.without[moved])
        before, after = (
            Geometry(g.kind[moved], g.a[moved], g.b[moved], g.c[moved], g.d[moved]) for g in (old, new)
        )
        met = _met(moves, some, before, after)
        batch = MoveBatch(np.full(len(who), tick), who, rows[who], rows[who])
        return PairBatch.of(met, batch, nothing, self.ids[moved])


def _met(moves: Moves, rules: Rules, old: Geometry, new: Geometry) -> Found:
    first = _grid(old, len(moves.object))
    second = first if new is old else _grid(new, len(moves.object))
    return cross(moves, rules, old, first, new, second, NO_RASTERS)


def _grid(geometry: Geometry, places: int) -> Grid:
    return build_grid(geometry) if places >= WORTH_A_GRID else no_grid(geometry)


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
