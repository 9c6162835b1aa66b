"""Some kNN queries and the objects around them, kept from tick to tick.

All of it follows from the readings; it is never saved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I32, I64
from sanderling.kernels.inside.cross import Moves
from sanderling.kernels.nearest.influence import listen, move_objects
from sanderling.kernels.nearest.seekers import (
    NO_SPOTS,
    Changes,
    Scene,
    Seekers,
    Sights,
    new_scene,
    new_seekers,
    new_sights,
)
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.asks import Asks
from sanderling.plans.plan import StreamPlan
from sanderling.space.geometry import Geometry
from sanderling.space.metric import plain_squared, spread

# How far the k nearest are, usually: from so many places, among so many objects.
SAMPLE_PLACES, SAMPLE_OBJECTS = 32, 20_000
# Cells are made anew after as many moves an object, since the crowd may be elsewhere by then.
FIT_LASTS, WORTH_FITTING = 64, 10_000


@dataclass(slots=True)
class Neighbourhood:
    """Queries by their rows in the plan (`ids`), what each sees, and where the objects are."""

    ids: I64
    asks: Asks
    seekers: Seekers
    sights: Sights
    scene: Scene
    known: int = 0  # objects whose keys were compared with the focal objects'
    moved: int = 0  # objects, since the cells were made

    @classmethod
    def of(
        cls, ids: I64, asks: Asks, objects: LastReadings, focals: LastReadings, geometry: Geometry
    ) -> Neighbourhood:  # fmt: skip
        """As everything is now, and regions as given; nobody is looked for yet."""
        plan, n = asks.plan, len(objects.row_of)
        regions, nearest = plan.nearest.region[ids], plan.nearest
        conditions = len(asks.conditions) + 1
        seekers = new_seekers(
            nearest.k[ids], asks.condition_of[regions].astype(np.int32), asks.watch[regions],
            nearest.focal[ids], plan.regions.focal[regions], len(plan.focals),
        )  # fmt: skip
        is_globe = plan.stream.is_globe
        at = _places(plan, ids, focals)
        place = spread(at[:, 0], at[:, 1], is_globe)
        around = spread(*objects.all_places(), is_globe)
        usual = usual_distance(place, around, seekers.k)
        sights = new_sights(seekers, place, geometry.kind, numbers_of(geometry), conditions, usual)
        made = cls(
            ids, asks, seekers, sights, new_scene(n, conditions, len(plan.focals), usual, place.shape[1])
        )
        made.take_in(objects, focals, objects.row_of)
        made._place(np.arange(n), around, objects.row_of, asks.truth(objects, objects.row_of))
        return made

    def _place(self, who: I64, places: F64, rows: I64, holds: npt.NDArray[np.bool_]) -> None:
        bits, ticks = np.zeros(len(who), np.uint64), np.zeros(len(who), np.int64)
        x, y = np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])
        spots = places if self.is_globe else NO_SPOTS
        move_objects(0, len(who), Changes(ticks, who, x, y, rows, bits, holds, spots), self.scene)

    @property
    def is_globe(self) -> bool:
        return self.asks.plan.stream.is_globe

    def take_in(self, objects: LastReadings, focals: LastReadings, rows: I64) -> None:
        """Objects seen for the first time get room, and are told apart from focal objects.

        `rows` are the last readings of all; `objects` may have gone on since.
        """
        n = len(objects.row_of)
        if n > self.known:
            focal = focals.keys.find(objects.keys.all.slice(self.known))
            is_focal = focal >= 0
            self.scene.own[focal[is_focal]] = np.flatnonzero(is_focal) + self.known
            self.known = n
        room = len(self.scene.row)
        if n > room or self.moved > FIT_LASTS * n + WORTH_FITTING:
            self._fit(max(2 * n, room) if n > room else room, spread(*objects.all_places(), self.is_globe))
        self.scene.row[: len(rows)] = rows
        self.scene.row[len(rows) :] = -1

    def _fit(self, room: int, around: F64) -> None:
        """Cells of a size that suits where everybody is, or will be soon, with room for so many objects."""
        old, sights, n = self.scene, self.sights, len(self.scene.row)
        usual = usual_distance(sights.place, around, self.seekers.k)
        self.scene = new_scene(room, len(old.holds), len(old.own), usual, around.shape[1])
        self.scene.own[:] = old.own
        self._place(np.arange(n), old.objects.place.copy(), old.row, old.holds)
        fresh = new_sights(self.seekers, sights.place, sights.kind, sights.region, len(old.holds), usual)
        self.sights = fresh._replace(
            is_live=sights.is_live, kept_count=sights.kept_count, kept=sights.kept,
            kept_d2=sights.kept_d2, kth=sights.kth, live=sights.live,
        )  # fmt: skip
        listen(np.flatnonzero(sights.is_live).astype(np.int32), self.seekers.condition, self.sights)
        self.moved = 0

    def changes(self, moves: MoveBatch, columns: Moves) -> Changes:
        self.moved += len(moves)
        x, y, spots = spots_of(columns.new_x, columns.new_y, self.is_globe)
        return Changes(
            moves.tick, moves.object, x, y, moves.new_row, columns.changed, columns.holds, spots
        )  # fmt: skip

    def settled(self, moves: MoveBatch, objects: LastReadings) -> Changes:
        """Those who moved are where they are now, whatever was on their way."""
        who = np.unique(moves.object)
        rows, nothing = objects.row_of[who], np.zeros(len(who), np.int64)
        x, y, spots = spots_of(*objects.places(rows), self.is_globe)
        self.moved += len(who)
        bits = nothing.astype(np.uint64)
        return Changes(nothing, who, x, y, rows, bits, self.asks.truth(objects, rows), spots)

    def some(self, is_wanted: npt.NDArray[np.bool_]) -> I32:
        """Numbers of the queries for which something holds, told by their rows in the plan."""
        return np.flatnonzero(is_wanted[self.ids]).astype(np.int32)


def numbers_of(geometry: Geometry) -> F64:
    """By region its four numbers, as sights have them."""
    return np.stack([geometry.a, geometry.b, geometry.c, geometry.d], axis=1)


def spots_of(x: F64, y: F64, is_globe: bool) -> tuple[F64, F64, F64]:
    """Places as kernels take those that are new: on the globe x and y of the map, and whole lines."""
    if not is_globe:
        return x, y, NO_SPOTS
    spots = spread(x, y, is_globe)
    return np.ascontiguousarray(spots[:, 0]), np.ascontiguousarray(spots[:, 1]), spots


def _places(plan: StreamPlan, ids: I64, focals: LastReadings) -> F64:
    """What each query is nearest to; NaN where its focal object is absent."""
    nearest = plan.nearest
    at = np.stack([nearest.x[ids], nearest.y[ids]], axis=1)
    is_moving = nearest.focal[ids] >= 0
    rows = focals.row_of[nearest.focal[ids[is_moving]]]
    at[is_moving] = np.stack(focals.places(rows), axis=1)
    return at


def usual_distance(at: F64, places: F64, k: I64) -> float:
    """About how far the k-th nearest is from the queries, judged by a few of them and of the objects."""
    at, places = _sample(at, SAMPLE_PLACES), places[~np.isnan(places[:, 0])]
    there = len(places)
    places = _sample(places, SAMPLE_OBJECTS)
    at = at if len(at) else _sample(places, SAMPLE_PLACES)
    if not len(at) or not len(places):
        return 1.0
    share = float(np.median(k)) * len(places) / there
    kth = int(np.clip(round(share), 1, len(places)))
    with np.errstate(over="ignore", invalid="ignore"):
        d2 = plain_squared(at[:, :1], at[:, 1:2], places[:, 0], places[:, 1])
        d2[d2 == 0] = np.inf  # a place that is one of theirs is not near itself
        distance = np.sqrt(np.partition(d2, kth - 1, axis=1)[:, kth - 1] * share / kth)
    usual = distance[np.isfinite(distance) & (distance > 0)]
    # So small or large that nobody else is near is no size to go by.
    return float(np.clip(np.median(usual), 1e-140, 1e140)) if len(usual) else 1.0


def _sample(places: F64, n: int) -> F64:
    places = places[~np.isnan(places[:, 0])]
    return places[:: max(1, len(places) // n)][:n]
