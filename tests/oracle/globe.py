"""Which places a shape on the globe holds, and how far apart two are: by vectors, in plain Python."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .shapes import MovingBox, MovingDisc, Point

R = 6_371_008.8
Vector = tuple[float, float, float]


def vector(lon: float, lat: float) -> Vector:
    """Of a pole there is one; and 180 degrees to the west is 180 degrees to the east."""
    if lat in (90, -90):
        return 0.0, 0.0, 1.0 if lat > 0 else -1.0
    a, b = (180.0 if lon == -180 else float(lon)) * (math.pi / 180), float(lat) * (math.pi / 180)
    return math.cos(b) * math.cos(a), math.cos(b) * math.sin(a), math.sin(b)


def chord(lon: float, lat: float, to_lon: float, to_lat: float) -> float:
    """The square of the straight line between two places, in radii."""
    dx, dy, dz = (u - v for u, v in zip(vector(lon, lat), vector(to_lon, to_lat), strict=True))
    return dx * dx + dy * dy + dz * dz


def chord_of(metres: float) -> float:
    return math.inf if metres >= math.pi * R else (2 * math.sin(metres / (2 * R))) ** 2


def metres(lon: float, lat: float, to_lon: float, to_lat: float) -> float:
    return 2 * R * math.asin(min(1.0, math.sqrt(chord(lon, lat, to_lon, to_lat)) / 2))


def _turn(lon: float, to_lon: float) -> float:
    return min(abs(lon - to_lon), 360 - abs(lon - to_lon))


@dataclass(frozen=True)
class Cap:
    """All within so many metres of a place; `is_outer`: all that are not nearer."""

    lon: float
    lat: float
    r: float
    is_outer: bool = False

    def holds(self, x: float, y: float) -> bool:
        apart, most = chord(x, y, self.lon, self.lat), chord_of(self.r)
        return apart >= most if self.is_outer else apart <= most


@dataclass(frozen=True)
class Zone:
    """From west to east, and across the 180th meridian if that is less; `is_outer`: all but the inside."""

    west: float
    south: float
    east: float
    north: float
    is_outer: bool = False

    def holds(self, x: float, y: float) -> bool:
        w, e, low, high = self.west, self.east, *sorted((self.south, self.north))
        if self.is_outer:
            return not (low < y < high and (w < x < e if w <= e else x > w or x < e))
        return low <= y <= high and (w <= x <= e if w <= e else x >= w or x <= e)


@dataclass(frozen=True)
class Road:
    """All within so many metres of a line, measured in a flat map around the place."""

    line: Sequence[Point]
    r: float
    is_outer: bool = False

    def holds(self, x: float, y: float) -> bool:
        degree = R * math.pi / 180
        across = degree * math.cos(y * math.pi / 180)
        nearest = math.inf
        for turn in (-360, 0, 360):
            flat = [((lon - x + turn) * across, (lat - y) * degree) for lon, lat in self.line]
            nearest = min(nearest, *(_to_piece(*a, *b) for a, b in pairwise(flat)))
        return nearest >= self.r if self.is_outer else nearest <= self.r


def _to_piece(ax: float, ay: float, bx: float, by: float) -> float:
    """From 0, 0."""
    ux, uy = bx - ax, by - ay
    at = max(0.0, min(1.0, -(ax * ux + ay * uy) / (ux * ux + uy * uy)))
    return math.hypot(ax + at * ux, ay + at * uy)


@dataclass(frozen=True)
class MovingCap(MovingDisc):
    """All within so many metres of the focal object."""

    def holds(self, x: float, y: float, focal_x: float, focal_y: float) -> bool:
        return Cap(focal_x, focal_y, self.r).holds(x, y)


@dataclass(frozen=True)
class MovingOblong(MovingBox):
    """So many metres along the parallel of the focal object, and so many to north and south."""

    def holds(self, x: float, y: float, focal_x: float, focal_y: float) -> bool:
        degree = R * (math.pi / 180)
        across = _turn(x, focal_x) * degree * math.cos(focal_y * (math.pi / 180))
        return abs(y - focal_y) * degree <= self.ydist / 2 and across <= self.xdist / 2
