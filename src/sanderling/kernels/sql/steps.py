"""Changes in order of time, walked once: what they make of counts, step by step.

A step is one thing (a row, a group) at one time. Changes stand in the order of their steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanderling.kernels.jit import jit

I64 = npt.NDArray[np.int64]


@jit
def walk_presence(order: I64, row: I64, time: I64, sign: I64, count: I64) -> tuple[I64, I64, I64]:
    """When rows appear (+1) and disappear (-1): row, time, sign; `count` changes in place.

    `order` has the changes by row, then time.
    """
    n = len(order)
    rows, times, signs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    told = 0
    k = 0
    while k < n:
        i = order[k]
        r, t = row[i], time[i]
        was_there = count[r] > 0
        while k < n and row[order[k]] == r and time[order[k]] == t:
            count[r] += sign[order[k]]
            k += 1
        if (count[r] > 0) != was_there:
            rows[told], times[told], signs[told] = r, t, -1 if was_there else 1
            told += 1
    return rows[:told], times[:told], signs[:told]


@jit
def walk_counts(group: I64, step: I64, sign: I64, count: I64) -> tuple[I64, I64]:
    """The count of each step's group before it and after it; `count` changes in place.

    `group` is by step, groups standing together; changes have their step, in any order.
    """
    before, after = np.zeros(len(group), np.int64), np.zeros(len(group), np.int64)
    for i in range(len(step)):
        after[step[i]] += sign[i]
    for s in range(len(group)):
        before[s] = count[group[s]]
        after[s] += before[s]
        count[group[s]] = after[s]
    return before, after


@jit
def walk_pads(
    order: I64, row: I64, tick: I64, own: I64, partners: I64, count: I64, matches: I64
) -> tuple[I64, I64, I64]:
    """Rows that stand alone as long as they have no partner: row, tick, sign of what changes.

    A change is of the row's own count, or of how many partners it has. `order` has the changes by row, then
    tick. `matches` changes in place, `count` stays: it is what was before.
    """
    n = len(order)
    rows, ticks, signs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    told = 0
    k = 0
    there = 0
    while k < n:
        r, t = row[order[k]], tick[order[k]]
        if k == 0 or row[order[k - 1]] != r:
            there = count[r]
        alone = there if matches[r] == 0 else 0
        while k < n and row[order[k]] == r and tick[order[k]] == t:
            there += own[order[k]]
            matches[r] += partners[order[k]]
            k += 1
        now = there if matches[r] == 0 else 0
        if now != alone:
            rows[told], ticks[told], signs[told] = r, t, now - alone
            told += 1
    return rows[:told], ticks[:told], signs[:told]
