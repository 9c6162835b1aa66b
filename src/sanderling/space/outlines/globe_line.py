"""Corridors on the globe: how near a place is to what is drawn, in metres.

Pieces are straight in degrees. Around the place lies a plane, in which a degree of longitude is as long as it
is on the parallel of the place, and there the nearest point of a piece is found. Around a single point it is
a circle. As numbers: the distance, the square of its chord, then longitudes and latitudes.
"""

from __future__ import annotations

import math

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import along, chord, squared, vector_of
from sanderling.space.sphere import DEGREE, FARTHEST_EAST, METRES_A_DEGREE


@jit_bare
def squared_on_globe(numbers: F64, first: int, last: int, lon: float, lat: float) -> float:
    """The square of the distance to what is drawn, in metres."""
    least = np.inf
    across = METRES_A_DEGREE * math.cos(lat * DEGREE)
    for at in range(first + 2, last - 2, 2):
        ay, by = (numbers[at + 1] - lat) * METRES_A_DEGREE, (numbers[at + 3] - lat) * METRES_A_DEGREE
        # A piece beside the 180th meridian is near what is on the other side of it.
        for turn in (-2 * FARTHEST_EAST, 0.0, 2 * FARTHEST_EAST):
            ax, bx = (numbers[at] - lon + turn) * across, (numbers[at + 2] - lon + turn) * across
            t = min(1.0, max(0.0, along(-ax, -ay, bx - ax, by - ay)))
            x, y = (bx, by) if t == 1.0 else (ax + t * (bx - ax), ay + t * (by - ay))
            least = min(least, squared(x, y, 0.0, 0.0))
    return least


@jit_bare
def chord_to_point(numbers: F64, first: int, lon: float, lat: float) -> float:
    """The square of the chord to the point that is all there is."""
    ux, uy, uz = vector_of(numbers[first + 2], numbers[first + 3])
    vx, vy, vz = vector_of(lon, lat)
    return float(chord(vx, vy, vz, ux, uy, uz))


@jit_bare
def is_near_on_globe(numbers: F64, first: int, last: int, lon: float, lat: float) -> bool:
    """Whether a place is within the distance of what is drawn."""
    if last - first == 4:
        return bool(chord_to_point(numbers, first, lon, lat) <= numbers[first + 1])
    return bool(squared_on_globe(numbers, first, last, lon, lat) <= numbers[first] * numbers[first])


@jit_bare
def is_nearer_on_globe(numbers: F64, first: int, last: int, lon: float, lat: float) -> bool:
    """Whether it is nearer than that."""
    if last - first == 4:
        return bool(chord_to_point(numbers, first, lon, lat) < numbers[first + 1])
    return bool(squared_on_globe(numbers, first, last, lon, lat) < numbers[first] * numbers[first])
