"""A hash index of rows of whole numbers: which number a row has, at a cost by what is asked."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I32, I64, Bools
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit


@jit
def hash_row(rows: I64, i: int) -> np.uint64:
    h = np.uint64(0x9E3779B97F4A7C15)
    for j in range(rows.shape[1]):
        h = mix(h ^ np.uint64(rows[i, j])) + np.uint64(0x9E3779B97F4A7C15)
    return h


@jit
def is_row(known: I64, k: int, rows: I64, i: int) -> bool:
    for j in range(rows.shape[1]):
        if known[k, j] != rows[i, j]:
            break
    else:
        return True
    return False


@jit
def enter_rows(slots: I32, known: I64, count: int) -> None:
    """Enters the known rows, number by number, into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for i in range(count):
        at = hash_row(known, i) & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = i


@jit
def find_rows(slots: I32, known: I64, rows: I64) -> I64:
    """The number of each row, or -1."""
    mask = np.uint64(len(slots) - 1)
    numbers = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        at = hash_row(rows, i) & mask
        while slots[at] >= 0 and not is_row(known, slots[at], rows, i):
            at = (at + np.uint64(1)) & mask
        numbers[i] = slots[at]
    return numbers


@jit
def find_or_add_rows(slots: I32, known: I64, count: int, rows: I64) -> tuple[I64, int]:
    """The number of each row, and how many are known now; `slots` and `known` have room for all."""
    mask = np.uint64(len(slots) - 1)
    numbers = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        at = hash_row(rows, i) & mask
        while slots[at] >= 0 and not is_row(known, slots[at], rows, i):
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = count
            known[count] = rows[i]
            count += 1
        numbers[i] = slots[at]
    return numbers, count


@jit
def find_around(slots: I32, known: I64, rows: I64, has_any: Bools) -> I64:
    """The numbers of each row's neighbours, itself among them: the last two columns one less to one more."""
    mask = np.uint64(len(slots) - 1)
    numbers = np.full((len(rows), 9), -1, np.int64)
    near = np.empty((1, rows.shape[1]), np.int64)
    for i in range(len(rows)):
        if not has_any[i]:
            continue
        for j in range(9):
            near[0] = rows[i]
            near[0, -2] += j // 3 - 1
            near[0, -1] += j % 3 - 1
            at = hash_row(near, 0) & mask
            while slots[at] >= 0 and not is_row(known, slots[at], near, 0):
                at = (at + np.uint64(1)) & mask
            numbers[i, j] = slots[at]
    return numbers
