"""kNN: a shard's own k nearest of each query, told anew when they change.

changed objects ──► queries in whose influence they were or are ──┐
focal objects that moved ──► their queries ───────────────────────┴──► search again ──► new lists

The lists of all shards are merged per query (merge/nearest.py); what goes out there are candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I32, I64, Bools
from sanderling.batches import Batch
from sanderling.kernels.nearest.influence import advance, begin_all, end_all
from sanderling.kernels.nearest.seekers import FocalPlaces, Lists
from sanderling.operate.nearest.candidates import Candidates, count
from sanderling.operate.nearest.judged import advance_judged, begin_judged
from sanderling.operate.nearest.judges import Judge
from sanderling.operate.nearest.neighbourhood import Neighbourhood, spots_of
from sanderling.operate.nearest.posed import PosedNeighbourhood
from sanderling.operate.operator import Turned
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.shard.now import Moved, Now, Settled
from sanderling.operate.where.asks import Asks
from sanderling.plans import operator_ids
from sanderling.plans.plan import StreamPlan
from sanderling.space.coverages import are_by_bounds
from sanderling.space.outlines.polygons import Polygons


@dataclass(slots=True)
class NearestState:
    """Queries that the kernel decides by itself, those whose objects are judged one by one, and those of them
    whose regions have poses.

    All of it follows from the plan, the clock and the last readings, so it is rebuilt rather than saved.
    """

    plain: Neighbourhood | None
    judged: Neighbourhood | None
    posed: PosedNeighbourhood | None


class Nearest:
    """The k nearest objects of a shard, for all kNN queries of a stream at once.

    Promises (tests/properties/test_knn.py):
      exact     the lists of all shards, merged, are the answer computed from scratch
      chunking  cutting the input elsewhere gives the same lists per tick
      cost      a query that nothing concerns is not touched
    """

    def __init__(self, plan: StreamPlan, asks: Asks, polygons: Polygons):
        self.plan = plan
        self.asks = asks
        regions = plan.regions
        self.begins, self.ends = regions.begin[plan.nearest.region], regions.end[plan.nearest.region]
        self.queries: npt.NDArray[np.int32] = regions.query[plan.nearest.region]
        self.came: npt.NDArray[np.int32] = regions.came[plan.nearest.region]
        by_pair = np.isin(regions.template[plan.nearest.region], list(asks.by_pair))
        self.is_judged: Bools = by_pair | are_by_bounds(regions.kind[plan.nearest.region])
        self.is_posed: Bools = polygons.poses.is_posed[plan.nearest.region]
        self.judge = Judge(plan, asks, polygons)
        self.candidates = Candidates(plan)

    # ----- which queries live

    def new_state(self, at: Now) -> NearestState:
        """What has begun and not ended lives."""
        plain, judged = ~self.is_judged & ~self.is_posed, self.is_judged & ~self.is_posed
        state = NearestState(self._part(plain, at), self._part(judged, at), self._posed(at))
        self._begin(state, self._is_live(at.closed_to, at.ready), at.objects)
        return state

    def _part(self, is_wanted: Bools, at: Now) -> Neighbourhood | None:
        ids = np.flatnonzero(is_wanted)
        geometry = self.plan.regions.at(self.plan.nearest.region[ids], at.focals.all_places())
        return Neighbourhood.of(ids, self.asks, at.objects, at.focals, geometry) if len(ids) else None

    def _posed(self, at: Now) -> PosedNeighbourhood | None:
        ids = np.flatnonzero(self.is_posed)
        return PosedNeighbourhood.of(ids, self.asks, self.judge, at) if len(ids) else None

    def _is_live(self, tick: int, ready: int) -> Bools:
        return (self.begins <= tick) & (tick < self.ends) & (self.came < ready)

    def end(self, state: NearestState, tick: int, now: Now) -> Turned:
        for part in self._parts(state):
            which = part.some(self.ends <= tick)
            end_all(which[part.sights.is_live[which]], part.seekers, part.sights)
        return Turned(state, [])

    def begin(self, state: NearestState, tick: int, now: Now) -> Turned:
        """With whole lists."""
        told = [
            batch
            for part, (which, starts, rows, d2) in self._begin(
                state, self._is_live(tick, now.ready), now.objects
            )
            for batch in self.candidates.of(
                Lists(np.full(len(which), tick), which, np.diff(starts), rows, d2), part.ids, now.objects
            )
        ]
        return Turned(state, told)

    def _begin(
        self, state: NearestState, is_wanted: Bools, objects: LastReadings
    ) -> list[tuple[Neighbourhood, tuple[I32, I64, I64, npt.NDArray[np.float64]]]]:
        found = []
        for part in self._parts(state):
            which = part.some(is_wanted)
            which = which[~part.sights.is_live[which]]
            if len(which):
                lists = (
                    begin_all(which, part.seekers, part.sights, part.scene)
                    if part is state.plain
                    else begin_judged(part, which, self._judge(state, part), objects)
                )
                found.append((part, (which, *lists)))
        return found

    # ----- what changes

    def apply(self, state: NearestState, given: Moved) -> list[Batch]:
        """The new lists of all live queries over the ticks that have just closed."""
        figures, name = self.asks.figures, operator_ids.nearest_all(self.plan.stream.name)
        figures.add(name, len(given.moves))
        with figures.timed(name):
            batches = self._lists(state, given)
        for batch in batches:
            found = count(batch.table)
            figures.add(operator_ids.inside(batch.template), rows_out=found)
            figures.add(operator_ids.select(batch.template), found, found)
        return batches

    def _lists(self, state: NearestState, given: Moved) -> list[Batch]:
        columns, focal_moves = given.columns, given.focal_moves
        objects, focals = given.now.objects, given.now.focals
        places = FocalPlaces(focal_moves.tick, focal_moves.object, *self._spots(focals, focal_moves.new_row))
        batches: list[Batch] = []
        if state.posed is not None:
            lists = state.posed.advance(given, places)
            batches += self.candidates.of(lists, state.posed.part.ids, objects)
        for part in self._standing(state):
            part.take_in(objects, focals, given.rows_before)
            changes = part.changes(given.moves, columns)
            lists = (
                advance(part.seekers, part.sights, part.scene, changes, places)
                if part is state.plain
                else advance_judged(part, changes, places, self.judge, objects)
            )
            batches += self.candidates.of(lists, part.ids, objects)
        return batches

    def _spots(self, focals: LastReadings, rows: I64) -> tuple[F64, F64, F64]:
        return spots_of(*focals.places(rows), self.plan.stream.is_globe)

    def settle(self, state: NearestState, settled: Settled) -> None:
        objects, focals = settled.now.objects, settled.now.focals
        who = np.unique(settled.focal_moves.object)
        places = FocalPlaces(np.zeros(len(who), np.int64), who, *self._spots(focals, focals.row_of[who]))
        if state.posed is not None:
            was_live = state.posed.part.sights.is_live
            state.posed = self._posed(settled.now)
            is_live = np.zeros(len(self.plan.nearest), np.bool_)
            is_live[np.flatnonzero(self.is_posed)[was_live]] = True
            self._begin(replace(state, plain=None, judged=None), is_live, objects)
        for part in self._standing(state):
            part.take_in(objects, focals, objects.row_of)
            changes = part.settled(settled.moves, objects)
            if part is state.plain:
                advance(part.seekers, part.sights, part.scene, changes, places)
            else:
                advance_judged(part, changes, places, self.judge, objects)

    def places_objects(self, state: NearestState) -> bool:
        return len(self.plan.nearest) > 0

    def merged_of(self, queries: list[int]) -> list[int]:
        """The nearest of all shards are known where their lists are merged."""
        mine: list[int] = np.intersect1d(queries, self.queries).tolist()
        return mine

    def _parts(self, state: NearestState) -> Iterator[Neighbourhood]:
        yield from self._standing(state)
        if state.posed is not None:
            yield state.posed.part

    def _standing(self, state: NearestState) -> Iterator[Neighbourhood]:
        """Those whose regions stand, or follow by themselves."""
        return (part for part in (state.plain, state.judged) if part is not None)

    def _judge(self, state: NearestState, part: Neighbourhood) -> Judge:
        """Who knows where the regions of a part are."""
        return self.judge if state.posed is None or part is not state.posed.part else state.posed.judge
