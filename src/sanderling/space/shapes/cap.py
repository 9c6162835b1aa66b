"""CIRCLE (lon, lat, r) and ('M', id, r) on the globe: all within so many metres of a place. The border
belongs.

Numbers: the middle as a vector, x, y, z, and the square of the chord of the radius. Of one that follows, the
plan has the middle 0, 0, 0: see motion.py.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import (
    Box,
    cap_bounds,
    chords_within,
    degrees_of,
    is_within_chord,
    plain_chord,
    plain_vector,
    vectors,
)

CAP = 5
WORD = "circle on the globe"


def numbers(lon: F64, lat: F64, radius: F64) -> tuple[F64, F64, F64, F64]:
    x, y, z = middle_of(lon, lat)
    return x, y, z, chords_within(np.asarray(radius, np.float64))


def middle_of(lon: F64, lat: F64) -> tuple[F64, F64, F64]:
    """The first three numbers of those around some places."""
    x, y, z = (np.ascontiguousarray(column) for column in vectors(lon, lat).T)
    return x, y, z


def following(radius: F64) -> tuple[F64, F64, F64, F64]:
    """Around whatever it follows."""
    nothing = np.zeros(len(radius))
    return nothing, nothing, nothing, chords_within(np.asarray(radius, np.float64))


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    return is_within_chord(a, b, c, d, x, y)


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return cap_bounds(a, b, c, d)


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """Its diameter, in degrees."""
    return 2 * degrees_of(d)


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    return bool(plain_chord(*plain_vector(x, y), a, b, c) <= d)
