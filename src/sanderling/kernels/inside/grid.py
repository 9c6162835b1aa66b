"""A grid over regions: for a place, the few regions that may hold it.

Cells are hashed, so a region at the other end of the world costs nothing. A region that would fill
too many cells is `wide`: it is looked at for every place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sanderling.arrays import I32, I64
from sanderling.kernels.jit import jit
from sanderling.space.coverages import bounds_of
from sanderling.space.geometry import Geometry
from sanderling.space.metric import Box
from sanderling.space.sizes import sizes
from sanderling.space.sphere import FARTHEST_EAST

CELLS_OF_WIDE = 1024
FARTHEST_CELL = 2**40
# Regions of a grid that lasts get so many cells along a side, if all of them are few enough to be at hand:
# the smaller the cells, the fewer regions are looked at in vain (benchmarks/polygons.py).
FINE, FEW = 4, 1 << 16


class Grid(NamedTuple):
    """Regions by hashed cell; `starts` has a power of two of buckets, and one more entry."""

    cell: float
    starts: I64
    region: I32
    column: I64
    line: I64
    wide: I32


@jit
def bounds_at(g: Any, i: int) -> Box:
    return bounds_of(g.kind[i], g.a[i], g.b[i], g.c[i], g.d[i])


@jit
def cell_of(x: float, cell: float) -> int:
    """Monotone in x, also where it saturates: a place inside bounds is in a cell between theirs."""
    q = np.floor(x / cell)
    if q > FARTHEST_CELL:
        return FARTHEST_CELL
    if q < -FARTHEST_CELL:
        return -FARTHEST_CELL
    return int(q)


@jit
def bucket_of(column: int, line: int, mask: int) -> int:
    h = np.uint64(column) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(line) * np.uint64(0xC2B2AE3D27D4EB4F)
    return int((h ^ (h >> np.uint64(29))) & np.uint64(mask))


@jit
def run_of(part: int, x1: float, x2: float, cell: float) -> tuple[int, int]:
    """The first column of bounds and the last; of what goes across the 180th meridian, in part 0 before it,
    in part 1 behind it. No column is in both.
    """
    if x1 <= x2:
        return (cell_of(x1, cell), cell_of(x2, cell)) if part == 0 else (0, -1)
    if part == 0:
        return cell_of(x1, cell), cell_of(FARTHEST_EAST, cell)
    return cell_of(-FARTHEST_EAST, cell), min(cell_of(x2, cell), cell_of(x1, cell) - 1)


@jit
def columns_of(x1: float, x2: float, cell: float) -> int:
    """How many columns bounds have."""
    (first, last), (again, end) = run_of(0, x1, x2, cell), run_of(1, x1, x2, cell)
    return last - first + 1 + max(end - again + 1, 0)


@jit
def is_wide(x1: float, y1: float, x2: float, y2: float, cell: float) -> bool:
    """Whether bounds fill too many cells; infinite ones do."""
    columns = columns_of(x1, x2, cell)
    lines = cell_of(y2, cell) - cell_of(y1, cell) + 1
    return columns > CELLS_OF_WIDE or lines > CELLS_OF_WIDE or columns * lines > CELLS_OF_WIDE


@jit
def fill_grid(g: Any, cell: float) -> tuple[I64, I32, I64, I64, I32]:
    n = len(g.kind)
    n_wide, entries = 0, 0
    for i in range(n):
        x1, y1, x2, y2 = bounds_at(g, i)
        if x1 != x1:
            continue  # nowhere
        if is_wide(x1, y1, x2, y2, cell):
            n_wide += 1
            continue
        entries += columns_of(x1, x2, cell) * (cell_of(y2, cell) - cell_of(y1, cell) + 1)
    buckets = 1
    while buckets < entries:
        buckets *= 2
    starts = np.zeros(buckets + 1, np.int64)
    wide = np.empty(n_wide, np.int32)
    region, column, line = (
        np.empty(entries, np.int32),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
    )
    # A counting sort by bucket: count, add up, place.
    for is_placing in (False, True):
        n_wide = 0
        if is_placing:
            for b in range(buckets):
                starts[b + 1] += starts[b]
        for i in range(n):
            x1, y1, x2, y2 = bounds_at(g, i)
            if x1 != x1:
                continue
            if is_wide(x1, y1, x2, y2, cell):
                wide[n_wide] = i
                n_wide += 1
                continue
            for part in range(2):
                first, last = run_of(part, x1, x2, cell)
                for cx in range(first, last + 1):
                    for cy in range(cell_of(y1, cell), cell_of(y2, cell) + 1):
                        b = bucket_of(cx, cy, buckets - 1)
                        if is_placing:
                            at = starts[b]
                            region[at], column[at], line[at] = i, cx, cy
                            starts[b] += 1
                        else:
                            starts[b + 1] += 1
    # Placing moved every start to its end: shift back.
    for b in range(buckets, 0, -1):
        starts[b] = starts[b - 1]
    starts[0] = 0
    return starts, region, column, line, wide


def build_grid(geometry: Geometry, does_last: bool = False) -> Grid:
    """A grid whose cells are about the size of a region; finer, if it is used often enough."""
    size = cell_size(geometry)
    if does_last and are_few(geometry, size / FINE):
        size /= FINE
    return Grid(size, *fill_grid(geometry, size))


def no_grid(geometry: Geometry) -> Grid:
    """For a few places: every region is looked at for each."""
    nothing, none = np.zeros(2, np.int64), np.empty(0, np.int64)
    return Grid(
        1.0,
        nothing,
        none.astype(np.int32),
        none,
        none,
        np.flatnonzero(~np.isnan(geometry.a)).astype(np.int32),
    )


def are_few(geometry: Geometry, cell: float) -> bool:
    """Whether no region is wide, but for those without end, and all together fill few cells."""
    sides = sizes(geometry)
    cells = (sides[np.isfinite(sides)] / cell + 1) ** 2
    return bool(cells.sum() <= FEW and cells.max(initial=0) <= CELLS_OF_WIDE)


def cell_size(geometry: Geometry) -> float:
    """The median of the regions' longer sides, so that a region touches about four cells."""
    sides = sizes(geometry)
    sides = sides[(sides > 0) & np.isfinite(sides)]
    return float(max(np.median(sides), 1e-300)) if len(sides) else 1.0
