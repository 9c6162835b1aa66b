"""RECT (west, south, east, north) on the globe: across the 180th meridian where west is more than east.
Borders belong.

Numbers: west, south, east, north, in degrees.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box
from sanderling.space.sphere import FARTHEST_EAST

QUADRANGLE = 7
WORD = "rectangle on the globe"


def numbers(x1: F64, y1: F64, x2: F64, y2: F64) -> tuple[F64, F64, F64, F64]:
    """Eastward from the first corner to the other; which of them is in the north does not matter."""
    return x1, np.where(y2 < y1, y2, y1), x2, np.where(y2 > y1, y2, y1)


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    is_level = b <= y <= d
    return bool(is_level and (a <= x <= c if a <= c else x >= a or x <= c))


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return a, b, c, d


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """The longer side."""
    return max(c - a if a <= c else c - a + 2 * FARTHEST_EAST, d - b)


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    is_across = a > c and any([x >= a, x <= c])
    return b <= y <= d and (is_across or a <= x <= c)
