"""Rasters: a small grid over the bounds of each polygon, with cells inside, outside, and on the border.

most places ──► a cell inside or outside ──► known
the others  ──► a cell on the border     ──► GEOS

Of outlines that are no polygons, all places are known by their numbers (outline.py).

Cells go up as coordinates do, so that the places of a cell are those of a rectangle. Where no edge of the
polygon comes near it, all of them are inside, or none is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sanderling.arrays import F64, I8, I32, I64, U8
from sanderling.kernels.jit import jit, jit_bare
from sanderling.space.outlines.laws import holds
from sanderling.space.outlines.outline import OUTER_AREA

OUTSIDE, INSIDE, BORDER = 0, 1, 2
# So many cells a corner, of two bits each: a raster takes the room of the corners. Few corners get more than
# their share, and very many less: a finer grid would hardly settle more places.
CELLS_A_CORNER, FEWEST_CELLS, MOST_CELLS = 64, 1 << 10, 1 << 16
# In cells: far more than rounding can do, which is at most 2^-52 of a grid's length.
SLACK = 1e-9
# Of cells by unit: below it, or above its inverse, squares are infinite or nothing, and GEOS is asked.
SMALL = 1e-140


class Rasters(NamedTuple):
    """By region the number of its shape, or -1; empty where no region has any.

    By shape its `grid`, a line of memory: left and low, cells by unit of x and of y, columns, lines, and
    where in `cells` they begin, then its law. Four cells are a byte. Of what is no polygon: its law, and
    where in `numbers` its own begin and end.
    """

    shape: I32
    grid: F64
    cells: U8
    numbers: F64


class Corners(NamedTuple):
    """Of shapes, by number: the rings `ring[i]` to `ring[i + 1]`, and of rings the corners, likewise."""

    ring: I64
    corner: I64
    xy: F64


LEFT, LOW, BY_X, BY_Y, COLUMNS, LINES, FIRST, LAW = range(8)
LAST = COLUMNS  # of numbers
NO_RASTERS = Rasters(np.empty(0, np.int32), np.empty((0, 8)), np.empty(0, np.uint8), np.empty(0))


@jit_bare
def along(x: float, first: float, by_unit: float) -> float:
    """How many cells a place is from the first one."""
    return (x - first) * by_unit


@jit_bare
def cell_at(at: float, many: float) -> int:
    """The last cell has its far border too; of what is no number, the first."""
    if not at > 0:
        return 0
    return int(min(at, many - 1))


@jit_bare
def side_of(grid: F64, cells: U8, numbers: F64, shape: int, x: float, y: float) -> int:
    """What is known of a place within the bounds of a shape: OUTSIDE, INSIDE, or near the BORDER."""
    law = int(grid[shape, LAW])
    if law > OUTER_AREA:
        first, last = int(grid[shape, FIRST]), int(grid[shape, LAST])
        return INSIDE if holds(law, numbers, first, last, x, y) else OUTSIDE
    at_x = along(x, grid[shape, LEFT], grid[shape, BY_X])
    at_y = along(y, grid[shape, LOW], grid[shape, BY_Y])
    if law == OUTER_AREA and is_off(at_x, at_y, grid[shape, COLUMNS], grid[shape, LINES]):
        return INSIDE
    cell = cell_at(at_y, grid[shape, LINES]) * int(grid[shape, COLUMNS]) + cell_at(at_x, grid[shape, COLUMNS])
    side = (int(cells[int(grid[shape, FIRST]) + (cell >> 2)]) >> ((cell & 3) << 1)) & 3
    if law == OUTER_AREA and side != BORDER:
        return OUTSIDE if side == INSIDE else INSIDE
    return side


@jit_bare
def is_off(at_x: float, at_y: float, columns: float, lines: float) -> bool:
    """Whether a place is surely off the grid. A little beyond it the last cell will do: it is not inside."""
    return at_x < 0 or at_y < 0 or at_x > columns + SLACK or at_y > lines + SLACK


@jit
def sides_of(rasters: Any, region: I64, x: F64, y: F64) -> I8:
    """By pair of a region and a place within its bounds, which are all there is of one without a shape."""
    shape, grid, cells, numbers = rasters
    found = np.full(len(region), INSIDE, np.int8)
    for i in range(len(region)):
        if shape[region[i]] >= 0:
            found[i] = side_of(grid, cells, numbers, shape[region[i]], x[i], y[i])
    return found


def rastered(bounds: F64, corners: Corners) -> Rasters:
    """The rasters of polygons, each of them a region, from their bounds and corners."""
    grid, size = grids(bounds, np.diff(corners.corner[corners.ring]))
    cells = np.zeros(size, np.uint8)
    fill(grid, cells, corners)
    return Rasters(np.arange(len(bounds), dtype=np.int32), grid, cells, np.empty(0))


def blank(rasters: Rasters) -> Rasters:
    """The same that know nothing of polygons: a cell each, on the border. The reference twin."""
    grid = rasters.grid.copy()
    areas = np.flatnonzero(grid[:, LAW] <= OUTER_AREA)
    for column, value in ((BY_X, 0), (BY_Y, 0), (COLUMNS, 1), (LINES, 1)):
        grid[areas, column] = value
    grid[areas, FIRST] = np.arange(len(areas))
    return rasters._replace(grid=grid, cells=np.full(len(areas), BORDER, np.uint8))


def together(some: Rasters, more: Rasters, shape: I32) -> Rasters:
    """Rasters of shapes and of more shapes, for regions with these numbers of either."""
    grid = more.grid.copy()
    is_area = grid[:, LAW] <= OUTER_AREA
    grid[is_area, FIRST] += len(some.cells)
    for column in (FIRST, LAST):
        grid[~is_area, column] += len(some.numbers)
    return Rasters(
        shape,
        np.concatenate([some.grid, grid]),
        np.concatenate([some.cells, more.cells]),
        np.concatenate([some.numbers, more.numbers]),
    )


def grids(bounds: F64, corners: I64) -> tuple[F64, int]:
    """Cells that are about squares, and their bytes; a single one of what is too large or small for that."""
    many = np.clip(CELLS_A_CORNER * corners, FEWEST_CELLS, MOST_CELLS)
    with np.errstate(all="ignore"):
        left, low, length, height = *bounds.T[:2], *(bounds.T[2:] - bounds.T[:2])
        columns = np.clip(np.floor(np.sqrt(many) * np.sqrt(length / height)), 1, many)
        lines = many // columns
        by_x, by_y = columns / length, lines / height
    least, most = np.minimum(by_x, by_y), np.maximum(by_x, by_y)
    is_one = ~((least > SMALL) & (most < 1 / SMALL))
    for column, value in ((by_x, 0), (by_y, 0), (columns, 1), (lines, 1)):
        column[is_one] = value
    ends = np.cumsum((columns * lines + 3) // 4)
    first = ends - (columns * lines + 3) // 4
    grid = np.column_stack([left, low, by_x, by_y, columns, lines, first, np.zeros(len(bounds))])
    return np.ascontiguousarray(grid), int(ends[-1])


@jit
def fill(grid: F64, cells: U8, corners: Any) -> None:
    """Every cell is told its side; all of them were 0."""
    ring, corner, xy = corners
    for s in range(len(grid)):
        left, low, by_x, by_y = grid[s, LEFT], grid[s, LOW], grid[s, BY_X], grid[s, BY_Y]
        columns, lines = int(grid[s, COLUMNS]), int(grid[s, LINES])
        found = np.zeros(columns * lines, np.uint8)
        for r in range(ring[s], ring[s + 1]):
            for k in range(corner[r], corner[r + 1] - 1):
                u1, v1 = along(xy[k, 0], left, by_x), along(xy[k, 1], low, by_y)
                u2, v2 = along(xy[k + 1, 0], left, by_x), along(xy[k + 1, 1], low, by_y)
                draw(found, columns, lines, u1, v1, u2, v2)
                cross_lines(found, columns, lines, u1, v1, u2, v2)
        pack(found, columns, cells[int(grid[s, FIRST]) :])


@jit_bare
def draw(found: U8, columns: int, lines: int, u1: float, v1: float, u2: float, v2: float) -> None:
    """The cells that an edge passes are on the border, and those that it nearly passes."""
    if u1 > u2:
        u1, v1, u2, v2 = u2, v2, u1, v1
    for column in range(cell_at(u1 - SLACK, columns), cell_at(u2 + SLACK, columns) + 1):
        enter = max(u1, column - SLACK)
        leave = min(u2, column + 1 + SLACK)
        from_v = v1 + (enter - u1) / (u2 - u1) * (v2 - v1) if enter > u1 else v1
        to_v = v1 + (leave - u1) / (u2 - u1) * (v2 - v1) if leave < u2 else v2
        low, high = cell_at(min(from_v, to_v) - SLACK, lines), cell_at(max(from_v, to_v) + SLACK, lines)
        for line in range(low, high + 1):
            found[line * columns + column] |= BORDER


@jit_bare
def cross_lines(found: U8, columns: int, lines: int, u1: float, v1: float, u2: float, v2: float) -> None:
    """What follows a crossing of an edge with the middle of a line turns from outside to inside, or back.

    The cell of the crossing is on the border, so that rounding does not matter.
    """
    if v1 > v2:
        u1, v1, u2, v2 = u2, v2, u1, v1
    for line in range(cell_at(v1 - 1, lines), cell_at(v2 + 1, lines) + 1):
        middle = line + 0.5
        if v1 <= middle < v2:
            u = u1 + (middle - v1) / (v2 - v1) * (u2 - u1)
            column = cell_at(min(max(u, min(u1, u2)), max(u1, u2)), columns)
            found[line * columns + column] ^= INSIDE


@jit_bare
def pack(found: U8, columns: int, cells: U8) -> None:
    """Crossings become what they lead to, four cells a byte."""
    now = OUTSIDE
    for cell in range(len(found)):
        if cell % columns == 0:
            now = OUTSIDE
        now ^= found[cell] & INSIDE
        side = BORDER if found[cell] & BORDER else now
        cells[cell >> 2] |= side << ((cell & 3) << 1)
