"""Who is in a step of a pattern, since when: walked in order of time, as stays are (persistency/stays.py)."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.persistency.stays import Asked, Stays, change, pass_time

# Of an event: whose, when, the row of then (-1: not there), since when it stays (NEVER: it does not), and
# whether it has just been there for long enough.
KEY, TICK, ROW, SINCE, IS_LONG = range(5)


@jit_bare
def note(events: I64, n: int, stays: Stays, key: int, tick: int, row: int, was_long: bool) -> int:
    events[n, KEY], events[n, TICK], events[n, ROW], events[n, SINCE] = key, tick, row, stays.since[key]
    events[n, IS_LONG] = 1 if stays.is_long[key] and not was_long else 0
    return n + 1


@jit_bare
def pass_by(stays: Stays, key: int, until: int, told: I64, events: I64, n: int) -> int:
    """What becomes due: a stay is long enough, or is over."""
    at, was_long = stays.due[key], stays.is_long[key]
    if at > until:
        return n
    pass_time(stays, key, until, told, 0)
    return note(events, n, stays, key, at, stays.row[key], was_long)


@jit
def walk_presence(
    stays: Stays, keys: I64, asked: Asked, starts: I64, tick: I64, after: I64, may_go_on: Bools,
    closed_to: int,
) -> I64:  # fmt: skip
    """The events of keys, each key's in order of time; what is given is that of `walk_stays`."""
    events, told, n = np.empty((2 * len(tick) + len(keys), 5), np.int64), np.empty((4, 3), np.int64), 0
    for k in range(len(keys)):
        key = keys[k]
        for s in range(starts[k], starts[k + 1]):
            n = pass_by(stays, key, tick[s] - 1, told, events, n)
            was_long, since = stays.is_long[key], stays.since[key]
            change(stays, key, tick[s], after[s], may_go_on[s], asked.stay[k], asked.grace[k], told, 0)
            n = note(events, n, stays, key, tick[s], after[s], was_long and stays.since[key] == since)
        n = pass_by(stays, key, closed_to, told, events, n)
    return events[:n]
