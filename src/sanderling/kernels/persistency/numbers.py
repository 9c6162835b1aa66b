"""Rows of whole numbers and their numbers: one that is given back is given again, so that what is known is
what is there.

rows ──► slots, by hash ──► numbers          free ──► the next to be given
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I32, I64, U64, Bools
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit, jit_bare

# Of `size`: how many numbers there have ever been, and how many of them are free.
TOP, FREE = 0, 1


class Numbers(NamedTuple):
    """`codes`, `hashes` and `is_used` are by number; `slots` are a power of two, at least half of them -1."""

    slots: I32
    codes: I64
    hashes: U64
    is_used: Bools
    free: I64
    size: I64


@jit_bare
def hash_of(rows: I64, i: int) -> np.uint64:
    h = np.uint64(0x9E3779B97F4A7C15)
    for j in range(rows.shape[1]):
        h = mix(h ^ np.uint64(rows[i, j])) + np.uint64(0x9E3779B97F4A7C15)
    return h


@jit_bare
def slot_of(numbers: Numbers, rows: I64, i: int, h: np.uint64) -> int:
    """Where a row stands, or would."""
    mask = len(numbers.slots) - 1
    at = np.int64(h & np.uint64(mask))
    while numbers.slots[at] >= 0:
        k = numbers.slots[at]
        is_it = numbers.hashes[k] == h
        j = 0
        while is_it and j < rows.shape[1]:
            is_it = numbers.codes[k, j] == rows[i, j]
            j += 1
        if is_it:
            return int(at)
        at = (at + 1) & mask
    return int(at)


@jit_bare
def number_of(numbers: Numbers, rows: I64, i: int) -> int:
    """That of a row; one that is new gets the next that is free."""
    h = hash_of(rows, i)
    at = slot_of(numbers, rows, i, h)
    if numbers.slots[at] >= 0:
        return int(numbers.slots[at])
    size = numbers.size
    if size[FREE]:
        size[FREE] -= 1
        k = numbers.free[size[FREE]]
    else:
        k = size[TOP]
        size[TOP] += 1
    for j in range(rows.shape[1]):
        numbers.codes[k, j] = rows[i, j]
    numbers.slots[at], numbers.hashes[k], numbers.is_used[k] = k, h, True
    return int(k)


@jit_bare
def give_back(numbers: Numbers, k: int) -> None:
    """Nobody has this number any more: those behind it in the slots move up."""
    slots, mask = numbers.slots, len(numbers.slots) - 1
    at = np.int64(numbers.hashes[k] & np.uint64(mask))
    while slots[at] != k:
        at = (at + 1) & mask
    behind = (at + 1) & mask
    while slots[behind] >= 0:
        home = np.int64(numbers.hashes[slots[behind]] & np.uint64(mask))
        if ((behind - home) & mask) >= ((behind - at) & mask):
            slots[at] = slots[behind]
            at = behind
        behind = (behind + 1) & mask
    slots[at] = -1
    numbers.is_used[k] = False
    numbers.free[numbers.size[FREE]] = k
    numbers.size[FREE] += 1


@jit
def number_all(numbers: Numbers, rows: I64) -> I64:
    """There is room for all of them."""
    found = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        found[i] = number_of(numbers, rows, i)
    return found


@jit
def find_all(numbers: Numbers, rows: I64) -> I64:
    """-1 where it is unknown."""
    found = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        found[i] = numbers.slots[slot_of(numbers, rows, i, hash_of(rows, i))]
    return found


@jit
def enter_all(numbers: Numbers) -> None:
    """Puts all that are used into empty slots; their codes may be others than before."""
    mask = len(numbers.slots) - 1
    for k in range(numbers.size[TOP]):
        if numbers.is_used[k]:
            numbers.hashes[k] = hash_of(numbers.codes, k)
            at = np.int64(numbers.hashes[k] & np.uint64(mask))
            while numbers.slots[at] >= 0:
                at = (at + 1) & mask
            numbers.slots[at] = k
