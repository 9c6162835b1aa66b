"""Regions that have poses: they drift, grow or shrink, or are outlines that follow focal objects.

While they stand, they meet those who move, as any region does. In a tick in which one of them changes,
everybody meets them: what was is judged by the region before it, what is by the region after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.inside.cross import IS, WAS, Moves, cross
from sanderling.kernels.inside.grid import build_grid
from sanderling.operate.inside.stretches import Stretch, Stretches
from sanderling.operate.readings.pairs import Found, MoveBatch, PairBatch
from sanderling.operate.shard.now import Moved, Now
from sanderling.operate.where.asks import Asks
from sanderling.space.geometry import Geometry
from sanderling.space.moving.motion import Places
from sanderling.space.moving.pose import own_places
from sanderling.space.outlines.polygons import Polygons


@dataclass(slots=True)
class PosedRegions:
    """Some of them, as at the last tick that closed. Follows from the readings; never saved."""

    ids: I64
    asks: Asks
    polygons: Polygons
    since: int
    places: Places  # of focal objects

    @classmethod
    def of(cls, ids: I64, asks: Asks, polygons: Polygons, now: Now) -> PosedRegions:
        return cls(ids, asks, polygons, now.closed_to, now.focals.all_places())

    def settle(self, now: Now) -> None:
        self.since, self.places = now.closed_to, now.focals.all_places()

    def geometry(self, tick: int, places: Places) -> Geometry:
        return self.asks.plan.regions.posed(self.ids, self.polygons.poses, places, tick)

    def meet(self, given: Moved) -> list[PairBatch]:
        """Pairs of objects and regions that entered, left or stayed with a watched change."""
        pairs, geometry = [], self.geometry(self.since, self.places)
        stretches = Stretches(self.asks.plan, self.polygons.poses, self.ids)
        for stretch in stretches.of(self.since, self.places, given):
            some = slice(stretch.first, stretch.last)
            if stretch.last > stretch.first:
                moves = given.moves.part(some)
                pairs.append(self._met(moves, part_of(given.columns, some), geometry, geometry, given.now))
            if stretch.tick is not None:
                after = self.geometry(stretch.tick, stretch.places)
                pairs.append(self._changed(stretch, stretch.tick, geometry, after, given.now))
                geometry = after
        self.settle(given.now)
        return pairs

    def _changed(self, stretch: Stretch, tick: int, before: Geometry, after: Geometry, now: Now) -> PairBatch:
        """Whoever is near, whether it moved or not."""
        old, new, objects = stretch.before, stretch.after, now.objects
        is_near = _is_near(objects.places(old), before) | _is_near(objects.places(new), after)
        who = np.flatnonzero(is_near)
        moves = MoveBatch(np.full(len(who), tick), who, old[who], new[who])
        return self._met(moves, self.asks.moves(moves, objects), before, after, now)

    def _met(
        self, moves: MoveBatch, columns: Moves, before: Geometry, after: Geometry, now: Now
    ) -> PairBatch:
        old_grid = build_grid(before)
        new_grid = old_grid if after is before else build_grid(after)
        rules, rasters = self.asks.rules(self.ids, now.objects), self.polygons.rasters_of(self.ids)
        met = cross(columns, rules, before, old_grid, after, new_grid, rasters)
        met = exact(met, columns, before, after, self.ids, self.polygons)
        return PairBatch.of(met, moves, columns.changed, self.ids)


def exact(
    met: Found, moves: Moves, before: Geometry, after: Geometry, ids: I64, polygons: Polygons
) -> Found:  # fmt: skip
    """The kernel judged outlines by bounds and rasters: now by their borders, in their own coordinates."""
    move, region, state = met
    state = state.copy()
    sides = ((WAS, before, moves.old_x, moves.old_y), (IS, after, moves.new_x, moves.new_y))
    for bit, geometry, x, y in sides:
        some = np.flatnonzero((state & bit) > 0)
        own = own_places(geometry.pose, region[some], x[move[some]], y[move[some]])
        holds = polygons.hold(ids[region[some]], *own)
        state[some[~holds]] &= ~bit
    return move, region, state


def part_of(moves: Moves, some: slice) -> Moves:
    return Moves._make(column[..., some] for column in moves)


def _is_near(places: Places, geometry: Geometry) -> Bools:
    """Who is within the bounds of all regions together."""
    (x, y), there = places, ~np.isnan(geometry.a)
    if not there.any():
        return np.zeros(len(x), np.bool_)
    left, low = geometry.a[there].min(), geometry.b[there].min()
    right, high = geometry.c[there].max(), geometry.d[there].max()
    return np.asarray((left <= x) & (x <= right) & (low <= y) & (y <= high))
