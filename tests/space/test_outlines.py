"""Outlines: what kernels say of lines, bands, spots and exteriors is what fractions and GEOS say."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.space.outlines import outline
from sanderling.space.outlines.outline import LEFT, ON, RIGHT
from sanderling.space.outlines.polygons import NO_POLYGONS
from tests.long import drawn

Point = tuple[float, float]
PLACES = np.array(list(product(range(-3, 9), range(-3, 9))), np.float64)
FAR = 1 << 20  # where the open ends of lines are cut, for GEOS


def held(shape: bytes, places: npt.NDArray[np.float64] = PLACES) -> npt.NDArray[np.bool_]:
    """Of places, those within the bounds first, as everywhere."""
    left, low, right, high = outline.bounds(shape)
    x, y = np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])
    found = NO_POLYGONS.of([shape]).hold(np.zeros(len(x), np.int64), x, y)
    return found & (left <= x) & (x <= right) & (low <= y) & (y <= high)


def exact_side(line: list[Point], x: float, y: float) -> int:
    """Of a straight line, by fractions."""
    (ax, ay), (bx, by) = ((Fraction(u), Fraction(v)) for u, v in line)
    cross = (bx - ax) * (Fraction(y) - ay) - (by - ay) * (Fraction(x) - ax)
    return (cross > 0) - (cross < 0)


def left_of(line: list[Point]) -> shapely.Geometry:
    """What is left of a line in a large circle, as a polygon: along the line, then round to its begin."""
    (ax, ay), (bx, by) = line[0], line[1]
    (cx, cy), (dx, dy) = line[-2], line[-1]
    back = (ax - FAR * (bx - ax), ay - FAR * (by - ay))
    forth = (dx + FAR * (dx - cx), dy + FAR * (dy - cy))
    begin, end = np.arctan2(dy - cy, dx - cx), np.arctan2(ay - by, ax - bx)
    turn = (end - begin) % (2 * np.pi)
    angles = begin + turn * np.arange(1, 32) / 32
    around = [(20 * FAR * np.cos(a), 20 * FAR * np.sin(a)) for a in angles]
    return shapely.Polygon([back, *line, forth, *around])


@st.composite
def lines(draw: st.DrawFn, pieces: int = 5) -> list[Point]:
    """Corners on a small grid; no piece goes straight back, and the ends do not go the same way."""
    corner = st.tuples(st.integers(0, 5), st.integers(0, 5))
    found = draw(st.lists(corner, min_size=2, max_size=pieces + 1))
    line = [found[0], *(b for a, b in pairwise(found) if a != b)]
    return [(float(x), float(y)) for x, y in line]


def is_plain(line: list[Point]) -> bool:
    """Whether it parts the plane, and how can be told by angles."""
    if len(line) < 2 or outline.crosses_itself(line):
        return False
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = line[0], line[1], line[-2], line[-1]
    is_parallel = (bx - ax) * (dy - cy) == (by - ay) * (dx - cx)
    return not is_parallel or (bx - ax) * (dx - cx) + (by - ay) * (dy - cy) > 0


@settings(max_examples=drawn(60, 5000), deadline=None)
@given(lines(pieces=1))
def test_the_side_of_a_straight_line_is_exact(line: list[Point]) -> None:
    if len(line) != 2:
        return
    sides = np.array([exact_side(line, x, y) for x, y in PLACES])
    assert (held(outline.side(LEFT, line)) == (sides >= 0)).all()
    assert (held(outline.side(RIGHT, line)) == (sides <= 0)).all()
    assert (held(outline.side(ON, line)) == (sides == 0)).all()


@settings(max_examples=drawn(60, 5000), deadline=None)
@given(lines())
def test_the_side_of_a_line_with_corners_is_what_geos_says(line: list[Point]) -> None:
    if not is_plain(line):
        return
    half = left_of(line)
    assert shapely.is_valid(half), line
    x, y = PLACES.T
    is_left, is_inner = shapely.intersects_xy(half, x, y), shapely.contains_xy(half, x, y)
    assert (held(outline.side(LEFT, line)) == is_left).all()
    assert (held(outline.side(RIGHT, line)) == ~is_inner).all()
    assert (held(outline.side(ON, line)) == (is_left & ~is_inner)).all()
    for x, y in PLACES[::5]:
        (is_left,) = held(outline.side(LEFT, line), np.array([[x, y]]))
        assert is_left == (outline.side_of_place(line, (x, y)) >= 0)


@settings(max_examples=drawn(60, 5000), deadline=None)
@given(lines(), st.integers(0, 6))
def test_a_corridor_is_all_within_a_distance_of_what_is_drawn(line: list[Point], distance: int) -> None:
    shape = shapely.LineString(line) if len(line) > 1 else shapely.Point(line[0])
    x, y = PLACES.T
    apart = shapely.distance(shape, shapely.points(x, y))
    found = held(outline.corridor(line, float(distance)))
    is_sure = np.abs(apart - distance) > 1e-9
    assert (found == (apart <= distance))[is_sure].all()
    corners = np.array(line)
    assert held(outline.corridor(line, 0.0), corners).all()


def test_exactly_at_its_distance_a_place_is_in_a_corridor() -> None:
    way: list[Point] = [(0, 0), (4, 0), (4, 4)]
    at = np.array([[2, -1], [2, 1], [-1, 0], [5, 5], [4, 5], [2, -1.0000001], [4.8, 4.6], [4.6, -0.8]])
    expected = [True, True, True, False, True, False, True, True]
    assert held(outline.corridor(way, 1.0), at).tolist() == expected


YARD = shapely.Polygon([(0, 0), (6, 0), (6, 6), (0, 6)], [[(2, 2), (4, 2), (4, 4), (2, 4)]])
WEDGE = ([(0.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (1.0, 1.0)])


def test_a_band_is_between_its_lines_and_its_exterior_everywhere_else() -> None:
    one, other = WEDGE
    band = outline.band(one, LEFT, other, RIGHT)
    outer = outline.exterior(band)
    assert outer is not None
    x, y = PLACES.T
    assert (held(band) == ((y >= 0) & (y <= x))).all()
    assert (held(outer) == ~((y > 0) & (y < x))).all()


@pytest.mark.parametrize(
    "shape",
    [
        outline.rectangle(0, 0, 4, 3),
        outline.circle(2, 2, 5),
        outline.side(LEFT, [(0, 0), (3, 1), (3, 5)]),
        outline.band(WEDGE[0], LEFT, WEDGE[1], RIGHT),
        outline.corridor([(0, 0), (4, 0), (4, 4)], 2),
        bytes(shapely.to_wkb(YARD)),
    ],
    ids=["rectangle", "circle", "side", "band", "corridor", "polygon"],
)  # fmt: skip
def test_a_coverage_and_its_exterior_share_the_border_and_nothing_else(shape: bytes) -> None:
    outer = outline.exterior(shape)
    assert outer is not None
    assert outline.exterior(outer) == shape
    assert (held(shape) | held(outer)).all()
    both = held(shape) & held(outer)
    near = [
        held(shape, PLACES + step) != held(shape) for step in ([1e-6, 0], [-1e-6, 0], [0, 1e-6], [0, -1e-6])
    ]
    corners = both & ~np.logical_or.reduce(near)
    assert corners.sum() <= 4, "only at corners a small step along an axis may stay inside"
    assert (held(outer, PLACES[~both]) == ~held(shape, PLACES[~both])).all()


@pytest.mark.parametrize(("x", "y"), [(1e-9, 1e-9), (1e-3, 5), (5.999999999, 3), (3, 1.999999)])
def test_the_exterior_of_a_polygon_is_judged_by_its_border(x: float, y: float) -> None:
    outer = outline.exterior(bytes(shapely.to_wkb(YARD)))
    assert outer is not None
    for at in (
        (x, y),
        (-x, y),
        (x + 6, y),
        (x, -y),
        (6 + 1e-12, 3),
        (np.nextafter(6, 9), 3),
        (np.nextafter(6, 0), 3),
    ):
        assert held(outer, np.array([at])).tolist() == [not shapely.contains_xy(YARD, *at)]


def test_spots_hold_just_themselves() -> None:
    spots = outline.spots([(1, 1), (2, 5), (1, 1), (-0.0, 3)])
    assert [tuple(p) for p in PLACES[held(spots)]] == [(0, 3), (1, 1), (2, 5)]
    assert outline.exterior(spots) is None
    assert outline.exterior(outline.side(ON, [(0, 0), (1, 1)])) is None


@pytest.mark.parametrize("far", [1e3, 1e9, 1e12, 1e30, 1e160, 1e300, 8e307])
def test_places_have_a_side_however_far_away_they_are(far: float) -> None:
    bend: list[Point] = [(0, 0), (1, 0), (1, 1)]
    places = np.array([[-far, far], [far, -far], [-far, 1], [far, 1], [0.5, far], [-far, -far]])
    straight = outline.side(LEFT, [(-1, -1), (1, 1)])
    assert held(straight, places).tolist() == [True, False, True, False, True, True]
    assert held(outline.side(LEFT, bend), places).tolist() == [True, False, True, False, True, False]
    assert held(outline.side(RIGHT, bend), places).tolist() == [False, True, False, True, False, True]


@pytest.mark.parametrize(
    ("line", "is_crossing"),
    [
        ([(0, 0), (1, 0)], False),
        ([(0, 0), (2, 0), (2, 2), (0, 2)], False),
        ([(0, 0), (2, 0), (2, 2), (1, -1)], True),
        ([(0, 0), (2, 0), (1, 0)], True),
        ([(0, 0), (2, 0), (2, 2), (0, 0)], True),
        ([(0, 0), (2, 0), (2, 2), (1, 1)], True),  # its last piece goes on through the first
        ([(0, 0), (2, 0), (3, 2), (2, 4), (0, 3)], True),  # its ends meet far away
        ([(0, 0), (2, 0), (3, 2), (2, 4), (0, 4)], False),  # they are parallel
        ([(0, 0), (1, 0), (2, 0), (3, 0)], False),
    ],
)
def test_a_line_that_crosses_itself_with_its_open_ends_is_known(line: list[Point], is_crossing: bool) -> None:
    assert outline.crosses_itself(line) == is_crossing
    assert outline.crosses_itself(line[::-1]) == is_crossing
