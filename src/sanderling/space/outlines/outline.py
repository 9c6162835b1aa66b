"""Outlines: coverages that four numbers cannot say, as bytes beside their bounds.

SPOT (x y, …)                      one of several points
LEFT OF, RIGHT OF, ON LINE (…)     a side of a poly-line, or the line itself
ON LINE (…) WITHIN d               a corridor: all within d of its pieces; around a single point, a circle
BAND (LINE (…), LINE (…))          between two lines
EXTERIOR OF …                      all but the inside of an area, a side, a band or a corridor
POLYGON, MULTIPOLYGON              as WKB
SHIFT BY, SCALE BY                 any of them, with how it changes by itself (drift.py)

The first byte is the law by which it holds places, then come its numbers; WKB begins with 0 or 1. Borders
belong to whatever they are the border of.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import shapely

from sanderling.arrays import F64
from sanderling.space.moving.drift import FORMAT, Motion

Point = tuple[float, float]
Piece = tuple[Point, Point]
Line = Sequence[Point]

AREA, OUTER_AREA = 0, 2
WITHIN_BOUNDS, OUTER_BOX, SPOTS, SIDE, CORRIDOR, OUTER_CORRIDOR, BAND, OUTER_BAND = range(3, 11)
# On the globe: across the 180th meridian, and corridors in metres (globe.py).
ACROSS, OUTER_ACROSS, GLOBE_CORRIDOR, OUTER_GLOBE_CORRIDOR = range(11, 15)
MOVING = 15  # then a motion, and the outline as it is written
# Circles on the globe that follow, or change by themselves; what they judge is a distance (globe_pose.py).
WITHIN_CHORD, BEYOND_CHORD = 16, 17

WORDS = {
    AREA: "polygon",
    OUTER_AREA: "exterior of a polygon",
    WITHIN_BOUNDS: "rectangle",
    OUTER_BOX: "exterior of a rectangle",
    SPOTS: "spots",
    SIDE: "side of a line",
    CORRIDOR: "corridor",
    OUTER_CORRIDOR: "exterior of a corridor",
    BAND: "band",
    OUTER_BAND: "exterior of a band",
    ACROSS: "rectangle",
    OUTER_ACROSS: "exterior of a rectangle",
    GLOBE_CORRIDOR: "corridor",
    OUTER_GLOBE_CORRIDOR: "exterior of a corridor",
    WITHIN_CHORD: "circle",
    BEYOND_CHORD: "exterior of a circle",
}
# How many numbers corridors have that are around a single point.
POINTS = {CORRIDOR: 3, OUTER_CORRIDOR: 3, GLOBE_CORRIDOR: 4, OUTER_GLOBE_CORRIDOR: 4}
LEFT, RIGHT, ON = 1.0, -1.0, 0.0
# Of corners of lines: the square of what is twice as far is finite.
FARTHEST = 1e150


def packed(law: int, numbers: Sequence[float] | F64) -> bytes:
    return bytes([law]) + np.asarray(numbers, "<f8").tobytes()


def law_of(outline: bytes) -> int:
    return AREA if outline[0] < OUTER_AREA else outline[0]


def word_of(outline: bytes) -> str:
    """What it is called. A corridor around a single point is a circle."""
    if motion_of(outline) is not None:
        return f"drifting {word_of(still_of(outline))}"
    law = law_of(outline)
    is_point = law in POINTS and len(numbers_of(outline)) == POINTS[law]
    return WORDS[law].replace("corridor", "circle") if is_point else WORDS[law]


def numbers_of(outline: bytes) -> F64:
    """None of what is known to GEOS alone."""
    if law_of(outline) in (AREA, OUTER_AREA):
        return np.empty(0)
    return np.frombuffer(outline[1:], "<f8").astype(np.float64)


def wkb_of(outline: bytes) -> bytes | None:
    """The polygon that it is, or that it is the exterior of."""
    law = law_of(outline)
    return outline if law == AREA else outline[1:] if law == OUTER_AREA else None


# ----- as they are written


def spots(points: Line) -> bytes:
    return packed(SPOTS, [n for point in dict.fromkeys(points) for n in point])


def rectangle(x1: float, y1: float, x2: float, y2: float) -> bytes:
    """That it was written from right to left is remembered: on the globe it counts."""
    backwards = [1.0] if x1 > x2 else []
    return packed(WITHIN_BOUNDS, [min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), *backwards])


def circle(x: float, y: float, radius: float) -> bytes:
    return corridor([(x, y)], radius)


def side(which: float, line: Line) -> bytes:
    return packed(SIDE, [which, *flat(line)])


def corridor(line: Line, distance: float) -> bytes:
    """All within a distance of what is drawn; a point that is repeated adds nothing."""
    return packed(CORRIDOR, [distance, *flat([line[0], *(b for a, b in pairwise(line) if a != b)])])


def band(
    one: Line, side_of_one: float, other: Line,
    side_of_other: float,
) -> bytes:  # fmt: skip
    """Between two lines, on these sides of them."""
    return packed(BAND, [len(one), side_of_one, side_of_other, *flat(one), *flat(other)])


def flat(line: Line) -> list[float]:
    return [number for point in line for number in point]


def exterior(of: bytes) -> bytes | None:
    """All but the inside; None of what has no inside."""
    motion = motion_of(of)
    if motion is not None:
        outer = exterior(still_of(of))
        return None if outer is None else moving(outer, motion)
    law, numbers = law_of(of), numbers_of(of)
    if law == AREA:
        return bytes([OUTER_AREA]) + of
    if law == OUTER_AREA:
        return of[1:]
    if law == SIDE:
        return None if numbers[0] == ON else packed(SIDE, [-numbers[0], *numbers[1:]])
    opposite = {WITHIN_BOUNDS: OUTER_BOX, BAND: OUTER_BAND, CORRIDOR: OUTER_CORRIDOR}
    opposite |= {outer: inner for inner, outer in opposite.items()}
    return packed(opposite[law], numbers) if law in opposite else None


# ----- what changes by itself


def moving(outline: bytes, motion: Motion) -> bytes:
    return bytes([MOVING]) + motion.packed() + outline


def motion_of(outline: bytes) -> Motion | None:
    """How it changes by itself."""
    return Motion.unpacked(outline[1 : 1 + FORMAT.size]) if outline[0] == MOVING else None


def still_of(outline: bytes) -> bytes:
    """As it is written."""
    return outline[1 + FORMAT.size :] if outline[0] == MOVING else outline


def middle_of(outline: bytes) -> Point | None:
    """The middle of the bounds of what is drawn; None of lines that go on without end."""
    law, numbers = law_of(outline), numbers_of(outline)
    if law in (SIDE, BAND, OUTER_BAND):
        return None
    if law in (AREA, OUTER_AREA):
        left, low, right, high = shapely.bounds(shapely.from_wkb(wkb_of(outline))).tolist()
        return left / 2 + right / 2, low / 2 + high / 2
    # Of a rectangle there are four numbers; one that is written backwards has a fifth.
    some = slice(4) if law in (WITHIN_BOUNDS, OUTER_BOX) else slice(int(law != SPOTS), None)
    x, y = numbers[some].reshape(-1, 2).T
    # Halves: the sum of two coordinates may be too large for a number.
    return float(x.min() / 2 + x.max() / 2), float(y.min() / 2 + y.max() / 2)


# ----- lines


def crosses_itself(line: Line) -> bool:
    """Whether a line, with its ends that go on, meets itself; in fractions, so that nothing is rounded."""
    if not shapely.is_simple(shapely.LineString(line)):
        return True
    back, forth = (line[1], line[0]), (line[-2], line[-1])
    if any(_ray_meets(back, piece) for piece in list(pairwise(line))[1:]):
        return True
    if any(_ray_meets(forth, piece) for piece in list(pairwise(line))[:-1]):
        return True
    return len(line) > 2 and _rays_meet(back, forth)


def side_of_place(line: Line, place: Point) -> float:
    """LEFT or RIGHT of a line, or ON it; in fractions. The reference twin of line.py's `side_of_line`."""
    pieces = [(_exact(a), _less(_exact(b), _exact(a))) for a, b in pairwise(line)]
    least, found = None, ON
    for number, (begin, way) in enumerate(pieces):
        to = _less(_exact(place), begin)
        along = _dot(to, way) / _dot(way, way)
        along = max(along, Fraction(0)) if number else along
        along = min(along, Fraction(1)) if number < len(pieces) - 1 else along
        off = _less(to, (along * way[0], along * way[1]))
        nearness, turn = _dot(off, off), _cross(way, to)
        if least is None or nearness < least:
            least, found = nearness, _which(turn)
        elif nearness == least and along == 0 and number and (corner := _cross(pieces[number - 1][1], way)):
            found = _which(-corner) if nearness else ON
    return found


def _which(turn: Fraction) -> float:
    return LEFT if turn > 0 else RIGHT if turn < 0 else ON


def lines_meet(one: Line, other: Line) -> bool:
    """Whether two lines, with their ends that go on, have a point in common."""
    rays = [[(line[1], line[0]), (line[-2], line[-1])] for line in (one, other)]
    if shapely.intersects(shapely.LineString(one), shapely.LineString(other)):
        return True
    beyond = ((rays[0], other), (rays[1], one))
    if any(_ray_meets(ray, piece) for mine, line in beyond for ray in mine for piece in pairwise(line)):
        return True
    return any(_rays_meet(ray, its) for ray in rays[0] for its in rays[1])


def _ray_meets(ray: Piece, piece: Piece) -> bool:
    """Whether what follows b on the way from a, and b itself, touches a piece."""
    begin, way = _exact(ray[1]), _less(_exact(ray[1]), _exact(ray[0]))
    c, d = (_less(_exact(point), begin) for point in piece)
    side_c, side_d = _cross(way, c), _cross(way, d)
    if side_c * side_d > 0:
        return False
    if side_c == side_d:  # both on the line of the ray
        return _dot(way, c) >= 0 or _dot(way, d) >= 0
    meets = _dot(way, c) * side_d - _dot(way, d) * side_c
    return meets * (side_d - side_c) >= 0


def _rays_meet(one: Piece, other: Piece) -> bool:
    begin, way = _exact(one[1]), _less(_exact(one[1]), _exact(one[0]))
    there, its_way = _exact(other[1]), _less(_exact(other[1]), _exact(other[0]))
    apart, turn = _less(there, begin), _cross(way, its_way)
    if turn == 0:
        is_one_line = _cross(way, apart) == 0
        return is_one_line and (_dot(way, apart) >= 0 or _dot(its_way, apart) <= 0)
    return _cross(apart, its_way) / turn >= 0 and _cross(apart, way) / turn >= 0


Exact = tuple[Fraction, Fraction]


def _exact(point: Point) -> Exact:
    return Fraction(point[0]), Fraction(point[1])


def _less(a: Exact, b: Exact) -> Exact:
    return a[0] - b[0], a[1] - b[1]


def _cross(u: Exact, v: Exact) -> Fraction:
    return u[0] * v[1] - u[1] * v[0]


def _dot(u: Exact, v: Exact) -> Fraction:
    return u[0] * v[0] + u[1] * v[1]


# ----- where they are


def bounds(outline: bytes) -> tuple[float, float, float, float]:
    """A box that certainly holds every place that it holds, as it is written."""
    outline = still_of(outline)
    law, numbers = law_of(outline), numbers_of(outline)
    if law == AREA:
        left, low, right, high = shapely.bounds(shapely.from_wkb(outline)).tolist()
        return left, low, right, high
    if law == WITHIN_BOUNDS:
        left, low, right, high = numbers[:4].tolist()
        return left, low, right, high
    if law == SPOTS:
        return _around(numbers, 0.0)
    if law == CORRIDOR and np.isfinite(numbers[0] * numbers[0]):
        return _around(numbers[1:], float(numbers[0]))
    return -np.inf, -np.inf, np.inf, np.inf


def _around(points: F64, distance: float) -> tuple[float, float, float, float]:
    """Sums and squares round, so it is a little more where there is a distance."""
    x, y = points[::2], points[1::2]
    most = float(np.abs(points).max())
    far = distance + (1e-12 * (most + distance) + 1e-150 if distance else 0.0)
    return float(x.min() - far), float(y.min() - far), float(x.max() + far), float(y.max() + far)
