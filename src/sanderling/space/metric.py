"""How far apart two places are: the one file that says so, on a plane and on the globe. Squares are compared,
in doubles; on the globe those of chords, straight through the earth.

Whoever compares distances compares what `squared` gives, so that all agree to the last bit. Boxes only find
candidates: they hold whatever the exact test accepts, and a little more, since sums and squares round.

Numbers in, numbers out, put into a kernel where the call stands. What is plain takes columns too.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit, jit_bare
from sanderling.space.sphere import (
    DEGREE,
    FARTHEST_EAST,
    FOLD_STRETCH,
    HALF_WAY_ROUND,
    METRES_A_DEGREE,
    POLE,
    RADIUS,
)

Number = TypeVar("Number", float, F64)
Box = tuple[float, float, float, float]  # left, low, right, high; left of right across the 180th meridian
Vector = tuple[float, float, float]


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


# ----- on the globe


def plain_vector(lon: float, lat: float) -> Vector:
    """From the middle of the globe to a place, of length 1.

    A pole has one, whatever the longitude, and so has a place on the 180th meridian.
    """
    if abs(lat) == POLE:
        return 0.0, 0.0, math.copysign(1.0, lat)
    east, north = (FARTHEST_EAST if lon == -FARTHEST_EAST else lon) * DEGREE, lat * DEGREE
    across = math.cos(north)
    return across * math.cos(east), across * math.sin(east), math.sin(north)


vector_of = jit_bare(plain_vector)


def plain_chord(ux: Number, uy: Number, uz: Number, vx: Number, vy: Number, vz: Number) -> Number:
    """The square of the chord between two places, given as vectors."""
    dx, dy, dz = ux - vx, uy - vy, uz - vz
    return dx * dx + dy * dy + dz * dz


chord = jit_bare(plain_chord)


def plain_chord_within(metres: float) -> float:
    """The square of the chord that goes with a distance; infinite where nothing is farther."""
    if metres >= HALF_WAY_ROUND:
        return math.inf
    half = 2.0 * math.sin(metres / (2.0 * RADIUS))
    return half * half


chord_within = jit_bare(plain_chord_within)


@jit
def vectors(lon: F64, lat: F64) -> F64:
    """Of places, a line each; NaN of what is nowhere."""
    found = np.empty((len(lon), 3))
    for i in range(len(lon)):
        found[i, 0], found[i, 1], found[i, 2] = vector_of(lon[i], lat[i])
    return found


@jit
def chords_within(metres: F64) -> F64:
    """By column what `chord_within` says; NaN stays, and what is below 0 is nearer than everything."""
    found = np.empty(len(metres))
    for i in range(len(metres)):
        found[i] = chord_within(metres[i]) if not metres[i] < 0 else -1.0
    return found


@jit_bare
def is_within_chord(ux: float, uy: float, uz: float, square: float, lon: float, lat: float) -> bool:
    """Whether a place is at most so far from another, which is given as a vector."""
    vx, vy, vz = vector_of(lon, lat)
    return bool(chord(vx, vy, vz, ux, uy, uz) <= square)


@jit_bare
def degrees_apart(lon: float, to_lon: float) -> float:
    """Of two longitudes, the short way round."""
    apart = abs(lon - to_lon)
    return 2 * FARTHEST_EAST - apart if apart > FARTHEST_EAST else apart


@jit_bare
def is_beside_on_globe(
    lon: float, lat: float, to_lon: float, to_lat: float, along: float, upward: float
) -> bool:
    """Whether a place is within so many metres of another, to either side along its parallel, and to north
    and south."""
    is_level = abs(lat - to_lat) * METRES_A_DEGREE <= upward
    return bool(
        is_level and degrees_apart(lon, to_lon) * METRES_A_DEGREE * math.cos(to_lat * DEGREE) <= along
    )


# In degrees: far more than rounding can do.
SLACK_DEGREES = 1e-7


@jit_bare
def degrees_around(lon: float, lat: float, along: float, upward: float) -> Box:
    """A box that certainly holds all that is so many degrees around a place, across the meridian or not."""
    low, high = lat - upward - SLACK_DEGREES, lat + upward + SLACK_DEGREES
    along += SLACK_DEGREES
    if lon != lon:
        return np.nan, np.nan, np.nan, np.nan
    if not along < FARTHEST_EAST:
        return -FARTHEST_EAST, low, FARTHEST_EAST, high
    left, right = lon - along, lon + along
    if left < -FARTHEST_EAST:
        left += 2 * FARTHEST_EAST
    if right > FARTHEST_EAST:
        right -= 2 * FARTHEST_EAST
    return left, low, right, high


@jit_bare
def degrees_of(square: float) -> float:
    """How many degrees a chord spans; half way round at most."""
    return 2.0 * math.asin(min(1.0, math.sqrt(square) / 2.0)) / DEGREE


@jit_bare
def cap_bounds(ux: float, uy: float, uz: float, square: float) -> Box:
    """A box of degrees that certainly holds every place within a chord of another, given as a vector.

    All longitudes where a pole is within it, since they meet there.
    """
    if ux != ux:
        return np.nan, np.nan, np.nan, np.nan
    upward = degrees_of(square) + SLACK_DEGREES
    lat = math.asin(min(1.0, max(-1.0, uz))) / DEGREE
    if abs(lat) + upward >= POLE:
        return degrees_around(0.0, lat, 2 * FARTHEST_EAST, upward)
    along = math.asin(min(1.0, math.sin(upward * DEGREE) / math.cos(lat * DEGREE))) / DEGREE
    # asin is steep near 1: a little more than its own rounding.
    return degrees_around(math.atan2(uy, ux) / DEGREE, lat, along * (1 + 1e-7), upward)


# ----- a flat map of the globe


def folded(vector: F64) -> tuple[F64, F64]:
    """Places on a map in metres: the globe pressed flat into an octahedron, and its south under its north.

    Only to find who is near: nowhere is it torn, and nowhere are places of all sorts pressed into one, as at
    the edge of a map as seen from far above. Its steepest slope is at the corners, the root of 2.
    """
    scale = RADIUS / np.abs(vector).sum(axis=1)
    return vector[:, 0] * scale, vector[:, 1] * scale


# Places as kernels of the nearest have them, by column: on a plane x and y; on the globe x and y of the map,
# then the vector, then longitude and latitude.
ON_PLANE, ON_GLOBE = 2, 7
LON, LAT = 5, 6


def spread(x: F64, y: F64, is_globe: bool) -> F64:
    """Places, a line each, with all that kernels have to know of them."""
    if not is_globe:
        return np.stack([x, y], axis=1)
    vector = vectors(np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64))
    return np.ascontiguousarray(np.column_stack([*folded(vector), vector, x, y]))


def laid_flat(x: F64, y: F64, is_globe: bool) -> tuple[F64, F64]:
    """Places as they are shared out by space: as they are, or on the map."""
    if not is_globe:
        return x, y
    return folded(vectors(np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)))


@jit_bare
def apart(x: float, y: float, places: F64, p: int, at: F64, q: int) -> float:
    """The square of the distance between place p, whose first columns are x and y, and place q of others."""
    if at.shape[1] == ON_PLANE:
        return float(squared(x, y, at[q, 0], at[q, 1]))
    return float(chord(places[p, 2], places[p, 3], places[p, 4], at[q, 2], at[q, 3], at[q, 4]))


@jit_bare
def map_reach(square: float) -> float:
    """How far on the map a place may be that is within a chord."""
    return FOLD_STRETCH * RADIUS * (degrees_of(square) * DEGREE)


def squares_within(distance: F64, is_globe: bool) -> F64:
    """What squared distances are compared with; infinite where nothing is farther."""
    if not is_globe:
        return distance * distance
    return chords_within(np.ascontiguousarray(distance).ravel()).reshape(distance.shape)


@jit_bare
def around_place(at: F64, q: int, square: float) -> Box:
    """A box, of the plane or of the map, that certainly holds every place within this squared distance."""
    if at.shape[1] == ON_PLANE:
        return around(at[q, 0], at[q, 1], square)
    reach = map_reach(square)
    return box_around(at[q, 0], at[q, 1], reach, reach)


@jit_bare
def beyond_edge(edge: float, at: F64) -> float:
    """The square of a distance that is certainly less than that of all beyond an edge so far away."""
    if at.shape[1] == ON_PLANE:
        return edge * edge
    return float(chord_within(min(edge / FOLD_STRETCH, HALF_WAY_ROUND / 2)))


@jit_bare
def map_bounds(ux: float, uy: float, uz: float, square: float) -> Box:
    """A box of the map that certainly holds every place within a chord of another."""
    scale, reach = RADIUS / (abs(ux) + abs(uy) + abs(uz)), map_reach(square)
    return box_around(ux * scale, uy * scale, reach, reach)
