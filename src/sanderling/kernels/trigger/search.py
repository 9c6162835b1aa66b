"""The solutions that an event completes: forward checking.

The event stands for one variable. Whenever a variable gets an event, what does not agree with it is left out
of the events that the others may have; where none is left for one, the next event is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit_bare
from sanderling.kernels.trigger.agree import KIND_OF, Pairs, agree
from sanderling.kernels.trigger.live import NONE, ORDER, Live

FULL = -1


class Desk(NamedTuple):
    """What a search writes on, used again and again. By level, of which each gives a variable its event."""

    stack: I64  # entries that variables may have, for each level and variable from lo to hi
    lo: I64
    hi: I64
    chosen: I64  # by variable
    tops: I64  # by level: where its part of the stack ends
    at: I64  # its variable
    pos: I64  # what that variable gets next


def new_desk(m: int, entries: int) -> Desk:
    """For m variables, which may have so many entries in all."""
    table = np.zeros((2 * m + 4, m), np.int64)
    return Desk(np.empty(m * entries, np.int64), table[:m], table[m : 2 * m], *table[2 * m :])


@jit_bare
def tell(out: I64, told: int, row: int, whole: I64, chosen: I64) -> int:
    """Writes a solution: the row that completes it, and the event of each variable. FULL: no room."""
    if told == len(out):
        return FULL
    out[told, 0] = row
    for v in range(len(chosen)):
        out[told, v + 1] = whole[chosen[v], ORDER]
    return told + 1


@jit_bare
def sort_by_order(whole: I64, stack: I64, lo: int, hi: int) -> None:
    """Shell's way: in place."""
    gap = (hi - lo) // 2
    while gap > 0:
        for at in range(lo + gap, hi):
            entry, to = stack[at], at
            while to >= lo + gap and whole[stack[to - gap], ORDER] > whole[entry, ORDER]:
                stack[to] = stack[to - gap]
                to -= gap
            stack[to] = entry
        gap //= 2


@jit_bare
def next_variable(chosen: I64, lo: I64, hi: I64, is_first: bool) -> int:
    """The one with the fewest events; for the smallest solution, the first."""
    best = NONE
    for v in range(len(chosen)):
        if chosen[v] == NONE and (best == NONE or hi[v] - lo[v] < hi[best] - lo[best]):
            best = v
            if is_first:
                break
    return best


@jit_bare
def begin(
    pairs: Pairs, live: Live, t: int, i: int, mine: int, start: I64, end: I64, pool: I64, is_first: bool,
    desk: Desk,
) -> int:  # fmt: skip
    """Lays out what each variable may have beside the event at hand; how much that is, 0: one has none."""
    top, whole = 0, live.whole
    for v in range(len(pairs.variables)):
        desk.chosen[v] = NONE
        if v == i:
            continue
        d, desk.lo[0, v] = pairs.variables[v, KIND_OF], top
        for p in range(start[d], end[d]):
            a = pool[p]
            # Of variables that have the event, i is the first: each solution is found once.
            is_free = v > i or whole[a, ORDER] != whole[mine, ORDER]
            if is_free and agree(pairs, live, t, i, mine, v, a):
                desk.stack[top] = a
                top += 1
        desk.hi[0, v] = top
        if top == desk.lo[0, v]:
            return 0
        if is_first:
            sort_by_order(whole, desk.stack, desk.lo[0, v], top)
    desk.chosen[i] = mine
    return top


@jit_bare
def narrow(pairs: Pairs, live: Live, t: int, level: int, desk: Desk) -> bool:
    """Leaves out what does not agree with the variable of this level; whether all others have some left."""
    top, v = desk.tops[level - 1], desk.at[level]
    for u in range(len(desk.chosen)):
        if desk.chosen[u] != NONE:
            continue
        desk.lo[level, u] = top
        for p in range(desk.lo[level - 1, u], desk.hi[level - 1, u]):
            if agree(pairs, live, t, v, desk.chosen[v], u, desk.stack[p]):
                desk.stack[top] = desk.stack[p]
                top += 1
        desk.hi[level, u] = top
        if top == desk.lo[level, u]:
            return False
    desk.tops[level] = top
    return True


@jit_bare
def go_on(level: int, desk: Desk, is_first: bool) -> int:
    """The next level, with its variable."""
    v = next_variable(desk.chosen, desk.lo[level], desk.hi[level], is_first)
    desk.at[level + 1], desk.pos[level + 1] = v, desk.lo[level, v]
    return level + 1


@jit_bare
def search(
    pairs: Pairs, live: Live, t: int, row: int, i: int, mine: int, start: I64, end: I64, pool: I64,
    is_first: bool, desk: Desk, out: I64, told: int,
) -> int:  # fmt: skip
    """Adds the solutions (or the smallest) in which entry `mine` is variable i and none before i.

    Comes back with how many are told then, or FULL.
    The entries that kind d may have, as far as `mine` shows, stand in the pool from start[d] to end[d].
    """
    m, chosen, whole = len(pairs.variables), desk.chosen, live.whole
    if m == 1:
        chosen[i] = mine
        return tell(out, told, row, whole, chosen)
    desk.tops[0] = begin(pairs, live, t, i, mine, start, end, pool, is_first, desk)
    level = go_on(0, desk, is_first) if desk.tops[0] > 0 else 0
    while level > 0:
        v = desk.at[level]
        if desk.pos[level] == desk.hi[level - 1, v]:
            chosen[v] = NONE
            level -= 1
            continue
        chosen[v] = desk.stack[desk.pos[level]]
        desk.pos[level] += 1
        if level == m - 1:
            told = tell(out, told, row, whole, chosen)
            if is_first or told == FULL:
                break
        elif narrow(pairs, live, t, level, desk):
            level = go_on(level, desk, is_first)
    return told
