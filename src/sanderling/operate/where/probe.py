"""What INSIDE would find if it came first: tried with a few of the moves, while WHERE comes first."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64, U64
from sanderling.kernels.inside.cross import IS, WAS, Moves, Rules, cross
from sanderling.kernels.inside.grid import build_grid
from sanderling.space.geometry import Geometry
from sanderling.space.outlines.raster import Rasters

# So many moves; fewer where regions are many, since all of them may hold a place.
MOVES, MEETINGS, FEWEST = 1_024, 1 << 21, 16


def a_few(moves: int, regions: int) -> I64:
    """Some moves, from all parts of a batch; the same ones for the same batch."""
    n = min(moves, MOVES, max(FEWEST, MEETINGS // max(1, regions)))
    return np.linspace(0, moves - 1, n).astype(np.int64)


def taken(moves: Moves, some: I64) -> Moves:
    """Some moves, as if every condition held."""
    always = np.ones((1, len(some)), np.bool_)
    return Moves(
        moves.object[some], moves.old_x[some], moves.old_y[some], moves.new_x[some], moves.new_y[some],
        moves.changed[some], always, always,
    )  # fmt: skip


def arrived(x: F64, y: F64) -> Moves:
    """Readings as if their objects had not been anywhere before."""
    n = len(x)
    nowhere, always = np.full(n, np.nan), np.ones((1, n), np.bool_)
    return Moves(np.full(n, -2), nowhere, nowhere, x, y, np.zeros(n, np.uint64), always, always)


def found(moves: Moves, watch: U64, geometry: Geometry, rasters: Rasters) -> int:
    """How often a move would have had to be judged, before it or after."""
    n = len(watch)
    if not n or not len(moves.object):
        return 0
    grid = build_grid(geometry)
    rules = Rules(watch, np.zeros(n, np.int64), np.full(n, -1))
    _, _, state = cross(moves, rules, geometry, grid, geometry, grid, rasters)
    return int(np.count_nonzero(state & WAS) + np.count_nonzero(state & IS))
