"""A hash index of keys: which number a key has, at a cost by what is asked, not by what is known."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I32, I64, U64
from sanderling.kernels.jit import jit


@jit
def fill(slots: I32, hashes: U64) -> None:
    """Enters all hashes, number by number, into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for i in range(len(hashes)):
        at = hashes[i] & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = i


@jit
def find(slots: I32, known: U64, hashes: U64) -> I64:
    """The first number with each hash, or -1."""
    mask = np.uint64(len(slots) - 1)
    numbers = np.empty(len(hashes), np.int64)
    for i in range(len(hashes)):
        at = hashes[i] & mask
        while slots[at] >= 0 and known[slots[at]] != hashes[i]:
            at = (at + np.uint64(1)) & mask
        numbers[i] = slots[at]
    return numbers


@jit
def find_or_add(slots: I32, known: U64, count: int, hashes: U64) -> tuple[I64, I64]:
    """The number of each hash; new ones are entered. Also the positions where new ones came first.

    `slots` and `known` have room for all of them.
    """
    mask = np.uint64(len(slots) - 1)
    numbers = np.empty(len(hashes), np.int64)
    new = np.empty(len(hashes), np.int64)
    added = 0
    for i in range(len(hashes)):
        at = hashes[i] & mask
        while slots[at] >= 0 and known[slots[at]] != hashes[i]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = count + added
            known[count + added] = hashes[i]
            new[added] = i
            added += 1
        numbers[i] = slots[at]
    return numbers, new[:added]
