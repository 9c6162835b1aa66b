"""Readings of closed ticks to moves: what each object's last reading was before and after each tick."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.jit import jit


@jit
def rows_by_object(objects: I64, n_objects: int, by_time: I64) -> I64:
    """Row numbers grouped by object, each object's in the order that `by_time` has them."""
    starts = np.zeros(n_objects + 1, np.int64)
    for i in range(len(objects)):
        starts[objects[i] + 1] += 1
    for o in range(n_objects):
        starts[o + 1] += starts[o]
    ordered = np.empty(len(objects), np.int64)
    for i in by_time:
        o = objects[i]
        ordered[starts[o]] = i
        starts[o] += 1
    return ordered


@jit
def stale_tick(ts: int, stale_us: int, tick_us: int) -> int:
    """The first tick in which an object last heard of at `ts` is silent for longer than `stale_us`."""
    return ((ts + stale_us) // tick_us + 1) * tick_us


@jit
def last_of_each(ordered: I64, objects: I64, many: int) -> Bools:
    """Of readings in order of object, then time: which are among the last so many of their object."""
    n = len(ordered)
    is_last = np.zeros(len(objects), np.bool_)
    for k in range(n):
        is_last[ordered[k]] = k + many >= n or objects[ordered[k + many]] != objects[ordered[k]]
    return is_last


@jit
def order_by_tick(tick: I64, tick_us: int) -> I64:
    """Moves in order of tick, those of one tick as they are; nothing if all are in order already."""
    n = len(tick)
    first, last, is_in_order = (tick[0], tick[0], True) if n else (0, 0, True)
    for i in range(1, n):
        is_in_order = is_in_order and tick[i] >= tick[i - 1]
        first, last = min(first, tick[i]), max(last, tick[i])
    if is_in_order:
        return np.empty(0, np.int64)
    if (last - first) // tick_us > 4 * n:
        return np.argsort(tick, kind="mergesort")
    starts = np.zeros((last - first) // tick_us + 2, np.int64)
    for i in range(n):
        starts[(tick[i] - first) // tick_us + 1] += 1
    for t in range(1, len(starts)):
        starts[t] += starts[t - 1]
    order = np.empty(n, np.int64)
    for i in range(n):
        t = (tick[i] - first) // tick_us
        order[starts[t]] = i
        starts[t] += 1
    return order


@jit
def fold(
    ordered: I64, objects: I64, ts: I64, is_gone: Bools, row_of: I64, ts_of: I64,
    first_row: int, tick_us: int, stale_us: int, closed_to: int,
) -> tuple[I64, I64, I64, I64, I64]:  # fmt: skip
    """Applies readings to the objects they are of; `row_of` and `ts_of` change in place.

    Only the last reading of an object in a tick counts. Gives the readings to store, in order of arrival
    (as positions; the first gets row `first_row`) and the moves: tick, object, row before, row after; -1 is
    absent. `stale_us` below 0 means that silence never ends an object.
    """
    n = len(ordered)
    is_kept = np.zeros(n, np.bool_)
    room = n if stale_us < 0 else 3 * n
    tick, who, old, new = (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    n_kept, n_moves = 0, 0
    for k in range(n):
        i = ordered[k]
        o = objects[i]
        end = -(-ts[i] // tick_us) * tick_us
        is_object_done = k + 1 == n or objects[ordered[k + 1]] != o
        if not is_object_done and -(-ts[ordered[k + 1]] // tick_us) * tick_us == end:
            continue  # a later reading of the same tick replaces it
        before = row_of[o]
        if before >= 0 and stale_us >= 0:
            silent = stale_tick(ts_of[o], stale_us, tick_us)
            if silent < end:
                tick[n_moves], who[n_moves], old[n_moves], new[n_moves] = silent, o, before, -1
                n_moves += 1
                before = -1
        after = -1
        if not is_gone[i] and (stale_us < 0 or end - ts[i] <= stale_us):
            is_kept[i] = True
            after = first_row + i  # if all are kept
            n_kept += 1
        if before >= 0 or after >= 0:
            tick[n_moves], who[n_moves], old[n_moves], new[n_moves] = end, o, before, after
            n_moves += 1
        ts_of[o] = ts[i]
        if is_object_done and after >= 0 and stale_us >= 0:
            silent = stale_tick(ts[i], stale_us, tick_us)
            if silent <= closed_to:
                tick[n_moves], who[n_moves], old[n_moves], new[n_moves] = silent, o, after, -1
                n_moves += 1
                after = -1
        row_of[o] = after
    kept = np.flatnonzero(is_kept)
    if n_kept < n:
        rank = np.cumsum(is_kept) - 1
        for m in range(n_moves):
            old[m] = old[m] if old[m] < first_row else first_row + rank[old[m] - first_row]
            new[m] = new[m] if new[m] < first_row else first_row + rank[new[m] - first_row]
            row_of[who[m]] = new[m]  # an object's last move comes last
    return kept, tick[:n_moves], who[:n_moves], old[:n_moves], new[:n_moves]
