"""Tracts of triggers: which one a place is in, and which merge partition has it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I32
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit
from sanderling.kernels.trigger.live import EDGE

SEED = np.uint64(0x9E3779B97F4A7C15)
# As good as hashing for many tracts, and better for few (docs/decisions/0022).
UPWARD = 3

REMEMBERED = 256
NOWHERE = np.iinfo(np.int64).min  # no cell


class Sides(NamedTuple):
    """How wide the tracts of triggers are: many have the same side. What is behind the last is as it is."""

    which: I32  # by query: which of the sides
    side: F64


@jit
def cell_of(place: float, side: float) -> int:
    """Grows with the place, however large; no number is below all."""
    return clipped(np.floor(place / side))


@jit
def clipped(cell: float) -> int:
    return int(-EDGE) if np.isnan(cell) else int(max(-EDGE, min(EDGE, cell)))


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

    What stands behind a -1 means nothing.
    `halo` is by query, as `sides` are.
    """
    to = np.empty((len(query), 4), np.int32)
    some, last = len(sides.side), len(halo) - 1
    turn = np.arange(last + 1) % partitions
    known = np.full(some, -1, np.int64)  # the reading whose home is worked out
    home, home_x, home_y = np.empty(some, np.int64), np.empty(some), np.empty(some)
    # Few tracts are asked for again and again: by side those that were asked for last.
    memory = np.full((some, REMEMBERED, 3), NOWHERE)
    for r in range(len(start) - 1):
        for k in range(start[r], start[r + 1]):
            q = min(query[k], last)
            s, h = sides.which[q], halo[q]
            side, by = sides.side[s], turn[q] if query[k] <= last else query[k] % partitions
            if known[s] != r:
                known[s] = r
                home_x[s], home_y[s] = np.floor(x[r] / side), np.floor(y[r] / side)
                home[s] = dealt_first(clipped(home_x[s]), clipped(home_y[s]), partitions)
            low_x = high_x = home_x[s]
            low_y = high_y = home_y[s]
            if h > 0:
                low_x, high_x = np.floor((x[r] - h) / side), np.floor((x[r] + h) / side)
                low_y, high_y = np.floor((y[r] - h) / side), np.floor((y[r] + h) / side)
            if low_x == home_x[s] == high_x and low_y == home_y[s] == high_y:
                part = home[s] + by
                to[k, 0], to[k, 1] = part if part < partitions else part - partitions, -1
                continue
            n = 0
            for i in range(1 if low_x == high_x else 2):
                cell_x = clipped(low_x if i == 0 else high_x)
                for j in range(1 if low_y == high_y else 2):
                    cell_y = clipped(low_y if j == 0 else high_y)
                    m = (cell_x + 16 * cell_y) & (REMEMBERED - 1)
                    if memory[s, m, 0] != cell_x or memory[s, m, 1] != cell_y:
                        memory[s, m, 0], memory[s, m, 1] = cell_x, cell_y
                        memory[s, m, 2] = dealt_first(cell_x, cell_y, partitions)
                    part = memory[s, m, 2] + by
                    part = part if part < partitions else part - partitions
                    is_new = True
                    for before in range(n):
                        is_new = is_new and to[k, before] != part
                    if is_new:
                        to[k, n] = part
                        n += 1
            if n < 4:
                to[k, n] = -1
    return to
