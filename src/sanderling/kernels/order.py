"""Stable sorting by whole numbers: a counting sort a digit, some times faster than NumPy's comparisons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanderling.kernels.jit import jit

I64 = npt.NDArray[np.int64]

DIGIT_BITS = 11


@jit
def ordered_by(order: I64, key: I64) -> I64:
    """The rows of `order` by their key; rows with the same key stay as they were."""
    if len(order) == 0:
        return order
    low, high = key[order[0]], key[order[0]]
    for i in order:
        low, high = min(low, key[i]), max(high, key[i])
    # Differences of the extremes of 64 bits fit only without a sign.
    span = np.uint64(high) - np.uint64(low)
    shift = np.uint64(0)
    while shift < np.uint64(64) and span >> shift > np.uint64(0):
        starts = np.zeros((1 << DIGIT_BITS) + 1, np.int64)
        for i in order:
            digit = (np.uint64(key[i]) - np.uint64(low)) >> shift & np.uint64((1 << DIGIT_BITS) - 1)
            starts[digit + np.uint64(1)] += 1
        for d in range(1 << DIGIT_BITS):
            starts[d + 1] += starts[d]
        sorted_ = np.empty_like(order)
        for i in order:
            digit = (np.uint64(key[i]) - np.uint64(low)) >> shift & np.uint64((1 << DIGIT_BITS) - 1)
            sorted_[starts[digit]] = i
            starts[digit] += 1
        order = sorted_
        shift += np.uint64(DIGIT_BITS)
    return order
