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
from sanderling.space.shapes.box import BOX
from sanderling.space.shapes.cap import CAP
from sanderling.space.shapes.centred import CENTRED
from sanderling.space.shapes.disc import DISC
from sanderling.space.shapes.quadrangle import QUADRANGLE
from sanderling.space.sphere import METRES_A_DEGREE

CORNERS = 64

Geometry = dict[str, Any]


def shape_of(coverage: Coverage, is_globe: bool = False) -> Geometry | None:
    """A region as written; of one that follows an object, around 0, 0. None of what no map can draw."""
    match coverage:
        case RectShape(x1, y1, x2, y2):
            return _box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
        case CircleShape(x, y, radius):
            return _circle(x, y, radius, is_globe)
        case MovingRectShape(_, xdist, ydist):
            return _box(-xdist / 2, -ydist / 2, xdist / 2, ydist / 2)
        case MovingCircleShape(_, radius):
            return _circle(0.0, 0.0, radius, is_globe)
        case OutlineShape(outline) | FollowingShape(_, outline):
            return drawn(outline)
    return None


def focal_value(coverage: Coverage) -> str | int | float | None:
    """Whom it follows."""
    focal = focal_of(coverage)
    return None if focal is None else focal.value


def region_of(
    kind: int, numbers: tuple[float, float, float, float], outline: bytes | None
) -> Geometry | None:
    """A region of a plan, by the numbers of its kind."""
    a, b, c, d = numbers
    if outline is not None:
        return drawn(outline)
    if kind in (BOX, QUADRANGLE):
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
    still = outline if outlines.motion_of(outline) is None else outlines.still_of(outline)
    wkb, numbers, law = outlines.wkb_of(still), outlines.numbers_of(still), outlines.law_of(still)
    if wkb is not None:
        shape: Geometry = json.loads(shapely.to_geojson(shapely.from_wkb(wkb)))
        return shape
    if law in (outlines.WITHIN_BOUNDS, outlines.OUTER_BOX):
        return _box(*(float(n) for n in numbers[:4]))
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
