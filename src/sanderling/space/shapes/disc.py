"""CIRCLE (x, y, r), and ('M', id, r): all within a distance of a place. The border belongs.

Numbers: x and y of the middle, the radius, nothing. Of one that follows, the plan has the middle 0, 0: see
motion.py.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box, circle_bounds, is_within, plain_squared

DISC = 1
WORD = "circle"
# Where the square of a radius is infinite, so is the disc: as far as numbers go.
FARTHEST = float(np.finfo(np.float64).max)


def numbers(x: F64, y: F64, radius: F64) -> tuple[F64, F64, F64, F64]:
    return x, y, radius, np.zeros(len(radius))


def following(radius: F64) -> tuple[F64, F64, F64, F64]:
    """Around whatever it follows."""
    middle = np.zeros(len(radius))
    return numbers(middle, middle, radius)


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    return is_within(x, y, a, b, c)


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return circle_bounds(a, b, c)


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """Its diameter."""
    return 2 * c


@jit_bare
def reach(c: float, d: float) -> tuple[float, float]:
    """How far it goes from its middle, along either axis."""
    far = c if np.isfinite(c * c) else FARTHEST
    return far, far


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    return bool(plain_squared(x, y, a, b) <= c * c)
