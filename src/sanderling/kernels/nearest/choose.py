"""The k nearest out of several lists, and how one choice differs from the one before."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit

# Up to so many, looking at every pair is faster than sorting.
FEW = 32


@jit
def choose(starts: I64, lengths: I64, k: I64, d2: F64) -> tuple[I64, I64, Bools]:
    """By moment, the first k rows of some lists, each of which has the nearest first.

    Gives where the rows of each moment begin, the rows, and whether one that was left out is as near
    as the last of them.
    """
    n, lists = starts.shape
    total = 0
    for m in range(n):
        total += min(k[m], lengths[m].sum())
    offsets, rows, is_tied = np.zeros(n + 1, np.int64), np.empty(total, np.int64), np.zeros(n, np.bool_)
    at = np.empty(lists, np.int64)
    end = 0
    for m in range(n):
        at[:] = 0
        last = 0.0
        for count in range(k[m] + 1):
            best, nearest = -1, 0.0
            for s in range(lists):
                if at[s] < lengths[m, s]:
                    far = d2[starts[m, s] + at[s]]
                    if best < 0 or far < nearest:
                        best, nearest = s, far
            if best < 0:
                break
            if count == k[m]:
                is_tied[m] = nearest == last
                break
            rows[end] = starts[m, best] + at[best]
            at[best] += 1
            end += 1
            last = nearest
        offsets[m + 1] = end
    return offsets, rows, is_tied


@jit
def partner(mark: I64, old: I64, new: I64, is_taken: Bools) -> I64:
    """For each of some old rows the new one with the same mark, as its place among the new, or -1."""
    found = np.full(len(old), -1)
    if len(old) * len(new) <= FEW * FEW:
        for i in range(len(old)):
            for j in range(len(new)):
                if mark[old[i]] == mark[new[j]] and not is_taken[j]:
                    found[i], is_taken[j] = j, True
                    break
        return found
    by_old, by_new = np.argsort(mark[old]), np.argsort(mark[new])
    j = 0
    for i in by_old:
        while j < len(new) and mark[new[by_new[j]]] < mark[old[i]]:
            j += 1
        if j < len(new) and mark[new[by_new[j]]] == mark[old[i]]:
            found[i], is_taken[by_new[j]] = by_new[j], True
            j += 1
    return found


@jit
def compare(offsets: I64, rows: I64, has_before: Bools, mark: I64) -> tuple[I64, I64, I64]:
    """What each moment that has one before it changes: the moment, the row before and the row after.

    -1 where there is none: such a row came, or went. Rows with the same mark are of one object.
    """
    room = 2 * len(rows) + 1
    moment, before, after = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    n = 0
    for m in range(len(has_before)):
        if not has_before[m]:
            continue
        old, new = rows[offsets[m - 1] : offsets[m]], rows[offsets[m] : offsets[m + 1]]
        is_taken = np.zeros(len(new), np.bool_)
        found = partner(mark, old, new, is_taken)
        for i in range(len(old)):
            to = new[found[i]] if found[i] >= 0 else -1
            if to != old[i]:
                moment[n], before[n], after[n] = m, old[i], to
                n += 1
        for j in range(len(new)):
            if not is_taken[j]:
                moment[n], before[n], after[n] = m, -1, new[j]
                n += 1
    return moment[:n], before[:n], after[:n]


def plain_choose(lists: list[list[float]], k: int) -> tuple[list[float], bool]:
    """The reference twin of `choose`, for one moment, by distances."""
    all_ = sorted(far for each in lists for far in each)
    return all_[:k], len(all_) > k and all_[k] == all_[k - 1]


def plain_compare(old: dict[int, int], new: dict[int, int]) -> set[tuple[int, int]]:
    """The reference twin of `compare`, for one moment: rows by mark, before and after."""
    marks = old.keys() | new.keys()
    return {(old.get(m, -1), new.get(m, -1)) for m in marks if old.get(m, -1) != new.get(m, -1)}
