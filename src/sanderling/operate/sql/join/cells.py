"""Cells for places that look for each other: who is near is in the same cell, or in one beside it."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64

SMALLEST_CELL = 1e-3  # smaller ones would be too many to number, where coordinates are large
FARTHEST_CELL = 2.0**31  # behind it quotients are too coarse; all that is there shares a cell


def cells_of(x: F64, radius: F64) -> I64:
    """The column of cells of each place, or its line. Cells are a little wider than the radius reaches."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.maximum(radius * (1 + 1e-6), SMALLEST_CELL)
        cell = np.floor(np.clip(x / size, -FARTHEST_CELL, FARTHEST_CELL))
        # Where the square is infinite, nothing is too far.
        is_boundless = ~np.isfinite(radius * radius)
    return np.where(is_boundless | np.isnan(cell), 0.0, cell).astype(np.int64)
