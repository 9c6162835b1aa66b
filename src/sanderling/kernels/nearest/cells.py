"""Points that move, by cell: each point is in the list of one cell, and changes to another at once.

Cells are hashed, as in `grid`. Each point is on a level, and a level has its own size of cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sanderling.arrays import F64, I32, I64, Bools
from sanderling.kernels.inside.grid import bucket_of, cell_of
from sanderling.kernels.jit import jit
from sanderling.space.metric import ON_PLANE

NOBODY = np.int32(-1)
# A block has so many cells in a line, and there are at most so many counts of blocks.
BLOCK = 8.0
MOST_BLOCKS = 1 << 15


class Cells(NamedTuple):
    """`head` has the first point of each bucket, `next` and `previous` its neighbours in the list.

    `cell` is by level, the rest by point; a point that is nowhere has the bucket -1. `crowd` counts the
    points by block of cells, hashed into a table so small that it is near at hand: where it has none,
    nobody needs to look into the cells.
    """

    cell: F64
    level: I32
    head: I32
    next: I32
    previous: I32
    bucket: I32
    place: F64
    crowd: I32


def no_cells(cell: F64, level: I32, width: int = ON_PLANE) -> Cells:
    """Points on their levels, all of them nowhere; places have so many columns."""
    points = len(level)
    next_, previous, bucket = (np.full(points, NOBODY) for _ in range(3))
    head = np.full(1 << max(points - 1, 1).bit_length(), NOBODY)
    crowd = np.zeros(min(len(head), MOST_BLOCKS), np.int32)
    return Cells(cell, level, head, next_, previous, bucket, np.full((points, width), np.nan), crowd)


@jit
def block_of(x: float, y: float, size: float, many: int) -> int:
    """The count that a place belongs to."""
    return int(bucket_of(cell_of(x, BLOCK * size), cell_of(y, BLOCK * size), many - 1))


@jit
def is_deserted(size: float, crowd: I32, x1: float, y1: float, x2: float, y2: float) -> bool:
    """Whether there is certainly nobody in a box; a large one is not looked at."""
    first, last = cell_of(x1, BLOCK * size), cell_of(x2, BLOCK * size)
    low, high = cell_of(y1, BLOCK * size), cell_of(y2, BLOCK * size)
    if last - first > 2 or high - low > 2:
        return False
    for column in range(first, last + 1):
        for line in range(low, high + 1):
            if crowd[bucket_of(column, line, len(crowd) - 1)] > 0:
                return False
    return True


@jit
def put(cells: Any, point: int, x: float, y: float) -> None:
    """From now on the point is at this place; NaN is nowhere."""
    cell, level, head, next_, previous, bucket, place, crowd = cells
    old, new = bucket[point], NOBODY
    size = cell[level[point]]
    if old >= 0:
        crowd[block_of(place[point, 0], place[point, 1], size, len(crowd))] -= 1
    if x == x:
        crowd[block_of(x, y, size, len(crowd))] += 1
        new = np.int32(bucket_of(cell_of(x, size) + level[point], cell_of(y, size), len(head) - 1))
    place[point, 0], place[point, 1] = x, y
    if new == old:
        return
    if old >= 0:
        before, after = previous[point], next_[point]
        if before >= 0:
            next_[before] = after
        else:
            head[old] = after
        if after >= 0:
            previous[after] = before
    if new >= 0:
        first = head[new]
        next_[point], previous[point] = first, NOBODY
        if first >= 0:
            previous[first] = point
        head[new] = point
    bucket[point] = new


@jit
def put_all(cells: Any, points: I64, places: F64) -> None:
    for k in range(len(points)):
        put(cells, points[k], places[k, 0], places[k, 1])


@jit
def near(
    size: float, level: I32, head: I32, next_: I32, bucket: I32, place: F64,
    on: int, x1: float, y1: float, x2: float, y2: float, found: I32,
) -> int:  # fmt: skip
    """Writes to `found` the points of a level that are in a box; gives their number.

    `found` has room for all points.
    """
    n = 0
    first, last = cell_of(x1, size), cell_of(x2, size)
    low, high = cell_of(y1, size), cell_of(y2, size)
    many = len(head)
    if last - first >= many or high - low >= many or (last - first + 1) * (high - low + 1) > many:
        # More cells than points: rather look at every point.
        for p in range(len(level)):
            if bucket[p] >= 0 and level[p] == on and x1 <= place[p, 0] <= x2 and y1 <= place[p, 1] <= y2:
                found[n] = p
                n += 1
        return n
    for column in range(first, last + 1):
        for line in range(low, high + 1):
            p = head[bucket_of(column + on, line, many - 1)]
            while p >= 0:
                x, y = place[p, 0], place[p, 1]
                # Other cells may share the bucket, and have their turn.
                if (
                    x1 <= x <= x2 and y1 <= y <= y2 and level[p] == on
                    and cell_of(x, size) == column and cell_of(y, size) == line
                ):  # fmt: skip
                    found[n] = p
                    n += 1
                p = next_[p]
    return n


@jit
def near_any(cells: Any, boxes: F64) -> Bools:
    """Which points of a single level are in any of some boxes; NaN is none."""
    cell, level, head, next_, _, bucket, place, _ = cells
    found, is_near = np.empty(len(level), np.int32), np.zeros(len(level), np.bool_)
    for b in range(len(boxes)):
        x1, y1, x2, y2 = boxes[b, 0], boxes[b, 1], boxes[b, 2], boxes[b, 3]
        if x1 != x1:
            continue
        count = near(cell[0], level, head, next_, bucket, place, 0, x1, y1, x2, y2, found)
        for p in found[:count]:
            is_near[p] = True
    return is_near


@jit
def longer(values: Any) -> Any:
    """The same values with room for more."""
    more = np.empty(2 * len(values) + 16, values.dtype)
    more[: len(values)] = values
    return more
