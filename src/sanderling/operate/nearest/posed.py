"""kNN in regions that have poses: when one of them changes, its queries look for all of theirs again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sanderling.arrays import F64, I64
from sanderling.kernels.nearest.influence import end_all
from sanderling.kernels.nearest.seekers import Changes, FocalPlaces, Lists
from sanderling.operate.inside.stretches import Stretches
from sanderling.operate.nearest.judged import advance_judged, begin_judged, no_lists
from sanderling.operate.nearest.judges import Judge
from sanderling.operate.nearest.neighbourhood import Neighbourhood, numbers_of
from sanderling.operate.shard.now import Moved, Now
from sanderling.operate.where.asks import Asks
from sanderling.space.geometry import Geometry
from sanderling.space.moving.motion import Places


@dataclass(slots=True)
class PosedNeighbourhood:
    """Queries, and their regions as at the last tick that closed. Follows from the readings; never saved."""

    part: Neighbourhood
    regions: I64
    judge: Judge
    since: int
    places: Places  # of focal objects

    @classmethod
    def of(cls, ids: I64, asks: Asks, judge: Judge, now: Now) -> PosedNeighbourhood:
        regions, places = asks.plan.nearest.region[ids], now.focals.all_places()
        geometry = asks.plan.regions.posed(regions, judge.polygons.poses, places, now.closed_to)
        part = Neighbourhood.of(ids, asks, now.objects, now.focals, geometry)
        return cls(part, regions, _judge_in(judge, regions, geometry), now.closed_to, places)

    def advance(self, given: Moved, places: FocalPlaces) -> Lists:
        """New lists, tick by tick."""
        objects, part, found = given.now.objects, self.part, [no_lists()]
        part.take_in(objects, given.now.focals, given.rows_before)
        changes = part.changes(given.moves, given.columns)
        stretches = Stretches(part.asks.plan, self.judge.polygons.poses, self.regions)
        done = 0
        for stretch in stretches.of(self.since, self.places, given):
            last, end = (
                np.searchsorted(places.tick, (stretch.tick, stretch.tick + 1)).tolist()
                if stretch.tick is not None
                else (len(places.tick),) * 2
            )
            some = _part(changes, stretch.first, stretch.last)
            found.append(advance_judged(part, some, _focals(places, done, last), self.judge, objects))
            if stretch.tick is not None:
                which = np.flatnonzero(part.sights.is_live).astype(np.int32)
                end_all(which, part.seekers, part.sights)
                some = _part(changes, stretch.last, stretch.end)
                advance_judged(part, some, _focals(places, last, end), self.judge, objects)
                self._turn_to(stretch.tick, stretch.places)
                if len(which):
                    starts, rows, d2 = begin_judged(part, which, self.judge, objects)
                    ticks = np.full(len(which), stretch.tick)
                    found.append(Lists(ticks, which, np.diff(starts), rows, d2))
            done = end
        self.since, self.places = given.now.closed_to, given.now.focals.all_places()
        return Lists(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    def _turn_to(self, tick: int, places: Places) -> None:
        """The regions are as at this tick from now on."""
        poses = self.judge.polygons.poses
        geometry = self.part.asks.plan.regions.posed(self.regions, poses, places, tick)
        self.part.sights.region[:] = numbers_of(geometry)
        self.judge = _judge_in(self.judge, self.regions, geometry)


def _judge_in(judge: Judge, regions: I64, geometry: Geometry) -> Judge:
    pose: F64 = np.zeros((len(judge.plan.regions), geometry.pose.shape[1]))
    pose[regions] = geometry.pose
    return replace(judge, pose=pose)


def _part(changes: Changes, first: int, last: int) -> Changes:
    *columns, spots = changes
    return Changes._make([*(column[..., first:last] for column in columns), spots[first:last]])


def _focals(places: FocalPlaces, first: int, last: int) -> FocalPlaces:
    return FocalPlaces._make(column[first:last] for column in places)
