"""('M', id, xdist, ydist): a box around its middle, which is where the focal object is. Borders belong.

Numbers: x and y of the middle, half the length along x, half the width along y. Of one that follows, the plan
has the middle 0, 0: see motion.py.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box, box_around, is_beside

CENTRED = 4
WORD = "rectangle"


def numbers(xdist: F64, ydist: F64) -> tuple[F64, F64, F64, F64]:
    """From whole lengths, around whatever it follows."""
    middle = np.zeros(len(xdist))
    return middle, middle, xdist / 2, ydist / 2


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    return is_beside(x, a, c) and is_beside(y, b, d)


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return box_around(a, b, c, d)


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """The longer side."""
    return max(2 * c, 2 * d)


@jit_bare
def reach(c: float, d: float) -> tuple[float, float]:
    """How far it goes from its middle, along either axis."""
    return c, d


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    return -c <= x - a <= c and -d <= y - b <= d
