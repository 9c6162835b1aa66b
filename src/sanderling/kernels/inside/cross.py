"""The join of moved objects with regions: who crossed a border, in which direction.

Object and region may both have moved: what was is judged by the old place and the old region, what
is by the new ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I32, I64, U64, Bools
from sanderling.kernels.inside.grid import Grid, bucket_of, cell_of
from sanderling.kernels.jit import jit
from sanderling.kernels.nearest.cells import longer
from sanderling.space.coverages import holds_place, plain_holds_place
from sanderling.space.geometry import Geometry

WAS, IS = 1, 2


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


class Rules(NamedTuple):
    """What each region asks beside its geometry.

    `watch`: bits of columns whose change matters to an object that stays inside; `condition`: the
    row of `held` and `holds` to look at; `without`: the object that is never in it, or -1.
    """

    watch: U64
    condition: I64
    without: I64


@jit
def look(
    is_new: bool, moves: Any, rules: Any, grid: Any, old_geometry: Any, new_geometry: Any
) -> tuple[I32, I32, npt.NDArray[np.int8]]:
    """From the old places, who left or stayed with a watched change; from the new, who entered."""
    room = len(moves.object) // 4 + 64
    move_of, region_of = np.empty(room, np.int32), np.empty(room, np.int32)
    state_of = np.empty(room, np.int8)
    n = 0
    # Taken out of their tuples once: inside the loop each use would count references (6x).
    cell, starts, region, column_of, line_of, wide = grid
    objects, old_x, old_y, new_x, new_y, changed, held, holds = moves
    watch, condition, without = rules
    old_kind, old_a, old_b, old_c, old_d = old_geometry
    new_kind, new_a, new_b, new_c, new_d = new_geometry
    xs, ys = (new_x, new_y) if is_new else (old_x, old_y)
    mask = len(starts) - 2
    for i in range(len(xs)):
        x, y = xs[i], ys[i]
        if x != x:
            continue
        column, line = cell_of(x, cell), cell_of(y, cell)
        bucket = bucket_of(column, line, mask)
        first, last = starts[bucket], starts[bucket + 1]
        for k in range(first, last + len(wide)):
            if k < last:
                if column_of[k] != column or line_of[k] != line:
                    continue
                r = region[k]
            else:
                r = wide[k - last]
            c = condition[r]
            was = held[c, i] and holds_place(
                old_kind[r], old_a[r], old_b[r], old_c[r], old_d[r], old_x[i], old_y[i]
            )
            is_ = holds[c, i] and holds_place(
                new_kind[r], new_a[r], new_b[r], new_c[r], new_d[r], new_x[i], new_y[i]
            )
            if was == is_:
                if is_new or not was or not changed[i] & watch[r]:
                    continue
            elif is_ != is_new:
                continue  # the other look finds it
            if without[r] == objects[i]:
                continue
            if n == len(move_of):
                move_of, region_of, state_of = longer(move_of), longer(region_of), longer(state_of)
            move_of[n], region_of[n], state_of[n] = i, r, (WAS if was else 0) | (IS if is_ else 0)
            n += 1
    return move_of[:n], region_of[:n], state_of[:n]


def cross(
    moves: Moves, rules: Rules, old_geometry: Geometry, old_grid: Grid, new_geometry: Geometry, new_grid: Grid
) -> tuple[I32, I32, npt.NDArray[np.int8]]:
    """Pairs of a move and a region that entered, left, or stayed with a watched change.

    Gives the move, the region, and WAS, IS or both.
    """
    gone = look(False, moves, rules, old_grid, old_geometry, new_geometry)
    came = look(True, moves, rules, new_grid, old_geometry, new_geometry)
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
