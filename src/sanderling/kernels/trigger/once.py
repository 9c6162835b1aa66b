"""Which of what could be told is told: one of each key, and then none for so long."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.jit import jit

# Not told yet, and never again.
NOTHING_YET, NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@jit
def walk_once(key: I64, tick: I64, every: I64, last: I64) -> Bools:
    """By key and then tick; `last`, by key, is when it was told before, and changes in place."""
    is_told = np.zeros(len(key), np.bool_)
    for i in range(len(key)):
        before = last[key[i]]
        if before == NOTHING_YET or (every[i] != NEVER and tick[i] - before >= every[i]):
            is_told[i] = True
            last[key[i]] = tick[i]
    return is_told


def plain_walk_once(key: I64, tick: I64, every: I64, last: I64) -> Bools:
    """The same, obviously."""
    told: list[bool] = []
    for k, t, e in zip(key.tolist(), tick.tolist(), every.tolist(), strict=True):
        told.append(last[k] == NOTHING_YET or (e != NEVER and t >= int(last[k]) + e))
        last[k] = t if told[-1] else last[k]
    return np.array(told, np.bool_)
