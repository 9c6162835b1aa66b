"""The oracle's shapes: their borders, against cases made by hand and against Shapely."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import pytest
import shapely

from . import Area, Both, Box, Corridor, Disc, Exterior, MovingBox, Side, Spots
from .cases import SQUARE

HOLE = [(4, 4), (6, 4), (6, 6), (4, 6)]


@pytest.mark.parametrize("box", [Box(0, 0, 10, 5), Box(10, 5, 0, 0), Box(0, 5, 10, 0)])
def test_a_box_has_its_borders_and_any_two_opposite_corners(box):
    assert all(box.holds(*p) for p in [(0, 0), (10, 5), (0, 5), (10, 0), (5, 5), (5, 2)])
    assert not any(box.holds(*p) for p in [(math.nextafter(10, 11), 2), (5, -5e-324), (11, 6), (math.nan, 2)])


def test_a_disc_compares_squares_in_doubles():
    assert Disc(0, 0, 5).holds(3, 4)
    assert not Disc(0, 0, 5).holds(3, math.nextafter(4, 5))
    # The doubles nearest 0.3 and 0.4 lie a hair's breadth outside; their rounded squares decide.
    assert Fraction(0.3) ** 2 + Fraction(0.4) ** 2 > Fraction(0.5) ** 2
    assert Disc(0, 0, 0.5).holds(0.3, 0.4)
    assert Disc(0, 0, 2**53).holds(2**53 + 1, 0)  # whole numbers become doubles first


def test_a_moving_box_measures_from_the_focal_object():
    box = MovingBox("f", 4, 2)
    assert all(box.holds(x, y, 10, 20) for x, y in [(12, 21), (8, 19), (10, 20)])
    assert not any(box.holds(x, y, 10, 20) for x, y in [(12.5, 20), (10, 21.5), (7.5, 20)])
    # In doubles 0.8 - 0.3 is 0.5 but 0.8 - 0.5 is above 0.3: the distance decides, not a corner.
    assert MovingBox("f", 1.0, 0).holds(0.3, 0, 0.8, 0)
    assert not Box(0.8 - 1.0 / 2, 0, 0.8 + 1.0 / 2, 0).holds(0.3, 0)
    assert not MovingBox("f", 0.6, 0).holds(0.4, 0, 0.1, 0)
    assert Box(0.1 - 0.6 / 2, 0, 0.1 + 0.6 / 2, 0).holds(0.4, 0)


@pytest.mark.parametrize("close", [False, True])
def test_borders_of_the_area_and_of_its_holes_belong_to_it(close):
    def ring(points):
        return points + points[:1] if close else points

    area = Area([(ring(SQUARE), [ring(HOLE)])])
    assert all(
        area.holds(*p) for p in [(0, 0), (10, 5), (5, 10), (1, 1), (4, 4), (5, 4), (6, 5), (3, 5), (5, 6)]
    )
    assert not any(area.holds(*p) for p in [(5, 5), (-1, 5), (11, 5), (5, 11), (5, -1), (math.nan, 5)])


def test_an_area_may_have_several_polygons_or_none():
    island = [(4.5, 4.5), (5.5, 4.5), (5.5, 5.5), (4.5, 5.5)]
    area = Area([(SQUARE, [HOLE]), (island, [])])
    assert area.holds(5, 5) and area.holds(1, 1) and not area.holds(4.25, 5)
    assert not Area([]).holds(0, 0) and not Area([([], [])]).holds(0, 0)


def test_an_area_is_exact_where_doubles_are_not():
    area = Area([([(-12, -12), (24, 24), (24, -12)], [])])
    assert 0.5 + 2**-53 + 12 == 12.5  # what a cross product in doubles would see
    assert area.holds(0.5, 0.5)
    assert area.holds(0.5 + 2**-53, 0.5)
    assert not area.holds(0.5, 0.5 + 2**-53)


@pytest.mark.parametrize("grid", [4, 8, None])
@pytest.mark.parametrize("seed", range(4))
def test_areas_agree_with_shapely(grid, seed):
    rng = random.Random(f"{grid} {seed}")

    def coordinate(low: float = 0, high: float = 1) -> float:
        return float(rng.randint(0, grid)) if grid else rng.uniform(low, high)

    compared = 0
    while compared < 3000:
        ring = [(coordinate(), coordinate()) for _ in range(rng.randint(3, 9))]
        region = shapely.make_valid(shapely.Polygon(ring))
        if rng.random() < 0.7:
            cut = shapely.Polygon([(coordinate(), coordinate()) for _ in range(3)])
            region = region.difference(cut if cut.is_valid else cut.envelope)
        parts = [part for part in shapely.get_parts(region) if part.geom_type == "Polygon"]
        region = shapely.MultiPolygon(parts)
        if not region.is_valid or region.is_empty:
            continue
        area = Area(
            [(list(part.exterior.coords), [list(hole.coords) for hole in part.interiors]) for part in parts]
        )
        corners = [tuple(corner) for corner in shapely.get_coordinates(region)]
        middles = [((ax + bx) / 2, (ay + by) / 2) for (ax, ay), (bx, by) in pairwise(corners)]
        points = corners + middles + [(coordinate(-0.1, 1.1), coordinate(-0.1, 1.1)) for _ in range(40)]
        for x, y in points:
            assert area.holds(x, y) == region.covers(shapely.Point(x, y)), (region.wkt, x, y)
        compared += len(points)


def test_sides_bands_and_exteriors_by_hand():
    bend = [(0, 0), (4, 0), (4, 4)]
    sides = {(2, 1): 1, (2, -1): -1, (4, 0): 0, (5, -1): -1, (4, 9): 0, (-9, 0): 0, (3, 99): 1, (4.5, 99): -1}
    assert {place: Side(bend, 1).side(*place) for place in sides} == sides
    assert Side(bend[::-1], -1).holds(2, 1) and not Side(bend[::-1], 1).holds(2, 1)
    assert (
        Corridor(bend, 1).holds(5, 4)
        and Corridor(bend, 1).holds(-1, 0)
        and not Corridor(bend, 1).holds(5, -0.5)
    )
    strip = Both(Side([(0, 0), (1, 0)], 1), Side([(0, 2), (1, 2)], -1))
    assert [strip.holds(7, y) for y in (-1, 0, 1, 2, 3)] == [False, True, True, True, False]
    assert [Exterior(strip).holds(7, y) for y in (-1, 0, 1, 2, 3)] == [True, True, False, True, True]
    for shape in (Box(0, 0, 4, 4), Disc(0, 0, 5), Area([(SQUARE, [HOLE])]), Corridor(bend, 3), Side(bend, 1)):
        places = [(x, y) for x in range(-6, 13) for y in range(-6, 13)]
        assert all(shape.holds(*p) or Exterior(shape).holds(*p) for p in places)
        both = [p for p in places if shape.holds(*p) and Exterior(shape).holds(*p)]
        assert 0 < len(both) < len(places) / 4
    assert Spots([(1, 2)]).holds(1, 2) and not Spots([(1, 2)]).holds(1, 2.5)
