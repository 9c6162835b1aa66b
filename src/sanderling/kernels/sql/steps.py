"""Changes in order of time, walked once: what they make of counts, step by step.

A step is one thing (a row, a group) at one time. Changes stand in the order of their steps.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit


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
