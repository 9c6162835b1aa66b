"""What stands at a part of the way through ordered values, kept as values come and go.

values in order:  a a b │ c c c d e      a cursor at a row, and how many values are before it

A change moves the cursor by no more rows than it brings or takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64
from sanderling.kernels.jit import jit
from sanderling.kernels.sql.ranking import Forest, change, is_before, neighbour, outermost


class Cursors(NamedTuple):
    """By owner the row (-1: none), how many values are before it, and how many there are in all."""

    row: I64
    before: I64
    total: I64


@jit
def move_to(f: Forest, cursors: Cursors, owner: int, rank: int) -> int:
    """The row that has the value of this rank, counted from 0; there is one."""
    at, before = cursors.row[owner], cursors.before[owner]
    if at < 0:
        at, before = outermost(f, owner, 0), 0
    while rank < before:
        at = neighbour(f, owner, at, 0)
        before -= f.times[at]
    while rank >= before + f.times[at]:
        before += f.times[at]
        at = neighbour(f, owner, at, 1)
    cursors.row[owner], cursors.before[owner] = at, before
    return int(at)


@jit
def look(f: Forest, cursors: Cursors, owner: int, part: float) -> tuple[int, int, float]:
    """The rows that a part of the way is between, and how far it is from one to the other; -1: none."""
    total = cursors.total[owner]
    if total == 0:
        return -1, -1, 0.0
    way = part * (total - 1)
    rank = int(np.floor(way))
    low = move_to(f, cursors, owner, rank)
    high = low
    if way > rank and rank + 1 >= cursors.before[owner] + f.times[low]:
        high = neighbour(f, owner, low, 1)
    return low, high, way - rank


@jit
def walk_quantiles(
    f: Forest, cursors: Cursors, group: I64, starts: I64, row: I64, sign: I64, part: float
) -> tuple[I64, I64, F64]:
    """What each step's group has there before it (line 0) and after it (line 1).

    Changes stand in order of their steps, those of step s from starts[s] on.
    """
    steps = len(group)
    low, high, far = np.empty((2, steps), np.int64), np.empty((2, steps), np.int64), np.empty((2, steps))
    for s in range(steps):
        owner = group[s]
        low[0, s], high[0, s], far[0, s] = look(f, cursors, owner, part)
        for i in range(starts[s], starts[s + 1]):
            change(f, owner, row[i], sign[i])
            cursors.total[owner] += sign[i]
            at = cursors.row[owner]
            if at >= 0 and is_before(f, row[i], at):
                cursors.before[owner] += sign[i]
        if cursors.total[owner] == 0:
            cursors.row[owner], cursors.before[owner] = -1, 0
        low[1, s], high[1, s], far[1, s] = look(f, cursors, owner, part)
    return low, high, far
