"""Which places a shape on the globe holds, and how far apart two are: by vectors, in plain Python."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .shapes import Around, Changing, Disc, Exterior, MovingBox, MovingDisc, Point, Still

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
    """All within so many metres of the point of a line that is nearest in a flat map around the place."""

    line: Sequence[Point]
    r: float
    is_outer: bool = False

    def holds(self, x: float, y: float) -> bool:
        across = math.cos(y * math.pi / 180)
        found = []
        for turn in (-360, 0, 360):
            for (a_lon, a_lat), (b_lon, b_lat) in pairwise(self.line):
                ax, ay, bx, by = (
                    (a_lon - x + turn) * across,
                    a_lat - y,
                    (b_lon - x + turn) * across,
                    b_lat - y,
                )
                at, away = _to_piece(ax, ay, bx, by)
                found.append((away, a_lon + at * (b_lon - a_lon), a_lat + at * (b_lat - a_lat)))
        _, lon, lat = min(found)
        apart, most = chord(x, y, lon, lat), chord_of(self.r)
        return apart >= most if self.is_outer else apart <= most


def _to_piece(ax: float, ay: float, bx: float, by: float) -> tuple[float, float]:
    """From 0, 0: how far along the piece, and how far away."""
    ux, uy = bx - ax, by - ay
    length = ux * ux + uy * uy
    at = max(0.0, min(1.0, -(ax * ux + ay * uy) / length)) if length else 0.0
    return at, math.hypot(ax + at * ux, ay + at * uy)


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


@dataclass(frozen=True)
class MovingArea(Around):
    """A shape in metres east and north of its focal object; or, of a circle, as a cap is."""

    scale: float = 1.0

    def holds(self, x: float, y: float, focal_x: float, focal_y: float) -> bool:
        if self.scale <= 0:
            return False
        if isinstance(self.of, Disc):
            return Cap(focal_x, focal_y, self.of.r * self.scale).holds(x, y)
        if isinstance(self.of, Exterior) and isinstance(self.of.of, Disc):
            return Cap(focal_x, focal_y, self.of.of.r * self.scale, is_outer=True).holds(x, y)
        degree = R * (math.pi / 180)
        east = _short_way(x - focal_x) * degree * math.cos(focal_y * (math.pi / 180))
        return self.of.holds(east / self.scale, (y - focal_y) * degree / self.scale)


@dataclass(frozen=True)
class Drifting:
    """A shape drawn in degrees, so many degrees farther and so many times as large about its middle."""

    of: Still
    far: Point = (0.0, 0.0)
    middle: Point = (0.0, 0.0)
    scale: float = 1.0

    def holds(self, x: float, y: float) -> bool:
        if self.scale <= 0:
            return False
        if isinstance(self.of, Cap):
            lon, lat = _short_way(self.of.lon + self.far[0]), self.of.lat + self.far[1]
            return Cap(lon, lat, self.of.r * self.scale, self.of.is_outer).holds(x, y)
        x, y = _short_way(x - _short_way(self.far[0])), y - self.far[1]
        if self.scale != 1:
            east = _short_way(x - self.middle[0]) / self.scale
            if abs(east) > 180:
                return getattr(self.of, "is_outer", False)
            x, y = _short_way(east + self.middle[0]), (y - self.middle[1]) / self.scale + self.middle[1]
        return self.of.holds(x, y)


def _short_way(degrees: float) -> float:
    return degrees - 360 * round(degrees / 360) if abs(degrees) > 180 else degrees


@dataclass(frozen=True)
class ChangingOnGlobe(Changing):
    """A shape that shifts, by degrees, and scales by itself; one around an object scales only."""

    middle: Point = (0.0, 0.0)

    def at(self, tick: int) -> Any:
        n, m = self.steps(tick)
        scale = 1 + m * self.scale[0] if self.scale else 1.0
        if isinstance(self.of, Around):
            return MovingArea(self.of.focal, self.of.of, scale)
        far = (n * self.shift[0], n * self.shift[1]) if self.shift else (0.0, 0.0)
        return Drifting(self.of, far, self.middle, scale)
