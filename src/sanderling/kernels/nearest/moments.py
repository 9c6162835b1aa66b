"""Lists of several shards, moment by moment: of each query the k nearest of all, beside those before.

shard 0   ●──────●────────●──►      ● a new list, which is there until the next one
shard 1   ●────────●──────●──►
moments   before │ │      │         in each the k nearest of the lists as they are then
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.nearest.cells import longer
from sanderling.kernels.nearest.choose import FEW, partner


@jit_bare
def nearest_of(start: I64, length: I64, k: int, d2: F64, rank: I64, at: I64, chosen: I64) -> tuple[int, bool]:
    """Writes the k nearest rows of some lists to `chosen`, each of which has the nearest first.

    Of those that are as far as the k-th the first by rank. Gives their number, and whether it took ranks to
    say so that are not there.
    """
    n = 0
    at[:] = 0
    while n < k:
        best, nearest = -1, 0.0
        for s in range(len(start)):
            if at[s] < length[s]:
                far = d2[start[s] + at[s]]
                if best < 0 or far < nearest:
                    best, nearest = s, far
        if best < 0:
            return n, False
        chosen[n] = start[best] + at[best]
        at[best] += 1
        n += 1
    is_tied = False
    kth = d2[chosen[n - 1]] if n else 0.0
    for s in range(len(start)):
        is_tied = is_tied or (n > 0 and at[s] < length[s] and d2[start[s] + at[s]] == kth)
    if not is_tied or len(rank) == 0:
        return n, is_tied
    first = n
    while first > 0 and d2[chosen[first - 1]] == kth:
        first -= 1
    for s in range(len(start)):
        while at[s] < length[s] and d2[start[s] + at[s]] == kth:
            row = start[s] + at[s]
            at[s] += 1
            # The last by rank gives way.
            last = first
            for j in range(first + 1, n):
                if rank[chosen[j]] > rank[chosen[last]]:
                    last = j
            if rank[row] < rank[chosen[last]]:
                chosen[last] = row
    return n, False


@jit
def differences(
    order: I64, query: I64, shard: I64, tick: I64, start: I64, length: I64, start_before: I64,
    length_before: I64, k: I64, d2: F64, mark: I64, rank: I64, are_alike: bool,
) -> Any:  # fmt: skip
    """What each moment changes: query, tick, the row before and the row after; -1 where there is none.

    `order` has the new lists by query, then tick; of two of a shard at a tick the later counts. Rows with the
    same mark are of one object; `are_alike`: they show the same, and are not told. Last, whether somewhere it
    takes ranks to choose, and there are none.
    """
    shards = start_before.shape[1]
    room = 1024
    queries, ticks = np.empty(room, np.int64), np.empty(room, np.int64)
    befores, afters = np.empty(room, np.int64), np.empty(room, np.int64)
    most = k.max() if len(k) else 0
    old, new = np.empty(most, np.int64), np.empty(most, np.int64)
    found, is_taken = np.empty(most, np.int64), np.empty(most, np.bool_)
    now_start, now_length = np.empty(shards, np.int64), np.empty(shards, np.int64)
    at = np.empty(shards, np.int64)
    n, i, needs_ranks = 0, 0, False
    while i < len(order):
        q = query[order[i]]
        for s in range(shards):
            now_start[s], now_length[s] = start_before[q, s], length_before[q, s]
        n_old, is_tied = nearest_of(now_start, now_length, k[q], d2, rank, at, old)
        needs_ranks = needs_ranks or is_tied
        while i < len(order) and query[order[i]] == q:
            t = tick[order[i]]
            while i < len(order) and query[order[i]] == q and tick[order[i]] == t:
                one = order[i]
                now_start[shard[one]], now_length[shard[one]] = start[one], length[one]
                i += 1
            n_new, is_tied = nearest_of(now_start, now_length, k[q], d2, rank, at, new)
            needs_ranks = needs_ranks or is_tied
            if n_old * n_new > FEW * FEW:
                is_taken[:n_new] = False
                found[:n_old] = partner(mark, old[:n_old], new[:n_new], is_taken[:n_new])
            else:
                pair(mark, old, n_old, new, n_new, found, is_taken)
            while n + n_old + n_new > len(ticks):
                queries, ticks = longer(queries), longer(ticks)
                befores, afters = longer(befores), longer(afters)
            for j in range(n_old):
                to = new[found[j]] if found[j] >= 0 else -1
                if to != old[j] and not (are_alike and to >= 0):
                    queries[n], ticks[n], befores[n], afters[n] = q, t, old[j], to
                    n += 1
            for j in range(n_new):
                if not is_taken[j]:
                    queries[n], ticks[n], befores[n], afters[n] = q, t, -1, new[j]
                    n += 1
            old, new, n_old = new, old, n_new
    return queries[:n], ticks[:n], befores[:n], afters[:n], needs_ranks


@jit_bare
def pair(mark: I64, old: I64, n_old: int, new: I64, n_new: int, found: I64, is_taken: Bools) -> None:
    """For each old row the new one with the same mark, as its place among the new, or -1."""
    for j in range(n_new):
        is_taken[j] = False
    for i in range(n_old):
        found[i] = -1
        # Mostly it is where it was.
        if i < n_new and mark[old[i]] == mark[new[i]] and not is_taken[i]:
            found[i], is_taken[i] = i, True
            continue
        for j in range(n_new):
            if mark[old[i]] == mark[new[j]] and not is_taken[j]:
                found[i], is_taken[j] = j, True
                break


def plain_differences(
    lists: list[tuple[int, int, int, list[int]]], before: dict[tuple[int, int], list[int]], k: dict[int, int],
    d2: list[float], mark: list[int], rank: list[int],
) -> set[tuple[int, int, int, int]]:  # fmt: skip
    """The reference twin of `differences`: lists as query, shard, tick and rows, in order of arrival."""
    told = set()
    for q in {q for q, _, _, _ in lists}:
        now = {s: rows for (of, s), rows in before.items() if of == q}

        def chosen(now: dict[int, list[int]], q: int = q) -> dict[int, int]:
            rows = sorted((d2[row], rank[row], row) for some in now.values() for row in some)
            return {mark[row]: row for _, _, row in rows[: k[q]]}

        old = chosen(now)
        for t in sorted({t for of, _, t, _ in lists if of == q}):
            now |= {s: rows for of, s, at, rows in lists if (of, at) == (q, t)}
            new = chosen(now)
            told |= {
                (q, t, old.get(m, -1), new.get(m, -1))
                for m in old.keys() | new.keys()
                if old.get(m, -1) != new.get(m, -1)
            }
            old = new
    return told
