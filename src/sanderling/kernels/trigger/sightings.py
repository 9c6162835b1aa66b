"""Readings with lists of the queries that take them: made of what conditions say, and shared out.

Those of the r-th reading stand from `start[r]` to `start[r + 1]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I32, I64, Bools
from sanderling.kernels.jit import jit

# So many readings at a time that what is written stays near at hand.
BLOCK = 2048


@jit
def listed(holds: Bools, condition: I64, query: I32, is_there: Bools) -> tuple[I64, I32, I32]:
    """Which readings some query takes, where their lists start, and the lists.

    `holds` is conditions × readings; the q-th query has `condition[q]`.
    """
    n, some = holds.shape[1], len(query)
    count = np.zeros(n, np.int32)
    for q in range(some):
        mine = holds[condition[q]]
        for r in range(n):
            count[r] += mine[r]
    row, start, next_ = np.empty(n, np.int64), np.zeros(n + 1, np.int32), np.empty(n, np.int64)
    rows, total = 0, 0
    for r in range(n):
        next_[r] = total
        if is_there[r] and count[r] > 0:
            total += count[r]
            row[rows] = r
            rows += 1
            start[rows] = total
    out = np.empty(total, np.int32)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        for q in range(some):
            mine, number = holds[condition[q]], query[q]
            for r in range(begin, end):
                if mine[r] and is_there[r]:
                    out[next_[r]] = number
                    next_[r] += 1
    return row[:rows], start[: rows + 1], out


def plain_listed(holds: Bools, condition: I64, query: I32, is_there: Bools) -> tuple[I64, I32, I32]:
    taken = [query[holds[condition, r]] if is_there[r] else query[:0] for r in range(holds.shape[1])]
    row = np.array([r for r, mine in enumerate(taken) if len(mine)], np.int64)
    lists = [taken[r] for r in row]
    start = np.cumsum([0, *(len(mine) for mine in lists)]).astype(np.int32)
    return row, start, np.concatenate([query[:0], *lists])


@jit
def listed_by_slot(
    value: npt.NDArray[Any], is_null: Bools, is_there: Bools, bound: npt.NDArray[Any], first: I64, query: I32
) -> tuple[I64, I32, I32, I64]:  # fmt: skip
    """The same, where a value of a reading says it all: by the slot that it is in, who takes it.

    Slots are what is below the first bound, the bound itself, what is between it and the next, …, what is
    above the last, and no number. The queries of a slot stand from `first[slot]` on. Lastly: how often each
    slot was met, by any reading.
    """
    n, slots = len(value), len(first) - 1
    slot, met = np.empty(n, np.int64), np.zeros(slots, np.int64)
    row, start, rows, total = np.empty(n, np.int64), np.zeros(n + 1, np.int32), 0, 0
    for r in range(n):
        if is_null[r]:
            continue
        s = slots - 1
        if value[r] == value[r]:
            low, size = 0, len(bound)
            while size > 0:
                half = size >> 1
                if bound[low + half] < value[r]:
                    low += half + 1
                    size -= half + 1
                else:
                    size = half
            s = 2 * low
            if low < len(bound) and bound[low] == value[r]:
                s += 1
        met[s] += 1
        if is_there[r] and first[s + 1] > first[s]:
            slot[rows], row[rows] = s, r
            rows += 1
            total += first[s + 1] - first[s]
            start[rows] = total
    out = np.empty(total, np.int32)
    for k in range(rows):
        at = start[k]
        for j in range(first[slot[k]], first[slot[k] + 1]):
            out[at] = query[j]
            at += 1
    return row[:rows], start[: rows + 1], out, met


@jit
def dealt(start: I32, query: I32, to: I32, parts: int) -> tuple[I64, I64, I64, I32, I32]:
    """Lists cut into parts: `to` has a row for each of `query`: the parts it goes into, ended by -1.

    The readings and the queries of the p-th part stand from `rows[p]` and from `queries[p]` on. Then by part:
    the readings, how long their lists are, and the lists.
    """
    n, each = len(start) - 1, to.shape[1]
    rows, queries = np.zeros(parts + 1, np.int64), np.zeros(parts + 1, np.int64)
    last = np.full(parts, -1, np.int64)
    for r in range(n):
        for k in range(start[r], start[r + 1]):
            for j in range(each):
                part = to[k, j]
                if part < 0:
                    break
                queries[part + 1] += 1
                if last[part] != r:
                    last[part] = r
                    rows[part + 1] += 1
    for part in range(parts):
        rows[part + 1] += rows[part]
        queries[part + 1] += queries[part]
    row, size, out = (
        np.empty(rows[parts], np.int64),
        np.zeros(rows[parts], np.int32),
        np.empty(queries[parts], np.int32),
    )
    next_row, next_query = rows[:parts] - 1, queries[:parts].copy()
    last[:] = -1
    for r in range(n):
        for k in range(start[r], start[r + 1]):
            for j in range(each):
                part = to[k, j]
                if part < 0:
                    break
                if last[part] != r:
                    last[part] = r
                    next_row[part] += 1
                    row[next_row[part]] = r
                size[next_row[part]] += 1
                out[next_query[part]] = query[k]
                next_query[part] += 1
    return rows, queries, row, size, out
