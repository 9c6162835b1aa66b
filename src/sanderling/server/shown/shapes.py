"""Regions as GeoJSON, for a map: what a kernel knows as four numbers, or as bytes, drawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import shapely

from sanderling.arrays import F64
from sanderling.language.statements import (
    CircleShape,
    Coverage,
    FollowingShape,
    MovingCircleShape,
    MovingRectShape,
    OutlineShape,
    RectShape,
    focal_of,
)
from sanderling.space.metric import degrees_of
from sanderling.space.outlines import outline as outlines
from sanderling.space.outlines.globe import around_on_globe, on_globe
from sanderling.space.shapes.box import BOX
from sanderling.space.shapes.cap import CAP
from sanderling.space.shapes.centred import CENTRED
from sanderling.space.shapes.disc import DISC
from sanderling.space.shapes.oblong import OBLONG
from sanderling.space.shapes.quadrangle import QUADRANGLE
from sanderling.space.sphere import FARTHEST_EAST, METRES_A_DEGREE

CORNERS = 64
CIRCLES = (outlines.WITHIN_CHORD, outlines.BEYOND_CHORD)

Geometry = dict[str, Any]


def shape_of(coverage: Coverage, is_globe: bool = False) -> Geometry | None:
    """A region as written; of one that follows an object, around 0, 0. None of what no map can draw."""
    match coverage:
        case RectShape(x1, y1, x2, y2):
            low, high = min(y1, y2), max(y1, y2)
            return _quadrangle(x1, low, x2, high) if is_globe else _box(min(x1, x2), low, max(x1, x2), high)
        case CircleShape(x, y, radius):
            return _circle(x, y, radius, is_globe)
        case MovingRectShape(_, xdist, ydist):
            box = _box(-xdist / 2, -ydist / 2, xdist / 2, ydist / 2)
            return _in_degrees(box) if is_globe else box
        case MovingCircleShape(_, radius):
            return _circle(0.0, 0.0, radius, is_globe)
        case OutlineShape(outline):
            return drawn(on_globe(outline) if is_globe else outline)
        case FollowingShape(_, outline):
            return _around(around_on_globe(outline)) if is_globe else drawn(outline)
    return None


def focal_value(coverage: Coverage) -> str | int | float | None:
    """Whom it follows."""
    focal = focal_of(coverage)
    return None if focal is None else focal.value


def region_of(
    kind: int, numbers: tuple[float, float, float, float], outline: bytes | None, is_in_metres: bool = False
) -> Geometry | None:
    """A region of a plan, by the numbers of its kind; what follows on the globe is in metres, and is drawn in
    degrees of the equator."""
    a, b, c, d = numbers
    if outline is not None:
        return _around(outline) if is_in_metres else drawn(outline)
    if kind == QUADRANGLE:
        return _quadrangle(a, b, c, d)
    if kind == OBLONG:
        return _in_degrees(_box(-c, -d, c, d))
    if kind == BOX:
        return _box(a, b, c, d)
    if kind == DISC:
        x, y = (0.0 if np.isnan(v) else v for v in (a, b))
        return _circle(x, y, c, False)
    if kind == CENTRED:
        return _box(-c, -d, c, d)
    if kind == CAP:
        return _cap(np.array([a, b, c]), d)
    return None


def _cap(middle: F64, square: float) -> Geometry:
    """By the middle as a vector, which is nothing where it follows an object, and the square of a chord."""
    x, y, z = middle
    lat = float(np.degrees(np.arcsin(np.clip(z, -1, 1))))
    return _circle(float(np.degrees(np.arctan2(y, x))), lat, degrees_of(square) * METRES_A_DEGREE, True)


def drawn(outline: bytes) -> Geometry | None:
    """What four numbers cannot say; of an exterior what it is the exterior of."""
    motion, still = outlines.motion_of(outline), outlines.still_of(outline)
    wkb, numbers, law = outlines.wkb_of(still), outlines.numbers_of(still), outlines.law_of(still)
    if wkb is not None:
        shape: Geometry = json.loads(shapely.to_geojson(shapely.from_wkb(wkb)))
        return shape
    if law in (outlines.WITHIN_BOUNDS, outlines.OUTER_BOX):
        return _box(*(float(n) for n in numbers[:4]))
    if law in (outlines.ACROSS, outlines.OUTER_ACROSS):
        return _quadrangle(*(float(n) for n in numbers[:4]))
    if law in CIRCLES:
        x, y = (0.0, 0.0) if motion is None else (motion.x, motion.y)
        return _circle(x, y, float(numbers[0]), True)
    if law in (outlines.GLOBE_CORRIDOR, outlines.OUTER_GLOBE_CORRIDOR):
        return _road(numbers[2:].reshape(-1, 2), float(numbers[0]))
    if law == outlines.SPOTS:
        return {"type": "MultiPoint", "coordinates": numbers.reshape(-1, 2).tolist()}
    if law == outlines.SIDE:
        return {"type": "LineString", "coordinates": numbers[1:].reshape(-1, 2).tolist()}
    if law in (outlines.CORRIDOR, outlines.OUTER_CORRIDOR):
        points = numbers[1:].reshape(-1, 2)
        line = shapely.Point(points[0]) if len(points) == 1 else shapely.LineString(points)
        shape = json.loads(shapely.to_geojson(line.buffer(float(numbers[0]))))
        return shape
    return None


def _road(points: F64, metres: float) -> Geometry:
    """All within a distance of a line on the globe: near enough for a picture."""
    if len(points) == 1:
        return _circle(float(points[0, 0]), float(points[0, 1]), metres, True)
    across = max(float(np.cos(np.radians(points[:, 1].mean()))), 1e-6)
    flat = shapely.LineString(points * (across, 1.0)).buffer(metres / METRES_A_DEGREE)
    shape: Geometry = json.loads(shapely.to_geojson(shapely.transform(flat, lambda at: at / (across, 1.0))))
    return shape


def _around(outline: bytes) -> Geometry | None:
    """What follows on the globe."""
    found, is_circle = drawn(outline), outlines.law_of(outlines.still_of(outline)) in CIRCLES
    return found if found is None or is_circle else _in_degrees(found)


def _in_degrees(shape: Geometry) -> Geometry:
    """Metres around an object, at the equator: a map knows where the object is."""
    flat = shapely.transform(shapely.from_geojson(json.dumps(shape)), lambda at: at / METRES_A_DEGREE)
    found: Geometry = json.loads(shapely.to_geojson(flat))
    return found


def _quadrangle(west: float, low: float, east: float, high: float) -> Geometry:
    """In two where it goes across the 180th meridian."""
    if west <= east:
        return _box(west, low, east, high)
    parts = [_box(west, low, FARTHEST_EAST, high), _box(-FARTHEST_EAST, low, east, high)]
    return {"type": "MultiPolygon", "coordinates": [part["coordinates"] for part in parts]}


def _box(left: float, low: float, right: float, high: float) -> Geometry:
    ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
    return {"type": "Polygon", "coordinates": [ring]}


def _circle(x: float, y: float, radius: float, is_globe: bool) -> Geometry:
    """On the globe `radius` is in metres, and near enough for a picture."""
    turns = np.linspace(0, 2 * np.pi, CORNERS + 1)
    wide = tall = radius
    if is_globe:
        tall = radius / METRES_A_DEGREE
        wide = tall / max(float(np.cos(np.radians(y))), 1e-6)
    ring = np.stack([x + wide * np.cos(turns), y + tall * np.sin(turns)], axis=1)
    ring[-1] = ring[0]
    return {"type": "Polygon", "coordinates": [ring.tolist()]}


__all__ = ["drawn", "focal_value", "region_of", "shape_of"]
