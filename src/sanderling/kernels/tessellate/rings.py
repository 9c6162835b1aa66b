"""The last n rows of each tile, as rows come, and tiles go with all they hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit

NOBODY = -1


class Rings(NamedTuple):
    """By tile its first row, its last, and how many; by row the one behind it."""

    first: I64
    last: I64
    size: I64
    behind: I64


@jit
def take_first(rings: Rings, tile: int) -> int:
    row = rings.first[tile]
    rings.first[tile] = rings.behind[row]
    rings.size[tile] -= 1
    return int(row)


@jit
def append(rings: Rings, tile: int, row: int) -> None:
    rings.behind[row] = NOBODY
    if rings.size[tile] == 0:
        rings.first[tile] = row
    else:
        rings.behind[rings.last[tile]] = row
    rings.last[tile] = row
    rings.size[tile] += 1


@jit
def walk_rings(rings: Rings, n: int, tile: I64, row: I64, tick: I64) -> tuple[I64, I64]:
    """Rows that leave, and when. Without a row it is the tile that goes; events are in their order."""
    gone, when, m = np.empty(len(row) + 16, np.int64), np.empty(len(row) + 16, np.int64), 0
    for i in range(len(row)):
        if row[i] != NOBODY:
            append(rings, tile[i], row[i])
        most = n if row[i] != NOBODY else 0
        while rings.size[tile[i]] > most:
            if m == len(gone):
                more, times = np.empty(2 * m, np.int64), np.empty(2 * m, np.int64)
                more[:m], times[:m] = gone, when
                gone, when = more, times
            gone[m], when[m] = take_first(rings, tile[i]), tick[i]
            m += 1
    return gone[:m], when[:m]


def plain_walk_rings(n: int, events: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """The reference twin of `walk_rings`, from empty rings on: tile, row, tick ──► row, tick."""
    held: dict[int, list[int]] = {}
    gone: list[tuple[int, int]] = []
    for tile, row, tick in events:
        mine = held.setdefault(tile, [])
        mine += [] if row == NOBODY else [row]
        going = len(mine) if row == NOBODY else max(len(mine) - n, 0)
        gone += [(one, tick) for one in mine[:going]]
        del mine[:going]
    return gone
