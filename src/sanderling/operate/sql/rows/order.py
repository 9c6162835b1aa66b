"""Changes by what they change, then by time."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.order import ordered_by


def by_row_and_time(row: I64, time: I64) -> I64:
    """The changes by row, then time; `row` counts from 0."""
    order = np.arange(len(row))
    if not len(row):
        return order
    low, high = int(time.min()), int(time.max())
    if high > low:
        order = ordered_by(order, time)
    return ordered_by(order, row)
