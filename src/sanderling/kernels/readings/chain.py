"""Readings of objects one after the other: which ones count, and which stands before which."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.jit import jit
from sanderling.kernels.readings.fold import stale_tick


@jit
def chain(
    ordered: I64, objects: I64, ts: I64, is_gone: Bools, row_of: I64, ts_of: I64,
    first_row: int, tick_us: int, stale_us: int,
) -> tuple[Bools, I64]:  # fmt: skip
    """Of readings in order of object, then time: which ones count, and the row of the one before each.

    Of two with the same time the later to arrive counts. Rows are those of a store, behind which the
    readings themselves stand from `first_row` on; -1 is none: it is the first of its object, or the
    object was gone or silent for too long in between.
    """
    n = len(ordered)
    counts, before = np.ones(n, np.bool_), np.full(n, -1)
    last, last_ts = -1, 0
    for k in range(n):
        i = ordered[k]
        if k == 0 or objects[ordered[k - 1]] != objects[i]:
            last, last_ts = row_of[objects[i]], ts_of[objects[i]]
        if k + 1 < n and objects[ordered[k + 1]] == objects[i] and ts[ordered[k + 1]] == ts[i]:
            counts[i] = False
            continue
        end = -(-ts[i] // tick_us) * tick_us
        if last >= 0 and (stale_us < 0 or stale_tick(last_ts, stale_us, tick_us) >= end):
            before[i] = last
        last = -1 if is_gone[i] else first_row + i
        last_ts = ts[i]
    return counts, before


def plain_chain(objects: I64, ts: I64, is_gone: Bools, tick_us: int, stale_us: int) -> list[tuple[bool, int]]:
    """The reference twin of `chain` for objects that nothing is known of: looks at all others for each."""
    found = []
    for i in range(len(objects)):
        mine = [j for j in range(len(objects)) if objects[j] == objects[i]]
        counts = not any(ts[j] == ts[i] and j > i for j in mine)
        earlier = [(ts[j], j) for j in mine if ts[j] < ts[i]]
        before = -1
        if earlier:
            time, j = max(earlier)
            end = -(-ts[i] // tick_us) * tick_us
            silent = -(-(time + stale_us + 1) // tick_us) * tick_us
            is_cut = is_gone[j] or (stale_us >= 0 and silent < end)
            before = -1 if is_cut else j
        found.append((counts, before if counts else -1))
    return found
