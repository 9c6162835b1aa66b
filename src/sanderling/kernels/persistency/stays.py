"""Stays of keys, walked in order of time: what changes, and what becomes due between two changes.

there:   ──────┐     ┌──────┐
               └─────┘      └──────────        a break within the grace is none
told:       ┌──────────────────────┐
          since + stay        gone + grace
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.jit import jit, jit_bare

NEVER = np.iinfo(np.int64).max


class Stays(NamedTuple):
    """By key the row that it shows, or showed last, -1 without a stay; when the stay began, when it went.

    `due`: when something is to be told though nothing comes. NEVER stands for a tick that there is not.
    """

    row: I64
    since: I64
    gone: I64
    is_long: Bools  # long enough: its row is told
    due: I64


class Asked(NamedTuple):
    """By key that is looked at, in whole ticks."""

    stay: I64
    grace: I64


@jit
def rows_before(key: I64, after: I64, row: I64) -> I64:
    """The row that each step's key showed last before it; `after` is what it shows then, -1: nothing."""
    before, last = np.empty(len(key), np.int64), np.int64(-1)
    for s in range(len(key)):
        if s == 0 or key[s] != key[s - 1]:
            last = row[key[s]]
        before[s] = last
        if after[s] >= 0:
            last = after[s]
    return before


@jit_bare
def tell(told: I64, n: int, row: int, tick: int, sign: int) -> int:
    if row < 0:
        return n
    told[n, 0], told[n, 1], told[n, 2] = row, tick, sign
    return n + 1


@jit_bare
def shown(stays: Stays, key: int) -> int:
    return int(stays.row[key]) if stays.is_long[key] else -1


@jit_bare
def end(stays: Stays, key: int) -> None:
    stays.row[key], stays.since[key], stays.gone[key] = -1, NEVER, NEVER
    stays.is_long[key], stays.due[key] = False, NEVER


@jit_bare
def pass_time(stays: Stays, key: int, until: int, told: I64, n: int) -> int:
    """What becomes due up to a tick, if nothing changes: a stay is long enough, or over."""
    at = stays.due[key]
    if at > until:
        return n
    if stays.gone[key] == NEVER:
        stays.is_long[key], stays.due[key] = True, NEVER
        return tell(told, n, stays.row[key], at, 1)
    n = tell(told, n, shown(stays, key), at, -1)
    end(stays, key)
    return n


@jit_bare
def change(
    stays: Stays, key: int, tick: int, row: int, may_go_on: bool, stay: int, grace: int, told: I64, n: int
) -> int:
    """From this tick on a key shows this row, or nothing."""
    was = shown(stays, key)
    if row >= 0:
        is_other = stays.row[key] != row
        if stays.since[key] == NEVER or (is_other and not may_go_on):
            stays.since[key], stays.is_long[key] = tick, False
        stays.row[key], stays.gone[key] = row, NEVER
        stays.is_long[key] = stays.is_long[key] or tick - stays.since[key] >= stay
        stays.due[key] = NEVER if stays.is_long[key] else stays.since[key] + stay
    elif stays.since[key] != NEVER and stays.gone[key] == NEVER:
        if grace == 0:
            end(stays, key)
        else:
            stays.gone[key], stays.due[key] = tick, tick + grace
    now = shown(stays, key)
    if now == was:
        return n
    return tell(told, tell(told, n, was, tick, -1), now, tick, 1)


@jit
def walk_stays(
    stays: Stays,
    keys: I64,
    asked: Asked,
    starts: I64,
    tick: I64,
    after: I64,
    may_go_on: Bools,
    closed_to: int,
) -> I64:
    """What is told: row, tick, sign; each row of a tick once.

    Steps stand by key, then tick, those of keys[k] from starts[k] on. What is due at the tick of a step is
    decided by the step.
    """
    told, n = np.empty((3 * len(tick) + len(keys), 3), np.int64), 0
    for k in range(len(keys)):
        key = keys[k]
        for s in range(starts[k], starts[k + 1]):
            n = pass_time(stays, key, tick[s] - 1, told, n)
            n = change(
                stays, key, tick[s], after[s], may_go_on[s], asked.stay[k], asked.grace[k], told, n
            )  # fmt: skip
        n = pass_time(stays, key, closed_to, told, n)
    return told[:n]
