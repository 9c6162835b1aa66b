"""Outlines on the globe: what is written for a plane, as it is meant there.

Edges are straight in degrees, as on a plane. Distances are metres, and a rectangle that is written from east
to west goes across the 180th meridian; whatever else does has to be cut in two by its author.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import shapely

from sanderling.arrays import F64
from sanderling.space.metric import plain_chord_within
from sanderling.space.moving.globe_pose import plain_far_square
from sanderling.space.outlines import outline as o
from sanderling.space.sphere import DEGREE, FARTHEST_EAST, METRES_A_DEGREE, POLE

CORRIDORS = {o.CORRIDOR: o.GLOBE_CORRIDOR, o.OUTER_CORRIDOR: o.OUTER_GLOBE_CORRIDOR}
CIRCLES = {o.CORRIDOR: o.WITHIN_CHORD, o.OUTER_CORRIDOR: o.BEYOND_CHORD}
BOXES = {o.WITHIN_BOUNDS: o.ACROSS, o.OUTER_BOX: o.OUTER_ACROSS}


def on_globe(outline: bytes) -> bytes:
    """The same outline, of the globe."""
    motion = o.motion_of(outline)
    if motion is not None:
        still = o.still_of(outline)
        return o.moving(_circle(still) or on_globe(still), motion._replace(x=_middle_x(still, motion.x)))
    law, numbers = o.law_of(outline), o.numbers_of(outline)
    if law in CORRIDORS:
        return o.packed(CORRIDORS[law], [numbers[0], plain_chord_within(float(numbers[0])), *numbers[1:]])
    if law in BOXES and len(numbers) == 5:
        left, low, right, high = numbers[:4]
        return o.packed(BOXES[law], [right, low, left, high])
    return outline


def around_on_globe(outline: bytes) -> bytes:
    """What follows an object: its numbers are metres east and north of it."""
    motion, still = o.motion_of(outline), o.still_of(outline)
    found = _circle(still) or still
    return found if motion is None else o.moving(found, motion)


def _circle(outline: bytes) -> bytes | None:
    """Of one that has been written as a corridor around a single point."""
    law, numbers = o.law_of(outline), o.numbers_of(outline)
    if law not in CIRCLES or len(numbers) != o.POINTS[law]:
        return None
    return o.packed(CIRCLES[law], [numbers[0], plain_far_square(float(numbers[0]))])


def _middle_x(outline: bytes, x: float) -> float:
    """The middle longitude of what is written; of a rectangle across the 180th meridian, half way east."""
    if o.law_of(outline) not in BOXES or len(o.numbers_of(outline)) != 5:
        return x
    return x - FARTHEST_EAST if x > 0 else x + FARTHEST_EAST


def bounds(outline: bytes) -> tuple[float, float, float, float]:
    """A box of degrees that certainly holds every place that one of the globe holds; of a circle that has a
    pose, its radius in metres."""
    law, numbers = o.law_of(outline), o.numbers_of(outline)
    if law == o.WITHIN_CHORD:
        radius = float(numbers[0])
        return -radius, -radius, radius, radius
    if law == o.ACROSS:
        return -FARTHEST_EAST, float(numbers[1]), FARTHEST_EAST, float(numbers[3])
    if law == o.GLOBE_CORRIDOR:
        return _around(numbers[2:], float(numbers[0]))
    return -np.inf, -np.inf, np.inf, np.inf


def _around(points: F64, distance: float) -> tuple[float, float, float, float]:
    """All longitudes where a pole, or the 180th meridian, is that near."""
    lon, lat = points[::2], points[1::2]
    upward = distance / METRES_A_DEGREE * (1 + 1e-9) + 1e-7
    low, high = float(lat.min()) - upward, float(lat.max()) + upward
    farthest = max(abs(low), abs(high))
    if farthest < POLE:
        # Of a circle the widest parallel is a little nearer to the pole than its middle.
        across = math.sin(min(upward * DEGREE, math.pi / 2)) / math.cos(farthest * DEGREE)
        along = max(upward / math.cos(farthest * DEGREE), math.asin(min(1.0, across)) / DEGREE) * (1 + 1e-7)
        left, right = float(lon.min()) - along, float(lon.max()) + along
        if left > -FARTHEST_EAST and right < FARTHEST_EAST:
            return left, low, right, high
    return -FARTHEST_EAST, low, FARTHEST_EAST, high


Fault = tuple[str, str, str]  # the code of an error, what it says, and a hint
Points = list[list[float]]


def fault_of_place(lon: float, lat: float) -> Fault | None:
    """What is wrong with a place that is none on the globe."""
    if abs(lat) > POLE:
        hint = "a latitude is between -90 and 90; the longitude stands first"
        return "query.bad_place", f"no place has the latitude {lat:.15g}", hint
    if abs(lon) > FARTHEST_EAST:
        hint = "a longitude is between -180 and 180"
        return "query.bad_place", f"no place has the longitude {lon:.15g}", hint
    return None


def fault_of(outline: bytes) -> Fault | None:
    """What is wrong with an outline that is to be on the globe."""
    outline = o.still_of(outline)
    is_drawn = o.law_of(outline) not in (o.SPOTS, o.WITHIN_BOUNDS, o.OUTER_BOX)
    faults = (_fault(part, is_drawn) for part in _parts(outline))
    return next((fault for fault in faults if fault is not None), None)


def _parts(outline: bytes) -> list[Points]:
    """The rings or lines that it is made of, as written."""
    law, numbers = o.law_of(outline), o.numbers_of(outline)
    if law in (o.AREA, o.OUTER_AREA):
        rings = shapely.get_rings(shapely.get_parts(shapely.from_wkb(o.wkb_of(outline))))
        return [shapely.get_coordinates(ring).tolist() for ring in rings]
    if law in (o.BAND, o.OUTER_BAND):
        middle = 3 + 2 * int(numbers[0])
        return [numbers[3:middle].reshape(-1, 2).tolist(), numbers[middle:].reshape(-1, 2).tolist()]
    first = 1 if law in (o.SIDE, *CORRIDORS) else 0
    last = 4 if law in BOXES else len(numbers)
    return [numbers[first:last].reshape(-1, 2).tolist()]


def _fault(points: Points, is_drawn: bool) -> Fault | None:
    hint = "cut it in two at 180 and -180: a MULTIPOLYGON, or two regions"
    if is_drawn and any(abs(lon) > FARTHEST_EAST for lon, _ in points):
        return "query.across_meridian", "this goes across the 180th meridian", hint
    for lon, lat in points:
        if (fault := fault_of_place(lon, lat)) is not None:
            return fault
    if is_drawn and any(_is_long(a[0], b[0]) for a, b in pairwise(points)):
        hint += "; what is to go the long way round gets a corner on its way"
        return "query.across_meridian", "an edge spans more than half the globe", hint
    return None


def _is_long(lon: float, to_lon: float) -> bool:
    """Straight in degrees it goes the long way round, which hardly anybody means; but for all the way."""
    return FARTHEST_EAST < abs(lon - to_lon) < 2 * FARTHEST_EAST
