"""RECT (x1, y1, x2, y2): a box by its corners. Borders belong.

Numbers: left, low, right, high.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box

BOX = 0
WORD = "rectangle"


def numbers(x1: F64, y1: F64, x2: F64, y2: F64) -> tuple[F64, F64, F64, F64]:
    """From any two corners that are opposite each other."""
    return _lower(x1, x2), _lower(y1, y2), _upper(x1, x2), _upper(y1, y2)


# Not np.minimum: of two equal numbers the first counts, so that 0 and -0 come out one way only.


def _lower(one: F64, other: F64) -> F64:
    return np.where(other < one, other, one)


def _upper(one: F64, other: F64) -> F64:
    return np.where(other > one, other, one)


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    return a <= x <= c and b <= y <= d


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return a, b, c, d


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """The longer side."""
    return max(c - a, d - b)


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    return all([a <= x, x <= c, b <= y, y <= d])
