"""Directed poly-lines: on which side of one a place is, and how near its drawn pieces it is.

A line has corners v0 … vn, neighbours differ, and does not cross itself. Its first piece goes on backwards
without end, and its last one forwards: so it parts the plane. As numbers: x0, y0, x1, y1, …

The piece that is nearest to a place decides. Where two pieces share the nearest point, their corner, the
place is in the corner's outer cone: on the side that the line turns away from.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import along, squared

# A power of two, by which places are made so small that their squares are not infinite.
SMALLER = 2.0**-600


@jit_bare
def sign_of(number: float) -> int:
    """Of what is no number, 0."""
    return int(number > 0) - int(number < 0)


@jit_bare
def turn(ux: float, uy: float, vx: float, vy: float) -> float:
    """Positive where v points to the left of u."""
    return ux * vy - uy * vx


@jit_bare
def side_of_line(numbers: F64, first: int, last: int, x: float, y: float) -> int:
    """1 left, -1 right, 0 on the line whose corners are numbers[first:last]."""
    side, is_known = side_scaled(numbers, first, last, x, y, 1.0)
    if not is_known:
        side, is_known = side_scaled(numbers, first, last, x, y, SMALLER)
    return side


@jit_bare
def side_scaled(numbers: F64, first: int, last: int, x: float, y: float, scale: float) -> tuple[int, bool]:
    """The same with places made smaller, and whether no number on the way was infinite."""
    pieces = (last - first) // 2 - 1
    x, y = x * scale, y * scale
    least, side, is_at_end, is_known = np.inf, 0, False, True
    before_x, before_y = 0.0, 0.0
    for i in range(pieces):
        at = first + 2 * i
        ax, ay, bx, by = numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]
        ux, uy, wx, wy = bx - ax, by - ay, x - ax * scale, y - ay * scale
        cross = turn(ux, uy, wx, wy)
        is_known &= np.isfinite(cross)
        if pieces == 1:
            return sign_of(cross), is_known
        t = along(wx, wy, ux, uy)
        is_at_a, ends = i > 0 and t <= 0, i < pieces - 1 and t >= scale
        if is_at_a:
            d2 = squared(x, y, ax * scale, ay * scale)
        elif ends:
            d2 = squared(x, y, bx * scale, by * scale)
        else:
            d2 = squared(x, y, ax * scale + t * ux, ay * scale + t * uy)
        is_known &= np.isfinite(d2)
        # From far away both may seem as near, though behind the corner the line comes nearer.
        if d2 < least or (is_at_end and not is_at_a and d2 == least):
            least, side, is_at_end = d2, sign_of(cross), ends
            if d2 == 0 and (is_at_a or ends):
                side, is_at_end = 0, False
        elif is_at_end and is_at_a and d2 == least:
            corner = sign_of(turn(before_x, before_y, ux, uy))
            side, is_at_end = (-corner if corner else side), False
        else:
            is_at_end = False
        before_x, before_y = ux, uy
    return side, is_known


@jit_bare
def squared_to_line(numbers: F64, first: int, last: int, x: float, y: float) -> float:
    """The square of the distance to the drawn pieces; a line of one corner is a point."""
    least: float = squared(x, y, numbers[first], numbers[first + 1])
    for at in range(first, last - 2, 2):
        ax, ay, bx, by = numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]
        t = along(x - ax, y - ay, bx - ax, by - ay)
        if t >= 1:
            least = min(least, squared(x, y, bx, by))
        elif t > 0:
            least = min(least, squared(x, y, ax + t * (bx - ax), ay + t * (by - ay)))
    return least


@jit_bare
def is_near_line(numbers: F64, first: int, last: int, x: float, y: float, distance: float) -> bool:
    """Whether a place is within a distance of what is drawn."""
    return squared_to_line(numbers, first, last, x, y) <= distance * distance


@jit_bare
def is_nearer_line(numbers: F64, first: int, last: int, x: float, y: float, distance: float) -> bool:
    """Whether it is nearer than that."""
    return squared_to_line(numbers, first, last, x, y) < distance * distance
