"""Changes in order of time as steps: each key at each tick at which it changes, and the row it shows then.

changes of a tick ──► how often each row is there ──► the first row of each key that changed
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.persistency.numbers import Numbers, give_back
from sanderling.kernels.persistency.stays import NEVER, Stays
from sanderling.kernels.sql.ranking import Forest, change, outermost


@jit_bare
def step_of(key: int, first: int, n: int, keys: I64, mark: I64) -> int:
    """The step of a key among those of this tick, from `first` on; n: it has none yet."""
    s = mark[key]
    return s if first <= s < n and keys[s] == key else n


@jit
def steps_alone(row: I64, tick: I64, sign: I64, times: I64, mark: I64) -> tuple[I64, I64, I64]:
    """Of rows that are keys of their own: key, tick, and the row or -1; changes stand in order of tick.

    `times` says how often each row is there, and changes; what is in `mark` does not matter.
    """
    n = len(row)
    keys, ticks, after = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    count, first = 0, 0
    for i in range(n):
        if i and tick[i] != tick[i - 1]:
            first = count
        k = row[i]
        s = step_of(k, first, count, keys, mark)
        if s == count:
            keys[s], ticks[s], mark[k] = k, tick[i], s
            count += 1
        times[k] += sign[i]
        after[s] = k if times[k] != 0 else -1
    return keys[:count], ticks[:count], after[:count]


@jit
def steps_among(forest: Forest, key: I64, row: I64, tick: I64, sign: I64, mark: I64) -> tuple[I64, I64, I64]:
    """The same of keys that may have several rows: each shows the first of them."""
    n = len(row)
    keys, ticks, after = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    count, first = 0, 0
    for i in range(n):
        if i and tick[i] != tick[i - 1]:
            for s in range(first, count):
                after[s] = outermost(forest, keys[s], 0)
            first = count
        s = step_of(key[i], first, count, keys, mark)
        if s == count:
            keys[s], ticks[s], mark[key[i]] = key[i], tick[i], s
            count += 1
        change(forest, key[i], row[i], sign[i])
    for s in range(first, count):
        after[s] = outermost(forest, keys[s], 0)
    return keys[:count], ticks[:count], after[:count]


@jit
def free_alone(keys: Numbers, times: I64, stays: Stays, holds: I64, some: I64) -> None:
    """Gives back those of some keys that are not there, have no stay, and that nobody holds."""
    for i in range(len(some)):
        k = some[i]
        is_over = times[k] == 0 and stays.since[k] == NEVER and holds[k] == 0
        if keys.is_used[k] and is_over:
            give_back(keys, k)


@jit
def free_among(
    keys: Numbers, rows: Numbers, times: I64, root: I64, stays: Stays, holds: I64, some_keys: I64,
    some_rows: I64,
) -> None:  # fmt: skip
    """The same where keys have rows: first those of the rows that are not there, and that no key shows."""
    for i in range(len(some_rows)):
        r = some_rows[i]
        if rows.is_used[r] and times[r] == 0 and stays.row[rows.codes[r, 0]] != r:
            give_back(rows, r)
    for i in range(len(some_keys)):
        k = some_keys[i]
        is_over = root[k] < 0 and stays.since[k] == NEVER and holds[k] == 0
        if keys.is_used[k] and is_over:
            give_back(keys, k)
