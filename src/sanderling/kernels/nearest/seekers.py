"""What the kernels of kNN work on: queries, what each of them sees, and where the objects are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I8, I32, I64, U64, Bools
from sanderling.kernels.nearest.cells import Cells, no_cells
from sanderling.space.metric import ON_GLOBE, ON_PLANE

# Influences are on levels by their size, each four times the one before. Usual ones, a little larger than a
# usual k-th distance at most, share a level: one look finds them.
LEVELS, USUAL_LEVEL, USUAL_REACH = 12, 4, 1.5
# A cell of objects in usual k-th distances (benchmarks/nearest_kernel.py).
OBJECT_CELL = 1.1


# On the globe whole lines of places (metric.py, `spread`), of which x and y are the first two columns.
NO_SPOTS = np.empty((0, ON_GLOBE))


class Seekers(NamedTuple):
    """kNN queries, as they are asked. `start` is where the kept list of each begins.

    Those of focal object f are `of_focal[first[f]:first[f + 1]]`: it is the one that they are nearest
    to (`focal`), or that their region moves with (`region_focal`); -1 is none.
    """

    k: I64
    start: I64
    condition: I32
    watch: U64
    focal: I64
    region_focal: I64
    first: I64
    of_focal: I32


class Sights(NamedTuple):
    """What each query sees between two ticks; changes in place.

    `place` is what it is nearest to, NaN for nothing; `kind` and `region` as in `Geometry`. `kept` and
    `kept_d2` hold its list, `kept_count` long, and `kth` the distance of the k-th, infinite without one.
    `middles` has the middle of its influence, by cell. Wide queries are in a list by condition. `mark` is
    for those that are looked at again in a tick.
    """

    is_live: Bools
    place: F64
    kind: I8
    region: F64
    kept_count: I64
    kept: I32
    kept_d2: F64
    kth: F64
    middles: Cells
    reach: F64
    on_level: I64
    wide_head: I32
    wide_next: I32
    wide_previous: I32
    is_wide: Bools
    wide_count: I64
    mark: I8
    live: I64


class Scene(NamedTuple):
    """Where the objects are, and what conditions each satisfies; changes in place.

    `bounds` are cells between which all of them are; `own` is the number that each focal object has
    among the objects, or -1; `row` each object's last reading; `changed` the columns in this tick.
    """

    objects: Cells
    bounds: I64
    holds: Bools
    row: I64
    changed: U64
    own: I64
    present: I64


class Changes(NamedTuple):
    """Objects that changed, in order of tick: place (NaN is gone), reading, columns, conditions."""

    tick: I64
    object: I64
    x: F64
    y: F64
    row: I64
    changed: U64
    holds: Bools
    spots: F64 = NO_SPOTS


class FocalPlaces(NamedTuple):
    """Focal objects that moved, in order of tick; NaN is gone."""

    tick: I64
    focal: I64
    x: F64
    y: F64
    spots: F64 = NO_SPOTS


class Lists(NamedTuple):
    """New lists, in order of tick: whose, how long, then all their entries by reading and distance."""

    tick: I64
    query: I32
    length: I64
    row: I64
    d2: F64


def new_seekers(k: I64, condition: I32, watch: U64, focal: I64, region_focal: I64, focals: int) -> Seekers:
    """Queries with these questions; there are so many focal objects."""
    both = np.concatenate([focal, region_focal])
    queries = np.tile(np.arange(len(k), dtype=np.int32), 2)
    order = np.argsort(both, kind="stable")
    order = order[both[order] >= 0]
    # One that has both from the same object is there once.
    is_again = (order >= len(k)) & (focal[queries[order]] == both[order])
    order = order[~is_again]
    first = np.searchsorted(both[order], np.arange(focals + 1))
    start = np.concatenate([[0], np.cumsum(k)])
    return Seekers(k, start, condition, watch, focal, region_focal, first, queries[order])


def new_sights(seekers: Seekers, place: F64, kind: I8, region: F64, conditions: int, usual: float) -> Sights:
    """Queries that nobody listens for yet; `usual` is a usual k-th distance."""
    n, kept = len(seekers.k), int(seekers.start[-1])
    reach: F64 = usual * USUAL_REACH * np.exp2(2.0 * (np.arange(LEVELS) - USUAL_LEVEL))
    nobody = np.int32(-1)
    return Sights(
        np.zeros(n, np.bool_), place, kind, region, np.full(n, -1), np.zeros(kept, np.int32),
        np.zeros(kept), np.full(n, np.inf), no_cells(2 * reach, np.zeros(n, np.int32)),
        reach, np.zeros(LEVELS, np.int64), np.full(conditions, nobody), np.full(n, nobody),
        np.full(n, nobody), np.zeros(n, np.bool_), np.zeros(conditions, np.int64), np.zeros(n, np.int8),
        np.zeros(1, np.int64),
    )  # fmt: skip


def new_scene(
    objects: int, conditions: int, focals: int, usual: float, width: int = ON_PLANE
) -> Scene:  # fmt: skip
    """Room for so many objects, all of them nowhere."""
    cells = no_cells(np.array([usual * OBJECT_CELL]), np.zeros(objects, np.int32), width)
    far = np.iinfo(np.int64).max // 4
    return Scene(
        cells, np.array([far, far, -far, -far]), np.zeros((conditions, objects), np.bool_),
        np.full(objects, -1), np.zeros(objects, np.uint64), np.full(focals, -1), np.zeros(1, np.int64),
    )  # fmt: skip
