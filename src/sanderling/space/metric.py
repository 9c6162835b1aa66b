"""How far apart two places are: the one file that says so. The plane; squares are compared, in doubles.

Whoever compares distances compares what `squared` gives, so that all agree to the last bit. Boxes only find
candidates: they hold whatever the exact test accepts, and a little more, since sums and squares round.

Numbers in, numbers out, put into a kernel where the call stands. What is plain takes columns too.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare

Number = TypeVar("Number", float, F64)
Box = tuple[float, float, float, float]  # left, low, right, high


def plain_squared(x: Number, y: Number, to_x: Number, to_y: Number) -> Number:
    """The square of the distance between two places, or of columns of them; NaN where one is nowhere."""
    dx, dy = x - to_x, y - to_y
    return dx * dx + dy * dy


squared = jit_bare(plain_squared)


@jit_bare
def is_within(x: float, y: float, to_x: float, to_y: float, distance: float) -> bool:
    """Whether two places are at most so far apart."""
    return bool(squared(x, y, to_x, to_y) <= distance * distance)


@jit_bare
def is_beside(x: float, to_x: float, distance: float) -> bool:
    """The same along one axis."""
    return bool(abs(x - to_x) <= distance)


@jit_bare
def beyond(x: float, reach: float) -> float:
    """A distance that certainly holds every place within reach of x: sums and squares round."""
    return reach + 1e-12 * (abs(x) + reach) + 1e-150


@jit_bare
def box_around(x: float, y: float, w: float, h: float) -> Box:
    """A box that certainly holds every place that is within w of x, and within h of y."""
    w, h = beyond(x, w), beyond(y, h)
    return x - w, y - h, x + w, y + h


@jit_bare
def around(x: float, y: float, square: float) -> Box:
    """A box that certainly holds every place whose squared distance is at most this."""
    reach = np.sqrt(square)
    return box_around(x, y, reach, reach)


@jit_bare
def circle_bounds(x: float, y: float, distance: float) -> Box:
    """A box that certainly holds every place within a distance, as `is_within` says."""
    if not np.isfinite(distance * distance):
        return -np.inf, -np.inf, np.inf, np.inf  # nothing is farther than an infinite square
    return box_around(x, y, distance, distance)


@jit_bare
def along(wx: float, wy: float, ux: float, uy: float) -> float:
    """How far w goes along with u: by its whole length 1, backwards less than 0; 0 where u is too short."""
    length = squared(ux, uy, 0.0, 0.0)
    return (wx * ux + wy * uy) / length if length > 0 else 0.0
