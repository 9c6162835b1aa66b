"""Corridors on the globe: how near a place is to what is drawn.

Pieces are straight in degrees. Around the place lies a plane, in which a degree of longitude is as long as it
is on the parallel of the place, and there the nearest point of all pieces is found; how far that is is
measured on the globe. As numbers: the distance, the square of its chord, then longitudes and latitudes.
"""

from __future__ import annotations

import math

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import along, chord, squared, vector_of
from sanderling.space.sphere import DEGREE, FARTHEST_EAST


@jit_bare
def nearest_on_globe(numbers: F64, first: int, last: int, lon: float, lat: float) -> tuple[float, float]:
    """The nearest point of what is drawn: of several that are as near, the first."""
    least, east, north = np.inf, numbers[first + 2], numbers[first + 3]
    across = math.cos(lat * DEGREE)
    for at in range(first + 2, last - 2, 2):
        ay, by = numbers[at + 1] - lat, numbers[at + 3] - lat
        # A piece beside the 180th meridian is near what is on the other side of it.
        for turn in (-2 * FARTHEST_EAST, 0.0, 2 * FARTHEST_EAST):
            ax, bx = (numbers[at] - lon + turn) * across, (numbers[at + 2] - lon + turn) * across
            t = min(1.0, max(0.0, along(-ax, -ay, bx - ax, by - ay)))
            x, y = (bx, by) if t == 1.0 else (ax + t * (bx - ax), ay + t * (by - ay))
            d2 = squared(x, y, 0.0, 0.0)
            if d2 < least:
                least = d2
                if t == 1.0:
                    east, north = numbers[at + 2], numbers[at + 3]
                else:
                    east = numbers[at] + t * (numbers[at + 2] - numbers[at])
                    north = numbers[at + 1] + t * (numbers[at + 3] - numbers[at + 1])
    return east, north


@jit_bare
def chord_to_line(numbers: F64, first: int, last: int, lon: float, lat: float) -> float:
    """The square of the chord to what is drawn."""
    east, north = nearest_on_globe(numbers, first, last, lon, lat)
    ux, uy, uz = vector_of(east, north)
    vx, vy, vz = vector_of(lon, lat)
    return float(chord(vx, vy, vz, ux, uy, uz))


@jit_bare
def is_near_on_globe(numbers: F64, first: int, last: int, lon: float, lat: float) -> bool:
    """Whether a place is within the distance of what is drawn."""
    return bool(chord_to_line(numbers, first, last, lon, lat) <= numbers[first + 1])


@jit_bare
def is_nearer_on_globe(numbers: F64, first: int, last: int, lon: float, lat: float) -> bool:
    """Whether it is nearer than that."""
    return bool(chord_to_line(numbers, first, last, lon, lat) < numbers[first + 1])
