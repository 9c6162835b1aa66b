"""The join of moved objects with regions: who crossed a border, in which direction.

Object and region may both have moved: what was is judged by the old place and the old region, what
is by the new ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sanderling.arrays import F64, I8, I32, I64, U8, U64, Bools
from sanderling.kernels.inside.grid import Grid, bucket_of, cell_of
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.nearest.cells import longer
from sanderling.space.coverages import holds_place, plain_holds_place
from sanderling.space.geometry import Geometry
from sanderling.space.moving.pose import own_place
from sanderling.space.outlines.raster import INSIDE, NO_RASTERS, OUTSIDE, Rasters, side_of

WAS, IS = 1, 2
# Of what changed: the place. A region that has only bounds and a raster here watches it.
PLACE_BIT = np.uint64(1)


class Moves(NamedTuple):
    """Objects that moved: place and conditions before and after; a place of NaN is absent.

    `changed` has a bit for each column that differs; `held` and `holds` are conditions × moves.
    """

    object: I64
    old_x: F64
    old_y: F64
    new_x: F64
    new_y: F64
    changed: U64
    held: Bools
    holds: Bools


@jit
def moved(x: F64, y: F64, old_row: I64, new_row: I64) -> tuple[F64, F64, F64, F64, U64]:
    """The places of readings by row before and after, NaN for absent ones, and whether they differ."""
    n = len(old_row)
    old_x, old_y, new_x, new_y = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    changed = np.zeros(n, np.uint64)
    for i in range(n):
        old_x[i] = old_y[i] = new_x[i] = new_y[i] = np.nan
        if old_row[i] >= 0:
            old_x[i], old_y[i] = x[old_row[i]], y[old_row[i]]
        if new_row[i] >= 0:
            new_x[i], new_y[i] = x[new_row[i]], y[new_row[i]]
        # Nowhere differs from everything.
        if old_x[i] != new_x[i] or old_y[i] != new_y[i]:
            changed[i] = PLACE_BIT
    return old_x, old_y, new_x, new_y, changed


class Rules(NamedTuple):
    """What each region asks beside its geometry.

    `watch`: bits of columns whose change matters to an object that stays inside; `condition`: the
    row of `held` and `holds` to look at; `without`: the object that is never in it, or -1.
    """

    watch: U64
    condition: I64
    without: I64


@jit_bare
def seen(
    kind: I8, a: F64, b: F64, c: F64, d: F64, shape: I32, raster: F64, cells: U8,
    numbers: F64, pose: F64, r: int, x: float, y: float,
) -> int:  # fmt: skip
    """Whether a region holds a place: INSIDE or OUTSIDE, or of a polygon neither for sure."""
    if not holds_place(kind[r], a[r], b[r], c[r], d[r], x, y):
        return OUTSIDE
    if len(shape) and shape[r] >= 0:
        if len(pose):
            x, y = own_place(pose, r, x, y)
        return side_of(raster, cells, numbers, shape[r], x, y)
    return INSIDE


@jit
def look(
    is_new: bool, are_still: bool, moves: Any, rules: Any, grid: Any, old_geometry: Any, new_geometry: Any,
    rasters: Any,
) -> tuple[I32, I32, I8]:  # fmt: skip
    """From the old places, who left or stayed with a watched change; from the new, who entered.

    Where regions stand still and both places are in one cell, a look from the old one finds both.
    """
    length = len(moves.object) // 4 + 64
    move_of, region_of = np.empty(length, np.int32), np.empty(length, np.int32)
    state_of = np.empty(length, np.int8)
    n = 0
    # Taken out of their tuples once: inside the loop each use would count references (6x).
    cell, starts, region, column_of, line_of, wide = grid
    objects, old_x, old_y, new_x, new_y, changed, held, holds = moves
    watch, condition, without = rules
    kind, a, b, c, d, pose = new_geometry if is_new else old_geometry
    kind_then, a_then, b_then, c_then, d_then, pose_then = old_geometry if is_new else new_geometry
    here_x, here_y, here = (new_x, new_y, holds) if is_new else (old_x, old_y, held)
    there_x, there_y, there = (old_x, old_y, held) if is_new else (new_x, new_y, holds)
    shape, raster, cells, numbers = rasters
    mask = len(starts) - 2
    for i in range(len(here_x)):
        x, y, u, v = here_x[i], here_y[i], there_x[i], there_y[i]
        if x != x:
            continue
        column, line = cell_of(x, cell), cell_of(y, cell)
        is_one_look = are_still and u == u and cell_of(u, cell) == column and cell_of(v, cell) == line
        if is_one_look and is_new:
            continue
        bucket = bucket_of(column, line, mask)
        first, last = starts[bucket], starts[bucket + 1]
        for k in range(first, last + len(wide)):
            if k < last:
                if column_of[k] != column or line_of[k] != line:
                    continue
                r = region[k]
            else:
                r = wide[k - last]
            rule = condition[r]
            side, other = OUTSIDE, OUTSIDE
            if here[rule, i]:
                side = seen(kind, a, b, c, d, shape, raster, cells, numbers, pose, r, x, y)
            if side == OUTSIDE and not is_one_look:
                continue
            if there[rule, i]:
                other = seen(
                    kind_then, a_then, b_then, c_then, d_then, shape, raster, cells, numbers, pose_then,
                    r, u, v,
                )  # fmt: skip
            watched = watch[r]
            if len(shape) and side == INSIDE and other == INSIDE:
                watched &= ~PLACE_BIT  # inside for sure, wherever it moved
            if side != OUTSIDE and other != OUTSIDE:
                # Where a border came nearer, somebody who did not move may have crossed it.
                is_sure = are_still or (side == INSIDE and other == INSIDE)
                if is_new or (is_sure and not changed[i] & watched):
                    continue
            elif side == other:
                continue
            if without[r] == objects[i]:
                continue
            if n == len(move_of):
                move_of, region_of, state_of = longer(move_of), longer(region_of), longer(state_of)
            move_of[n], region_of[n] = i, r
            was, is_ = (other, side) if is_new else (side, other)
            state_of[n] = (WAS if was != OUTSIDE else 0) | (IS if is_ != OUTSIDE else 0)
            n += 1
    return move_of[:n], region_of[:n], state_of[:n]


def cross(
    moves: Moves, rules: Rules, old_geometry: Geometry, old_grid: Grid, new_geometry: Geometry,
    new_grid: Grid, rasters: Rasters = NO_RASTERS,
) -> tuple[I32, I32, I8]:  # fmt: skip
    """Pairs of a move and a region that entered, left, or stayed with a watched change.

    Gives the move, the region, and WAS, IS or both; of a polygon, where its raster does not say no.
    """
    still = old_grid is new_grid
    gone = look(False, still, moves, rules, old_grid, old_geometry, new_geometry, rasters)
    came = look(True, still, moves, rules, new_grid, old_geometry, new_geometry, rasters)
    return (
        np.concatenate([gone[0], came[0]]),
        np.concatenate([gone[1], came[1]]),
        np.concatenate([gone[2], came[2]]),
    )


def plain_cross(moves: Moves, rules: Rules, old: Geometry, new: Geometry) -> set[tuple[int, int, int]]:
    """The reference twin of `cross`: every move with every region, no grid."""
    found = set()
    for i in range(len(moves.object)):
        for r in range(len(old.kind)):
            c = rules.condition[r]
            before = (old.kind[r], old.a[r], old.b[r], old.c[r], old.d[r], moves.old_x[i], moves.old_y[i])
            after = (new.kind[r], new.a[r], new.b[r], new.c[r], new.d[r], moves.new_x[i], moves.new_y[i])
            is_other = rules.without[r] != moves.object[i]
            was = bool(is_other and moves.held[c, i] and plain_holds_place(*before))
            is_ = bool(is_other and moves.holds[c, i] and plain_holds_place(*after))
            if was != is_ or (was and moves.changed[i] & rules.watch[r]):
                found.add((i, r, WAS * was + IS * is_))
    return found
