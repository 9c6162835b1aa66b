"""Tracts of triggers: which one a place is in, and which merge partition has it (merge/tracts.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit
from sanderling.kernels.live import EDGE

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
F64 = npt.NDArray[np.float64]

SEED = np.uint64(0x9E3779B97F4A7C15)
# As good as hashing for many tracts, and better for few (docs/decisions/0022).
UPWARD = 3


class Sides(NamedTuple):
    """By trigger how wide its tracts are: few triggers have sides of their own."""

    trigger: I32  # by query
    which: I64  # by trigger: which of the sides
    side: F64


@jit
def cell_of(place: float, side: float) -> int:
    """Grows with the place, however large; no number is below all."""
    at = np.floor(place / side)
    if np.isnan(at):
        return int(-EDGE)
    return int(max(-EDGE, min(EDGE, at)))


@jit
def dealt_first(cell_x: int, cell_y: int, partitions: int) -> int:
    """The merge partition of a tract of the query 0."""
    patch_x, patch_y = (cell_x + 4) >> 3, (cell_y + 4) >> 3
    first = mix(np.uint64(np.int64(mix(np.uint64(patch_x) + SEED)) ^ patch_y) + SEED)
    dealt = cell_x % partitions + UPWARD * (cell_y % partitions)
    return (int(first % np.uint64(partitions)) + dealt) % partitions


@jit
def reached(start: I32, query: I32, x: F64, y: F64, sides: Sides, halo: F64, partitions: int) -> I32:
    """By reading and query the merge partitions of tracts within its halo: up to four, each once, then -1.

    `halo` is by trigger.
    """
    to = np.full((len(query), 4), -1, np.int32)
    some = len(sides.side)
    known = np.full(some, -1, np.int64)  # the reading whose home is worked out
    home_x, home_y, home = np.empty(some, np.int64), np.empty(some, np.int64), np.empty(some, np.int64)
    last = len(sides.which) - 1
    for r in range(len(start) - 1):
        for k in range(start[r], start[r + 1]):
            trigger = sides.trigger[query[k]] if query[k] < len(sides.trigger) else last
            s, h = sides.which[trigger], halo[trigger]
            side, turn = sides.side[s], query[k]
            if known[s] != r:
                known[s] = r
                home_x[s], home_y[s] = cell_of(x[r], side), cell_of(y[r], side)
                home[s] = dealt_first(home_x[s], home_y[s], partitions)
            low_x, high_x = cell_of(x[r] - h, side), cell_of(x[r] + h, side)
            low_y, high_y = cell_of(y[r] - h, side), cell_of(y[r] + h, side)
            if low_x == high_x == home_x[s] and low_y == high_y == home_y[s]:
                to[k, 0] = (home[s] + turn) % partitions
                continue
            n = 0
            for cell_x in (low_x, high_x):
                for cell_y in (low_y, high_y):
                    part = (dealt_first(cell_x, cell_y, partitions) + turn) % partitions
                    is_new = True
                    for j in range(n):
                        is_new = is_new and to[k, j] != part
                    if is_new:
                        to[k, n] = part
                        n += 1
    return to
