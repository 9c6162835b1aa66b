"""Readings that come or leave, with the regions that they meet, each as it was in the reading's own tick.

stand still         one grid for all of them
follow an object    tick by tick, where their objects were then
change themselves   tick by tick, as they were then
hold any place      conditions say it all
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I64, Bools, flat
from sanderling.kernels.inside.cross import Moves, Rules, cross
from sanderling.kernels.inside.grid import Grid, build_grid, no_grid
from sanderling.operate.inside.posed import exact
from sanderling.operate.readings.pairs import MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings, Stored
from sanderling.operate.where.orders import Ordered
from sanderling.operate.where.probe import a_few, arrived, found
from sanderling.operate.where.slotted import MOST_PAIRS
from sanderling.operate.window.past import Past
from sanderling.plans.plan import Regions, StreamPlan
from sanderling.space.coverages import are_everywhere
from sanderling.space.geometry import Geometry
from sanderling.space.moving.motion import hidden
from sanderling.space.moving.pose import Poses
from sanderling.space.outlines.polygons import Polygons

# For fewer readings of a tick than this no grid over moving regions is made.
WORTH_A_GRID = 8


class Kept(Stored, Protocol):
    """Readings by row, with the ticks that they belong to."""

    closed_to: int

    def ticks(self, rows: I64) -> I64: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """Readings that come or leave in certain ticks, by row; windows, or rules, × readings: for which."""

    row: I64
    tick: I64
    comes: Bools
    is_in: Bools

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: npt.NDArray[Any]) -> Passage:
        return Passage(self.row[chosen], self.tick[chosen], self.comes[chosen], self.is_in[:, chosen])


@dataclass(frozen=True, slots=True)
class Live:
    """Which regions live now, and a grid over those that stand still; rebuilt rather than saved."""

    is_live: Bools
    everywhere: I64  # they hold any place
    still: I64
    geometry: Geometry
    grid: Grid
    moving: I64

    @classmethod
    def of(cls, regions: Regions, is_live: Bools, poses: Poses) -> Live:
        is_still, is_everywhere = (regions.focal < 0) & ~poses.is_posed, are_everywhere(regions.kind)
        everywhere, still, moving = (
            np.flatnonzero(is_live & some)
            for some in (is_still & is_everywhere, is_still & ~is_everywhere, ~is_still)
        )
        geometry = regions.written(still)
        return cls(is_live, everywhere, still, geometry, build_grid(geometry, does_last=True), moving)

    def __len__(self) -> int:
        return len(self.everywhere) + len(self.still) + len(self.moving)


@dataclass(frozen=True, slots=True)
class Meet:
    """Knows the regions of a stream, and by region its rule: a row of a passage's `is_in`."""

    plan: StreamPlan
    rule_of: I64
    polygons: Polygons
    sees_hidden: Bools  # by region whether it may ask where its object was when others do not know

    def pairs(self, live: Live, passage: Passage, kept: Kept, past: Past) -> Iterator[list[PairBatch]]:
        """All that readings meet, so much at a time that pairs do not fill memory."""
        pairs: list[PairBatch] = []
        # Every reading meets every one of these: some of them at a time.
        block = max(1, MOST_PAIRS // len(passage))
        for begin in range(0, len(live.everywhere), block):
            yield pairs
            pairs = [self._everywhere(passage, live.everywhere[begin : begin + block], kept)]
        if len(live.still):
            pairs.append(self._cross(passage, live.still, live.geometry, live.grid, None, kept))
        if len(live.moving):
            pairs += self._moving(live.moving, passage, kept, past)
        yield pairs

    def _everywhere(self, passage: Passage, ids: I64, kept: Kept) -> PairBatch:
        """Readings with regions that hold any place: conditions say it all."""
        ids = ids[np.argsort(self.rule_of[ids], kind="stable")]
        rules, starts, counts = np.unique(self.rule_of[ids], return_index=True, return_counts=True)
        # Reading by reading: what is alike stands together, on the way and when it is put in order.
        is_met = passage.is_in[rules] & ~np.isnan(kept.x[passage.row])
        at, rule = np.nonzero(np.ascontiguousarray(is_met.T))
        some = counts[rule]
        # Those of a rule stand together, from its start on.
        ends = np.cumsum(some)
        region = ids[np.repeat(starts[rule] - ends + some, some) + np.arange(ends[-1] if len(ends) else 0)]
        at = np.repeat(at, some)
        row, comes = passage.row[at], passage.comes[at]
        old, new = np.where(comes, -1, row), np.where(comes, row, -1)
        return PairBatch(passage.tick[at], region, old, new, ~comes, comes, np.zeros(len(at), np.uint64))

    def _moving(self, ids: I64, passage: Passage, kept: Kept, past: Past) -> list[PairBatch]:
        """Each reading with the regions as they were in its own tick; so a tick of readings at a time."""
        regions, whereabouts = self.plan.regions, past.whereabouts
        some = np.flatnonzero(passage.is_in[np.unique(self.rule_of[ids])].any(axis=0))
        ticks = kept.ticks(passage.row[some])
        by_tick = np.argsort(ticks, kind="stable")
        some, ticks = some[by_tick], ticks[by_tick]
        focal = past.focals.keys.find(flat(kept.store.column(self.plan.stream.key).take(passage.row[some])))
        edges = [0, *(np.flatnonzero(np.diff(ticks)) + 1), len(ticks)] if len(ticks) else []
        pairs = []
        for start, end in pairwise(edges):
            tick = int(ticks[start])
            is_hidden = whereabouts.is_hidden(tick, regions.focal[ids]) & ~self.sees_hidden[ids]
            geometry = regions.posed(ids, self.polygons.poses, whereabouts.at(tick), tick)
            geometry = hidden(geometry, is_hidden)
            grid = build_grid(geometry) if end - start >= WORTH_A_GRID else no_grid(geometry)
            now = passage.take(some[start:end])
            pairs.append(self._cross(now, ids, geometry, grid, focal[start:end], kept))
        return pairs

    def _cross(
        self, passage: Passage, ids: I64, geometry: Geometry, grid: Grid, focal: I64 | None, kept: Kept
    ) -> PairBatch:
        """Readings with regions; `focal` has for each reading the number of its object among focal ones."""
        n, comes, row, is_in = len(passage), passage.comes, passage.row, passage.is_in
        x, y = kept.x[row], kept.y[row]
        nothing = np.zeros(n, np.uint64)
        moves = Moves(
            np.full(n, -2) if focal is None else focal,
            np.where(comes, np.nan, x), np.where(comes, np.nan, y),
            np.where(comes, x, np.nan), np.where(comes, y, np.nan), nothing, is_in & ~comes, is_in & comes,
        )  # fmt: skip
        # Whoever is no focal object is -1, and a region that follows nobody is without nobody.
        followed = self.plan.regions.focal[ids]
        without = np.where(followed < 0, -3, followed)
        rules = Rules(np.zeros(len(ids), np.uint64), self.rule_of[ids], without)
        met = cross(moves, rules, geometry, grid, geometry, grid, self.polygons.rasters_of(ids))
        if len(geometry.pose):
            met = exact(met, moves, geometry, geometry, ids, self.polygons)
        batch = MoveBatch(passage.tick, row, np.where(comes, -1, row), np.where(comes, row, -1))
        return PairBatch.of(met, batch, nothing, ids)

    def probe(
        self, live: Live, ordered: Ordered, row: I64, is_in: Bools, kept: Kept, focals: LastReadings
    ) -> None:
        """What a template would find by place alone, among a few of the readings that come or leave.

        Regions that move are taken where they are now.
        """
        regions = self.plan.regions
        mine = np.flatnonzero(live.is_live & (regions.template == ordered.template.id))
        if not len(mine):
            return
        some = a_few(len(row), len(mine))
        x, y = (np.where(is_in[some], place[row[some]], np.nan) for place in (kept.x, kept.y))
        ordered.counts.sampled += len(some)
        geometry = regions.posed(mine, self.polygons.poses, focals.all_places(), kept.closed_to)
        watch, rasters = np.zeros(len(mine), np.uint64), self.polygons.rasters_of(mine)
        ordered.counts.found += found(arrived(x, y), watch, geometry, rasters)
