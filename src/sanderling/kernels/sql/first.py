"""The first n of ordered rows, kept as rows come and go.

rows in order:  a a b c c c │ d e …      shown: all before the cut, of the cut's own row a part
                        cut ┘

A change moves the cut by no more rows than it brings or takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit
from sanderling.kernels.sql.ranking import Forest, change, is_before, neighbour, outermost


class Shown(NamedTuple):
    """How often each row is shown; by owner, how many in all, and the last row of them (-1: none yet)."""

    times: I64
    total: I64
    cut: I64


@jit
def show(shown: Shown, owner: int, row: int, more: int, told: I64, n: int, tick: int) -> tuple[I64, int]:
    """A row is shown more or less often, which is told: row, tick, sign."""
    if more == 0:
        return told, n
    shown.times[row] += more
    shown.total[owner] += more
    if n == len(told):
        grown = np.empty((2 * n + 16, 3), np.int64)
        grown[:n] = told
        told = grown
    told[n, 0], told[n, 1], told[n, 2] = row, tick, more
    return told, n + 1


@jit
def move_cut(
    f: Forest, shown: Shown, owner: int, limit: int, told: I64, n: int, tick: int
) -> tuple[I64, int]:
    """Shows as many as there are to be, starting from the cut."""
    while shown.total[owner] > limit:
        cut = shown.cut[owner]
        if shown.times[cut] == 0:
            shown.cut[owner] = neighbour(f, owner, cut, 0)
            continue
        less = min(shown.times[cut], shown.total[owner] - limit)
        told, n = show(shown, owner, cut, -less, told, n, tick)
    while shown.total[owner] < limit:
        cut = shown.cut[owner]
        if cut >= 0 and f.times[cut] > shown.times[cut]:
            more = min(f.times[cut] - shown.times[cut], limit - shown.total[owner])
            told, n = show(shown, owner, cut, more, told, n, tick)
            continue
        behind = neighbour(f, owner, cut, 1) if cut >= 0 else outermost(f, owner, 0)
        if behind < 0:
            break
        shown.cut[owner] = behind
    return told, n


@jit
def walk_first(
    f: Forest, shown: Shown, limit: I64, owner: I64, tick: I64, starts: I64, row: I64, sign: I64
) -> I64:
    """What is shown more or less often: row, tick, sign; a row may be told several times in a tick.

    Steps are owners at ticks; changes stand in order of their steps, those of step s from starts[s] on.
    """
    told, n = np.empty((len(row) + 16, 3), np.int64), 0
    for s in range(len(owner)):
        o = owner[s]
        for i in range(starts[s], starts[s + 1]):
            change(f, o, row[i], sign[i])
        for i in range(starts[s], starts[s + 1]):
            r, cut = row[i], shown.cut[o]
            right = f.times[r] if cut >= 0 and is_before(f, r, cut) else min(f.times[r], shown.times[r])
            told, n = show(shown, o, r, right - shown.times[r], told, n, tick[s])
        told, n = move_cut(f, shown, o, limit[s], told, n, tick[s])
    return told[:n]
