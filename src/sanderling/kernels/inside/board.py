"""Regions that stand still on a board: by cell those whose border may be in it, then those that hold it all.

most moves ──► stay in their cell ──► only borders in it are looked at
the others ──► all of the cell that they leave, and of the one that they come to

The cells of a box between its first and last column, and between its lines, are inside it for sure: cells go
up as coordinates do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sanderling.arrays import F64, I8, I32, I64
from sanderling.kernels.inside.cross import IS, PLACE_BIT, WAS, Moves, Rules
from sanderling.kernels.inside.grid import bounds_at, cell_of, cell_size
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.nearest.cells import longer
from sanderling.kernels.readings.fold import rows_by_object
from sanderling.space.coverages import holds_place
from sanderling.space.geometry import Geometry
from sanderling.space.outlines.raster import INSIDE, NO_RASTERS, OUTSIDE, Rasters, side_of
from sanderling.space.shapes.box import BOX

# Cells along a region's side: as many as there is room for.
FINENESS = (8.0, 4.0, 2.0, 1.0)
# Moves of an object are looked at one behind the other, where there are so many for each.
WORTH_ORDERING = 2
MOST_CELLS, MOST_ENTRIES, MOST_WIDE = 1 << 18, 1 << 19, 64
NOWHERE = -1


class Board(NamedTuple):
    """Cells line by line, from column `left` and line `low` on.

    Those of cell c whose border may be in it are `region[starts[2 * c]:starts[2 * c + 1]]`, those that hold
    all of it follow, up to `starts[2 * c + 2]`. The `wide` ones are looked at for every place. `kind` and
    `numbers` are by region, its four side by side.
    """

    cell: float
    left: int
    low: int
    columns: int
    lines: int
    starts: I32
    region: I32
    wide: I32
    kind: I8
    numbers: F64


@jit
def extent_of(g: Any, cell: float) -> tuple[int, int, int, int, int, int]:
    """The first column and line that regions fill, and the last; how many entries; how many are wide."""
    left, low, right, high = 1 << 60, 1 << 60, -(1 << 60), -(1 << 60)
    entries, wide = 0, 0
    for r in range(len(g.kind)):
        x1, y1, x2, y2 = bounds_at(g, r)
        if x1 != x1:
            continue
        if is_wide(x1, y1, x2, y2, cell):
            wide += 1
            continue
        a, b, c, d = cell_of(x1, cell), cell_of(y1, cell), cell_of(x2, cell), cell_of(y2, cell)
        left, low, right, high = min(left, a), min(low, b), max(right, c), max(high, d)
        entries += (c - a + 1) * (d - b + 1)
    return left, low, right, high, entries, wide


@jit_bare
def is_wide(x1: float, y1: float, x2: float, y2: float, cell: float) -> bool:
    """Whether bounds fill more cells than there are; those across the 180th meridian count as such."""
    if not x1 <= x2 or not y1 <= y2:
        return True
    columns = cell_of(x2, cell) - cell_of(x1, cell) + 1
    lines = cell_of(y2, cell) - cell_of(y1, cell) + 1
    return columns > MOST_CELLS or lines > MOST_CELLS or columns * lines > MOST_CELLS


@jit
def fill_board(
    g: Any, cell: float, left: int, low: int, columns: int, lines: int, entries: int, wide: int
) -> tuple[I32, I32, I32]:
    starts, region = np.zeros(2 * columns * lines + 1, np.int32), np.empty(entries, np.int32)
    too_wide, n_wide = np.empty(wide, np.int32), 0
    # A counting sort by cell, borders first: count, add up, place.
    for is_placing in (False, True):
        if is_placing:
            for b in range(len(starts) - 1):
                starts[b + 1] += starts[b]
        for r in range(len(g.kind)):
            x1, y1, x2, y2 = bounds_at(g, r)
            if x1 != x1:
                continue
            if is_wide(x1, y1, x2, y2, cell):
                if is_placing:
                    too_wide[n_wide] = r
                    n_wide += 1
                continue
            first, last, bottom, top = (
                cell_of(x1, cell),
                cell_of(x2, cell),
                cell_of(y1, cell),
                cell_of(y2, cell),
            )
            for line in range(bottom, top + 1):
                for column in range(first, last + 1):
                    is_whole = g.kind[r] == BOX and first < column < last and bottom < line < top
                    at = 2 * ((line - low) * columns + column - left) + int(is_whole)
                    if is_placing:
                        region[starts[at]] = r
                        starts[at] += 1
                    else:
                        starts[at + 1] += 1
    # Placing moved every start to its end: shift back.
    for b in range(len(starts) - 1, 0, -1):
        starts[b] = starts[b - 1]
    starts[0] = 0
    return starts, region, too_wide


def build_board(geometry: Geometry) -> Board | None:
    """As fine as there is room for; None where regions are too far apart for one."""
    size = cell_size(geometry)
    for fineness in FINENESS:
        cell = size / fineness
        left, low, right, high, entries, wide = extent_of(geometry, cell)
        if not entries or wide > MOST_WIDE:
            return None
        columns, lines = right - left + 1, high - low + 1
        if columns * lines <= MOST_CELLS and entries <= MOST_ENTRIES:
            starts, region, too_wide = fill_board(geometry, cell, left, low, columns, lines, entries, wide)
            numbers = np.stack(geometry[1:5], axis=1)
            return Board(
                cell, left, low, columns, lines, starts, region, too_wide, geometry.kind, numbers
            )  # fmt: skip
    return None


@jit_bare
def place_on(x: float, y: float, cell: float, left: int, low: int, columns: int, lines: int) -> int:
    """The cell that a place is in, or NOWHERE."""
    if x != x:
        return NOWHERE
    column, line = cell_of(x, cell) - left, cell_of(y, cell) - low
    if column < 0 or line < 0 or column >= columns or line >= lines:
        return NOWHERE
    return line * columns + column


@jit_bare
def side_at(
    kind: I8, numbers: F64, shape: I32, raster: F64, cells: Any, laws: F64, r: int, x: float, y: float
) -> int:
    """As `seen`, where nothing has a pose; nowhere is outside."""
    if not holds_place(kind[r], numbers[r, 0], numbers[r, 1], numbers[r, 2], numbers[r, 3], x, y):
        return OUTSIDE
    if len(shape) and shape[r] >= 0:
        return side_of(raster, cells, laws, shape[r], x, y)
    return INSIDE


@jit
def cross_on_board(order: I64, moves: Any, rules: Any, board: Any, rasters: Any) -> tuple[I32, I32, I8]:
    """As `cross`, of regions that stand still; moves are looked at in this order."""
    length = len(order) // 4 + 64
    move_of, region_of = np.empty(length, np.int32), np.empty(length, np.int32)
    state_of = np.empty(length, np.int8)
    n = 0
    # Taken out of their tuples once: inside the loop each use would count references (6x).
    cell, left, low, columns, lines, starts, region, wide, kind, numbers = board
    objects, old_x, old_y, new_x, new_y, changed, held, holds = moves
    watch, condition, without = rules
    shape, raster, cells, laws = rasters
    watched_by_any = np.uint64(0)
    for r in range(len(watch)):
        watched_by_any |= watch[r]
    for i in order:
        u, v, x, y = old_x[i], old_y[i], new_x[i], new_y[i]
        was_in = place_on(u, v, cell, left, low, columns, lines)
        is_in = place_on(x, y, cell, left, low, columns, lines)
        # Both places in a cell are found by one look.
        is_one = was_in == is_in and u == u and x == x
        # Who holds all of the cell held the one place and holds the other.
        is_dull = is_one and not changed[i] & watched_by_any
        if is_dull:
            for c in range(len(held)):
                is_dull = is_dull and held[c, i] == holds[c, i]
        for is_new in (False, True):
            if is_new and is_one:
                break
            at = is_in if is_new else was_in
            here_x, here_y, there_x, there_y = (x, y, u, v) if is_new else (u, v, x, y)
            first, whole, last = 0, 0, 0
            if at >= 0:
                first, whole = starts[2 * at], starts[2 * at + 1]
                last = whole if is_dull else starts[2 * at + 2]
            for e in range(first, last + (0 if is_new else len(wide))):
                r = region[e] if e < last else wide[e - last]
                is_sure = whole <= e < last
                finds_both = is_one or e >= last
                rule = condition[r]
                here, there = OUTSIDE, OUTSIDE
                if holds[rule, i] if is_new else held[rule, i]:
                    here = INSIDE
                    if not is_sure:
                        here = side_at(kind, numbers, shape, raster, cells, laws, r, here_x, here_y)
                if here == OUTSIDE and not finds_both:
                    continue
                if held[rule, i] if is_new else holds[rule, i]:
                    there = INSIDE
                    if not (is_sure and is_one):
                        there = side_at(kind, numbers, shape, raster, cells, laws, r, there_x, there_y)
                was, is_ = (there, here) if is_new else (here, there)
                if was != OUTSIDE and is_ != OUTSIDE:
                    watched = watch[r]
                    if len(shape) and was == INSIDE and is_ == INSIDE:
                        watched &= ~PLACE_BIT  # inside for sure, wherever it moved
                    if is_new or not changed[i] & watched:
                        continue
                elif was == is_ or (is_new and was != OUTSIDE):
                    continue
                if without[r] == objects[i]:
                    continue
                if n == len(move_of):
                    move_of, region_of, state_of = longer(move_of), longer(region_of), longer(state_of)
                move_of[n], region_of[n] = i, r
                state_of[n] = (WAS if was != OUTSIDE else 0) | (IS if is_ != OUTSIDE else 0)
                n += 1
    return move_of[:n], region_of[:n], state_of[:n]


def cross_still(
    moves: Moves, rules: Rules, board: Board, rasters: Rasters = NO_RASTERS
) -> tuple[I32, I32, I8]:
    """As `cross`, of regions that stand still.

    Where objects have moved more than once, those of an object follow each other: what it passed is at hand.
    """
    return cross_on_board(together(moves.object), moves, rules, board, rasters)


def together(objects: I64) -> I64:
    """An order of moves; those of an object in order of time."""
    n, known = len(objects), int(objects.max(initial=-1)) + 1
    order = np.arange(n)
    if n < WORTH_ORDERING * known or int(objects.min(initial=0)) < 0:
        return order
    return np.asarray(rows_by_object(objects, known, order))
