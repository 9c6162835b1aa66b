"""Where an outline holds all places of a box, or none: nobody who stays in the box crosses its border.

It may say no where it is so; it never says yes where it is not.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import shapely

from sanderling.arrays import F64, Bools
from sanderling.space.metric import plain_squared
from sanderling.space.outlines.globe import bounds as globe_bounds
from sanderling.space.outlines.outline import (
    ACROSS,
    AREA,
    BAND,
    BEYOND_CHORD,
    CORRIDOR,
    GLOBE_CORRIDOR,
    OUTER_ACROSS,
    OUTER_AREA,
    OUTER_BAND,
    OUTER_BOX,
    OUTER_CORRIDOR,
    OUTER_GLOBE_CORRIDOR,
    SIDE,
    SPOTS,
    WITHIN_BOUNDS,
    WITHIN_CHORD,
    law_of,
    numbers_of,
    packed,
    wkb_of,
)
from sanderling.space.sphere import FARTHEST_EAST

Boxes = tuple[F64, F64, F64, F64]  # left, low, right, high
# What boxes are widened by: far more than rounding can do.
SLACK = 1e-9


def are_settled(outline: bytes, boxes: Boxes) -> Bools:
    """By box; of an outline as it is written."""
    law, numbers = law_of(outline), numbers_of(outline)
    left, low, right, high = boxes = widened(boxes)
    if law in (AREA, OUTER_AREA):
        return _of_area(outline, boxes)
    if law in (WITHIN_BOUNDS, OUTER_BOX):
        return _of_box(numbers, boxes)
    if law in (WITHIN_CHORD, BEYOND_CHORD):
        return np.asarray((right < numbers[1]) | (left > numbers[1]))
    if law in (ACROSS, OUTER_ACROSS):
        west, south, east, north = numbers[:4]
        parts = [
            np.array([west, south, FARTHEST_EAST, north]),
            np.array([-FARTHEST_EAST, south, east, north]),
        ]
        return np.asarray(np.logical_and.reduce([_of_box(part, boxes) for part in parts]))
    if law in (GLOBE_CORRIDOR, OUTER_GLOBE_CORRIDOR):
        around = globe_bounds(packed(GLOBE_CORRIDOR, numbers))
        return _of_box(np.array(around), boxes) & ~_within(around, boxes)
    if law in (CORRIDOR, OUTER_CORRIDOR):
        return _of_corridor(numbers[0], numbers[1:].reshape(-1, 2), boxes)
    if law == SPOTS:
        x, y = (column[:, None] for column in numbers.reshape(-1, 2).T)
        return np.asarray(~((left <= x) & (x <= right) & (low <= y) & (y <= high)).any(axis=0))
    assert law in (SIDE, BAND, OUTER_BAND)
    corners = int(numbers[0]) if law != SIDE else 0
    lines = [numbers[3 : 3 + 2 * corners], numbers[3 + 2 * corners :]] if corners else [numbers[1:]]
    return np.asarray(np.logical_and.reduce([_of_line(line.reshape(-1, 2), boxes) for line in lines]))


def widened(boxes: Boxes) -> Boxes:
    left, low, right, high = boxes
    with np.errstate(all="ignore"):
        by_x = SLACK * (np.abs(left) + np.abs(right)) + 1e-150
        by_y = SLACK * (np.abs(low) + np.abs(high)) + 1e-150
        return left - by_x, low - by_y, right + by_x, high + by_y


def _of_area(outline: bytes, boxes: Boxes) -> Bools:
    shape = shapely.from_wkb(wkb_of(outline))
    shapely.prepare(shape)
    is_finite = np.logical_and.reduce([np.isfinite(side) for side in boxes])
    found = np.zeros(len(boxes[0]), np.bool_)
    some = shapely.box(*(side[is_finite] for side in boxes))
    found[is_finite] = shapely.contains_properly(shape, some) | shapely.disjoint(shape, some)
    return found


def _of_box(numbers: F64, boxes: Boxes) -> Bools:
    left, low, right, high = boxes
    is_in = (numbers[0] < left) & (right < numbers[2]) & (numbers[1] < low) & (high < numbers[3])
    is_out = (right < numbers[0]) | (numbers[2] < left) | (high < numbers[1]) | (numbers[3] < low)
    return np.asarray(is_in | is_out)


def _of_corridor(distance: float, points: F64, boxes: Boxes) -> Bools:
    """Off the bounds of it; or, as it is round each of its points, near one of them."""
    left, low, right, high = boxes
    (x1, y1), (x2, y2) = points.min(axis=0) - distance, points.max(axis=0) + distance
    wide = _of_box(np.array([x1, y1, x2, y2]), boxes) & ~_within((x1, y1, x2, y2), boxes)
    with np.errstate(all="ignore"):
        far = [
            plain_squared(x[:, None], y[:, None], points[:, 0], points[:, 1])
            for x in (left, right)
            for y in (low, high)
        ]
        is_near = (np.maximum.reduce(far) < distance * distance * (1 - SLACK)).any(axis=1)
    return np.asarray(wide | is_near)


def _within(around: tuple[float, float, float, float], boxes: Boxes) -> Bools:
    left, low, right, high = boxes
    return np.asarray((around[0] < left) & (right < around[2]) & (around[1] < low) & (high < around[3]))


def _of_line(points: F64, boxes: Boxes) -> Bools:
    """On one side of each of its pieces, as if these went on without end."""
    left, low, right, high = boxes
    found = np.ones(len(left), np.bool_)
    for (ax, ay), (bx, by) in pairwise(points):
        ux, uy = bx - ax, by - ay
        with np.errstate(all="ignore"):
            turns = [ux * (y - ay) - uy * (x - ax) for x in (left, right) for y in (low, high)]
        found &= np.logical_and.reduce([t > 0 for t in turns]) | np.logical_and.reduce([t < 0 for t in turns])
    return found
