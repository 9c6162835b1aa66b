"""Poses on the globe: where a place would be there, had a region stayed as it was written (pose.py).

METRES    written around its focal object: so many metres east of it along its parallel, and north of it
CHORD     a circle: how far from its middle, as `far_square` says, and 0; so does its number
DEGREES   drawn in degrees, shifted and scaled in degrees; eastward it comes round again
"""

from __future__ import annotations

import math

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit
from sanderling.space.metric import (
    SLACK_DEGREES,
    Box,
    cap_bounds,
    chord,
    chord_within,
    degrees_of,
    plain_chord_within,
    vector_of,
)
from sanderling.space.sphere import DEGREE, FARTHEST_EAST, HALF_WAY_ROUND, METRES_A_DEGREE, POLE, RADIUS

PLANE, METRES, CHORD, DEGREES = 0.0, 1.0, 2.0, 3.0
# Of lengths: far more than rounding can do.
SLACK = 1e-9
# In degrees: asin is steep near 1, where places are at opposite ends.
ASIN_SLACK = 1e-5


@jit
def turned(lon: float) -> float:
    """The short way round, of what is at most once round too far."""
    if lon > FARTHEST_EAST:
        return lon - 2 * FARTHEST_EAST
    return lon + 2 * FARTHEST_EAST if lon < -FARTHEST_EAST else lon


def plain_far_square(metres: float) -> float:
    """The square of the chord that goes with a distance; and more than any, the farther the more, beyond half
    way round: what is that large, and shrinks, is as large as it is."""
    if metres >= HALF_WAY_ROUND:
        return 5.0 + (metres - HALF_WAY_ROUND) / RADIUS
    return plain_chord_within(metres)


@jit
def far_square(metres: float) -> float:
    if metres >= HALF_WAY_ROUND:
        return 5.0 + (metres - HALF_WAY_ROUND) / RADIUS
    return chord_within(metres)


@jit
def far_squares(metres: F64) -> F64:
    found = np.empty(len(metres))
    for i in range(len(metres)):
        found[i] = far_square(metres[i])
    return found


def once_round(lon: F64) -> F64:
    """Longitudes, or ways eastward, however often they go round."""
    with np.errstate(invalid="ignore"):
        return np.where(
            np.abs(lon) > FARTHEST_EAST,
            lon - 2 * FARTHEST_EAST * np.round(lon / (2 * FARTHEST_EAST)),
            lon,
        )


@jit
def own_on_globe(
    space: float, far_x: float, far_y: float, middle_x: float, middle_y: float, scale: float, lon: float,
    lat: float,
) -> tuple[float, float]:  # fmt: skip
    """Of a circle, and of what follows, `far` is where its middle is."""
    if space == CHORD:
        ux, uy, uz = vector_of(far_x, far_y)
        vx, vy, vz = vector_of(lon, lat)
        square = chord(vx, vy, vz, ux, uy, uz)
        if scale != 1:
            square = far_square(degrees_of(square) * METRES_A_DEGREE / scale)
        return square, 0.0
    if space == METRES:
        x = turned(lon - far_x) * METRES_A_DEGREE * math.cos(far_y * DEGREE)
        y = (lat - far_y) * METRES_A_DEGREE
        return (x / scale, y / scale) if scale != 1 else (x, y)
    x, y = turned(lon - far_x), lat - far_y
    if scale == 1:
        return x, y
    east = turned(x - middle_x) / scale
    # Farther than half way round, as it was written: there is no such place.
    x = east + middle_x if abs(east) <= FARTHEST_EAST else np.nan
    return turned(x), (y - middle_y) / scale + middle_y


@jit
def all_own_on_globe(pose: F64, region: I64, x: F64, y: F64) -> tuple[F64, F64]:
    """The same for pairs of a region and a place."""
    own_x, own_y = np.empty(len(x)), np.empty(len(x))
    for i in range(len(x)):
        r = region[i]
        if pose[r, 5] == PLANE:  # of a region that has none
            own_x[i], own_y[i] = x[i], y[i]
            continue
        own_x[i], own_y[i] = own_on_globe(
            pose[r, 5], pose[r, 0], pose[r, 1], pose[r, 2], pose[r, 3], pose[r, 4], x[i], y[i]
        )
    return own_x, own_y


@jit
def bounds_on_globe(space: float, far_x: float, far_y: float, scale: float, written: Box) -> Box:
    """A box of degrees around what follows, or a circle; all longitudes where it goes across the meridian."""
    least_x, least_y, most_x, most_y = written
    if not np.isfinite(most_x):
        return written
    if space == CHORD:
        ux, uy, uz = vector_of(far_x, far_y)
        left, low, right, high = cap_bounds(ux, uy, uz, chord_within(most_x * scale * (1 + SLACK)))
    else:
        low = far_y + least_y * scale * (1 - SLACK * np.sign(least_y)) / METRES_A_DEGREE - SLACK_DEGREES
        high = far_y + most_y * scale * (1 + SLACK * np.sign(most_y)) / METRES_A_DEGREE + SLACK_DEGREES
        across = math.cos(far_y * DEGREE) * METRES_A_DEGREE / (scale * (1 + SLACK))
        if not (abs(far_y) < POLE and across > 0):
            return -FARTHEST_EAST, low, FARTHEST_EAST, high
        reach = max(abs(least_x), abs(most_x)) / across + SLACK_DEGREES
        left, right = far_x - reach, far_x + reach
    if left < -FARTHEST_EAST or right > FARTHEST_EAST or left > right:
        return -FARTHEST_EAST, low, FARTHEST_EAST, high
    return left, low, right, high


def posed_on_globe(written: tuple[F64, F64, F64, F64], pose: F64) -> tuple[F64, F64, F64, F64]:
    """By region the bounds of those that are METRES or CHORD."""
    found = np.empty((len(pose), 4))
    for row, (box, (far_x, far_y, _, _, scale, space)) in enumerate(
        zip(np.column_stack(written).tolist(), pose.tolist(), strict=True)
    ):
        found[row] = bounds_on_globe(space, far_x, far_y, scale, tuple(box))
    left, low, right, high = found.T
    return left, low, right, high


def turned_bounds(left: F64, right: F64) -> tuple[F64, F64]:
    """Stretches of longitudes, wherever they have gone; one across the 180th meridian is all there are."""
    with np.errstate(invalid="ignore"):
        turn = 2 * FARTHEST_EAST * np.floor((left + FARTHEST_EAST) / (2 * FARTHEST_EAST))
        left, right = left - turn, right - turn
        # By as much as two that are the same place may be apart, in numbers.
        is_across = (left <= -FARTHEST_EAST + SLACK_DEGREES) | (right >= FARTHEST_EAST - SLACK_DEGREES)
    is_endless = ~np.isfinite(left) | ~np.isfinite(right)
    left = np.where(is_endless, -np.inf, np.where(is_across, -FARTHEST_EAST, left))
    return left, np.where(is_endless, np.inf, np.where(is_across, FARTHEST_EAST, right))


def own_boxes_on_globe(
    pose: F64, far: tuple[float, float], scales: tuple[float, float], x: F64, y: F64
) -> tuple[F64, F64, F64, F64]:
    """Boxes in which the own places of these are while a region shifts so far from its pose, and its scale
    goes from one to the other."""
    least, most = scales
    one, nothing = pose[None].copy(), np.zeros(len(x), np.int64)
    one[0, 4] = 1.0
    own_x, own_y = all_own_on_globe(one, nothing, x, y)
    if pose[5] == CHORD:
        away = 2 * np.arcsin(np.minimum(1.0, np.sqrt(own_x) / 2)) / DEGREE
        slack = abs(far[0]) + abs(far[1]) + ASIN_SLACK
        return _squares(away - slack, most), own_y, _squares(away + slack, least), own_y
    is_drawn = pose[5] == DEGREES
    left, right, is_sure = _stretch(own_x, far[0], pose[2] if is_drawn else 0.0, scales, is_drawn)
    low, high, _ = _stretch(own_y, far[1], pose[3] if is_drawn else 0.0, scales, False)
    # Who comes round again may be anywhere.
    return np.where(is_sure, left, -np.inf), low, np.where(is_sure, right, np.inf), high


def _squares(degrees: F64, scale: float) -> F64:
    return far_squares(np.maximum(degrees, 0.0) * (METRES_A_DEGREE / scale))


def _stretch(
    own: F64, far: float, middle: float, scales: tuple[float, float], is_round: bool
) -> tuple[F64, F64, Bools]:
    """Along an axis; and where nobody goes round."""
    ends = [own - end - middle for end in sorted((far, 0.0), reverse=True)]
    found = [end / scale for end in ends for scale in scales]
    least, most = np.minimum.reduce(found), np.maximum.reduce(found)
    slack = SLACK * (np.abs(own) + abs(far) + abs(middle)) / scales[0]
    widest = np.maximum.reduce([np.abs(end + shift) for end in ends for shift in (0.0, middle)])
    is_sure = (widest < FARTHEST_EAST) & (np.maximum(-least, most) < FARTHEST_EAST)
    is_sure = is_sure | np.asarray(not is_round)
    return least + middle - slack, most + middle + slack, is_sure
