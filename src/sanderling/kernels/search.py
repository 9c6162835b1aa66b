"""The solutions that an event completes: forward checking.

The event stands for one variable. Whenever a variable gets an event, what does not agree with it is left out
of the events that the others may have; where none is left for one, the next event is tried.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanderling.kernels.agree import KIND_OF, Pairs, agree
from sanderling.kernels.jit import jit
from sanderling.kernels.live import NONE, ORDER

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


@jit
def grown(column: I64) -> I64:
    wide = np.empty(2 * len(column), column.dtype)
    wide[: len(column)] = column
    return wide


@jit
def tell(out: I64, told: int, row: int, whole: I64, chosen: I64) -> I64:
    """Writes a solution: the row that completes it, and the event of each variable."""
    if told == len(out):
        wide = np.empty((2 * told, out.shape[1]), np.int64)
        wide[:told] = out
        out = wide
    out[told, 0] = row
    for v in range(len(chosen)):
        out[told, v + 1] = whole[chosen[v], ORDER]
    return out


@jit
def sort_by_order(whole: I64, stack: I64, lo: int, hi: int) -> None:
    some = stack[lo:hi].copy()
    stack[lo:hi] = some[np.argsort(whole[some, ORDER])]


@jit
def next_variable(chosen: I64, lo: I64, hi: I64, is_first: bool) -> int:
    """The one with the fewest events; for the smallest solution, the first."""
    best = NONE
    for v in range(len(chosen)):
        if chosen[v] == NONE and (best == NONE or hi[v] - lo[v] < hi[best] - lo[best]):
            best = v
            if is_first:
                break
    return best


@jit
def search(
    pairs: Pairs, whole: I64, place: F64, row: int, i: int, mine: int, start: I64, end: I64, pool: I64,
    is_first: bool, stack: I64, out: I64, told: int,
) -> tuple[I64, I64, int]:  # fmt: skip
    """Adds the solutions (or the smallest) in which entry `mine` is variable i and none before i.

    The entries that kind d may have, as far as `mine` shows, stand in the pool from start[d] to end[d].
    """
    m, kinds = len(pairs.variables), len(start)
    chosen = np.full(m, NONE)
    chosen[i] = mine
    if m == 1:
        return stack, tell(out, told, row, whole, chosen), told + 1
    lo, hi = np.zeros((m, m), np.int64), np.zeros((m, m), np.int64)
    tops, at, pos = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    top = 0
    for v in range(m):
        if v == i:
            continue
        d, lo[0, v] = pairs.variables[v, KIND_OF], top
        while top + end[d] - start[d] > len(stack):
            stack = grown(stack)
        for p in range(start[d], end[d]):
            a = pool[p]
            if (v > i or whole[a, ORDER] != whole[mine, ORDER]) and agree(
                pairs, whole, place, kinds, i, mine, v, a
            ):
                stack[top] = a
                top += 1
        hi[0, v] = top
        if top == lo[0, v]:
            return stack, out, told
        if is_first:
            sort_by_order(whole, stack, lo[0, v], top)
    tops[0], level = top, 1
    at[1] = next_variable(chosen, lo[0], hi[0], is_first)
    pos[1] = lo[0, at[1]]
    while level > 0:
        v = at[level]
        if pos[level] == hi[level - 1, v]:
            chosen[v] = NONE
            level -= 1
            continue
        chosen[v] = stack[pos[level]]
        pos[level] += 1
        if level == m - 1:
            out = tell(out, told, row, whole, chosen)
            told += 1
            if is_first:
                break
            continue
        top, is_possible = tops[level - 1], True
        for u in range(m):
            if chosen[u] != NONE:
                continue
            lo[level, u] = top
            while top + hi[level - 1, u] - lo[level - 1, u] > len(stack):
                stack = grown(stack)
            for p in range(lo[level - 1, u], hi[level - 1, u]):
                if agree(pairs, whole, place, kinds, v, chosen[v], u, stack[p]):
                    stack[top] = stack[p]
                    top += 1
            hi[level, u] = top
            if top == lo[level, u]:
                is_possible = False
                break
        if is_possible:
            tops[level] = top
            at[level + 1] = next_variable(chosen, lo[level], hi[level], is_first)
            pos[level + 1] = lo[level, at[level + 1]]
            level += 1
    return stack, out, told
