"""Regions that move with a focal object: where they and the objects are, kept from tick to tick.

In each tick objects meet the regions as they are in that tick; so, unlike for regions that stand
still, the ticks of a batch are taken one by one, in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sanderling.arrays import F64, I8, I32, I64
from sanderling.kernels.inside.cross import Moves
from sanderling.kernels.inside.follow import FocalMoves, Followers, Stage, follow
from sanderling.kernels.nearest.cells import Cells, no_cells, put_all
from sanderling.operate.readings.pairs import MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.asks import Asks
from sanderling.space.sizes import reaches

# Cells in sides of a region. Larger ones are shared by more objects that look from the same place, smaller
# ones hold fewer that are looked at in vain (benchmarks/follow_kernel.py).
REGION_CELL, OBJECT_CELL = 1.0, 0.7

# Regions beside each other are beside each other in memory (30 % less time for 100,000), for as many moves.
ORDER_LASTS = 64
WORTH_ORDERING = 1_000


@dataclass(slots=True)
class MovingRegions:
    """Some moving regions, and the objects they pass over. Follows from the readings; never saved."""

    ids: I64
    asks: Asks
    followers: Followers
    stage: Stage
    rank: I64  # of focal objects by where they were at first: the followers count them by it
    placed: int  # regions that were somewhere at first
    known: int = 0  # objects whose keys were compared with the focal objects'
    moved: int = 0  # focal objects, since then

    @classmethod
    def of(cls, ids: I64, asks: Asks, objects: LastReadings, focals: LastReadings) -> MovingRegions:
        """As everything is now."""
        plan = asks.plan
        written = plan.regions.written(ids)
        rank = _neighbours_together(focals, float(np.median(np.maximum(written.c, written.d))))
        ids = ids[np.argsort(rank[plan.regions.focal[ids]], kind="stable")]
        kind, x, y, c, d, _ = plan.regions.at(ids, focals.all_places())
        cell, level, reach_w, reach_h = levels(kind, c, d)
        places = np.stack([x, y], axis=1)
        focal = rank[plan.regions.focal[ids]]
        first = np.searchsorted(focal, np.arange(len(plan.focals) + 1))
        followers = Followers(
            first, focal, kind, asks.condition_of[ids].astype(np.int32), asks.watch[ids], reach_w, reach_h
        )
        regions = no_cells(cell, level)
        put_all(regions, np.arange(len(ids)), places)
        aside = np.column_stack([places, c, d])
        room = no_cells(np.array([np.median(cell[level]) * OBJECT_CELL / REGION_CELL]), np.zeros(0, np.int32))
        none = np.zeros(0, np.int64)
        holds = np.zeros((len(asks.conditions) + 1, 0), np.bool_)
        stage = Stage(regions, aside, room, np.full(len(plan.focals), -1), none, holds, np.zeros(1, np.int64))
        made = cls(ids, asks, followers, stage, rank, int(np.count_nonzero(~np.isnan(places[:, 0]))))
        made._take_in(objects, focals, objects.row_of)
        put_all(
            made.stage.objects,
            np.arange(len(objects.row_of)),
            np.stack(objects.places(objects.row_of), axis=1),
        )
        made.stage.present[0] = np.count_nonzero(objects.row_of >= 0)
        made.stage.holds[:, : len(objects.row_of)] = asks.truth(objects, objects.row_of)
        return made

    @property
    def is_scattered(self) -> bool:
        """Whether neighbours in space may no longer be neighbours in memory."""
        return self.moved > ORDER_LASTS * self.placed + WORTH_ORDERING

    def _take_in(self, objects: LastReadings, focals: LastReadings, rows: I64) -> None:
        """Objects seen for the first time get room, and are told apart from focal objects."""
        n, stage = len(objects.row_of), self.stage
        if n > self.known:
            focal = focals.keys.find(objects.keys.all.slice(self.known))
            is_focal = focal >= 0
            stage.own[self.rank[focal[is_focal]]] = np.flatnonzero(is_focal) + self.known
            self.known = n
        if n > len(stage.objects.level):
            cells, holds = _grown(stage.objects, 2 * n), np.zeros((len(stage.holds), 2 * n), np.bool_)
            holds[:, : stage.holds.shape[1]] = stage.holds
            stage = stage._replace(objects=cells, holds=holds)
        self.stage = stage._replace(row=rows)

    def settle(
        self, moves: MoveBatch, focal_moves: MoveBatch, objects: LastReadings, focals: LastReadings
    ) -> None:
        """Everything is where it is now, whatever it met on its way."""
        self._take_in(objects, focals, objects.row_of)
        stage, first = self.stage, self.followers.first
        has_moved = np.zeros(len(objects.row_of), np.bool_)
        has_moved[moves.object] = True
        who = np.flatnonzero(has_moved)
        rows = objects.row_of[who]
        put_all(stage.objects, who, np.stack(objects.places(rows), axis=1))
        stage.holds[:, who] = self.asks.truth(objects, rows)
        stage.present[0] = np.count_nonzero(objects.row_of >= 0)
        is_moved = np.zeros(len(first) - 1, np.bool_)
        is_moved[self.rank[focal_moves.object]] = True
        regions = np.flatnonzero(is_moved[self.followers.focal])
        now = self.asks.plan.regions.at(self.ids[regions], focals.all_places())
        places = np.stack([now.a, now.b], axis=1)
        put_all(stage.regions, regions, places)
        stage.aside[regions, :2] = places
        self.moved += len(focal_moves)

    def meet(
        self, moves: MoveBatch, columns: Moves, rows_before: I64, objects: LastReadings,
        focal_moves: MoveBatch, focals: LastReadings,
    ) -> PairBatch:  # fmt: skip
        """Pairs of objects and regions that entered, left or stayed with a watched change."""
        rows = np.full(len(objects.row_of), -1)
        rows[: len(rows_before)] = rows_before
        self._take_in(objects, focals, rows)
        x, y = focals.places(focal_moves.new_row)
        found = follow(
            self.followers, self.stage, moves.tick, columns, moves.new_row,
            FocalMoves(focal_moves.tick, self.rank[focal_moves.object], x, y),
        )  # fmt: skip
        self.moved += len(focal_moves)
        return PairBatch.of_meetings(found, self.ids)


def _neighbours_together(focals: LastReadings, reach: float) -> I64:
    """The rank of each focal object by its place, line by line."""
    x, y = focals.places(focals.row_of)
    with np.errstate(over="ignore"):
        order = np.lexsort((x, np.floor(y / max(2 * reach, 1e-300))))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def levels(kind: I8, c: F64, d: F64) -> tuple[F64, I32, F64, F64]:
    """Regions of about the same size share a level: cell by level, level by region, reach by level."""
    w, h = reaches(kind, c, d)
    longest = np.maximum(w, h)
    with np.errstate(divide="ignore"):
        exponent = np.where(longest > 0, np.floor(np.log2(longest)), -np.inf)
    sizes, level = np.unique(exponent, return_inverse=True)
    reach_w, reach_h = np.zeros(len(sizes)), np.zeros(len(sizes))
    np.maximum.at(reach_w, level, w)
    np.maximum.at(reach_h, level, h)
    cell = np.minimum(np.maximum(reach_w, reach_h), 1e300) * 2 * REGION_CELL
    # A region that is a mere point has no size to go by.
    cell[cell == 0] = cell[cell > 0].min(initial=1.0)
    return cell, level.astype(np.int32), reach_w, reach_h


def _grown(cells: Cells, points: int) -> Cells:
    more = no_cells(cells.cell, np.zeros(points, np.int32))
    put_all(more, np.arange(len(cells.level)), cells.place)
    return more
