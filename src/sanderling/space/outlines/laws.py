"""Laws of outlines: which places each holds that GEOS need not be asked of. How numbers stand: outline.py."""

from __future__ import annotations

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.outlines.globe_line import is_near_on_globe, is_nearer_on_globe
from sanderling.space.outlines.line import is_near_line, is_nearer_line, side_of_line
from sanderling.space.outlines.outline import (
    ACROSS,
    BAND,
    BEYOND_CHORD,
    CORRIDOR,
    GLOBE_CORRIDOR,
    OUTER_ACROSS,
    OUTER_BAND,
    OUTER_BOX,
    OUTER_CORRIDOR,
    OUTER_GLOBE_CORRIDOR,
    SIDE,
    SPOTS,
    WITHIN_CHORD,
)


@jit_bare
def holds(law: int, numbers: F64, first: int, last: int, x: float, y: float) -> bool:
    """Whether an outline that GEOS need not be asked of holds a place."""
    if law == SIDE:
        side = side_of_line(numbers, first + 1, last, x, y)
        return bool(side == 0 or side == numbers[first])
    if law == CORRIDOR:
        return is_near_line(numbers, first + 1, last, x, y, numbers[first])
    if law == OUTER_CORRIDOR:
        return not is_nearer_line(numbers, first + 1, last, x, y, numbers[first])
    if law in (BAND, OUTER_BAND):
        middle = first + 3 + 2 * int(numbers[first])
        one = side_of_line(numbers, first + 3, middle, x, y) * numbers[first + 1]
        other = side_of_line(numbers, middle, last, x, y) * numbers[first + 2]
        return bool(one >= 0 and other >= 0) if law == BAND else bool(one <= 0 or other <= 0)
    if law == SPOTS:
        return is_spot(numbers, first, last, x, y)
    if law == GLOBE_CORRIDOR:
        return is_near_on_globe(numbers, first, last, x, y)
    if law == OUTER_GLOBE_CORRIDOR:
        return not is_nearer_on_globe(numbers, first, last, x, y)
    if law == WITHIN_CHORD:
        return bool(x <= numbers[first + 1])
    if law == BEYOND_CHORD:
        return not bool(x < numbers[first + 1])
    left, low, right, high = numbers[first], numbers[first + 1], numbers[first + 2], numbers[first + 3]
    if law == ACROSS:
        return bool(low <= y <= high and (x >= left or x <= right))
    if law == OUTER_ACROSS:
        return not bool(low < y < high and (x > left or x < right))
    if law == OUTER_BOX:
        return not bool(left < x < right and low < y < high)
    return bool(left <= x <= right and low <= y <= high)


@jit_bare
def is_spot(numbers: F64, first: int, last: int, x: float, y: float) -> bool:
    """Whether a place is one of several."""
    for at in range(first, last, 2):  # noqa: SIM110 - generators are not compiled
        if x == numbers[at] and y == numbers[at + 1]:
            return True
    return False
