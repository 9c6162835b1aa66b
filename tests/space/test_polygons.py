"""Rasters of polygons: what they say GEOS says too, near borders, at corners, of shapes of every size."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import affinity

from sanderling.space.outlines import raster as kernel
from sanderling.space.outlines.polygons import NO_POLYGONS, Polygons
from sanderling.space.outlines.raster import (
    BORDER,
    CELLS_A_CORNER,
    FEWEST_CELLS,
    MOST_CELLS,
    NO_RASTERS,
    sides_of,
)
from tests.long import drawn

Floats = npt.NDArray[np.float64]

YARD = shapely.Polygon([(0, 0), (10, 0), (10, 10), (0, 10)], [[(4, 4), (8, 4), (8, 6), (4, 6)]])
SPIKE = shapely.Polygon([(0, 0), (10, 0), (10, 1), (1, 1e-9), (0, 1)])
COMB = shapely.Polygon([(0, 0), *((i / 20, i % 2 + 0.01) for i in range(1, 200)), (10, 0)])
ISLES = shapely.MultiPolygon([YARD, shapely.box(5, 4.5, 6, 5.5), shapely.box(20, 0, 21, 30)])
# A hole that touches the border, and one that leaves a single cell or none.
RING = shapely.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], [[(0, 2), (1, 1), (3.99999, 1), (2, 3.9)]])
SHAPES = {
    "yard": YARD,
    "spike": SPIKE,
    "comb": COMB,
    "isles": ISLES,
    "ring": RING,
    "round": YARD.centroid.buffer(3, 64),
}


def polygons_of(*shapes: shapely.Geometry) -> Polygons:
    assert all(shapely.is_valid(shapes))
    return NO_POLYGONS.of([bytes(shapely.to_wkb(shape)) for shape in shapes])


def places_of(shape: shapely.Geometry, rng: np.random.Generator, n: int = 300) -> tuple[Floats, Floats]:
    """Within its bounds: anywhere, its corners, on its edges, a breath beside them, and between cells."""
    left, low, right, high = shapely.bounds(shape)
    x, y = left + rng.random(n) * (right - left), low + rng.random(n) * (high - low)
    corners = shapely.get_coordinates(shape)
    at = rng.integers(0, len(corners) - 1, n)
    t = rng.choice([0.0, 0.25, 0.5, rng.random()], n)[:, None]
    edges = corners[at] * (1 - t) + corners[at + 1] * t
    beside = np.nextafter(edges, rng.choice([-np.inf, np.inf], edges.shape))
    (grid,) = polygons_of(shape).rasters.grid
    lines = left + rng.integers(0, grid[kernel.COLUMNS] + 1, n) / max(grid[kernel.BY_X], 1e-300)
    xs = np.concatenate([x, corners[:, 0], edges[:, 0], beside[:, 0], lines, [left, right, left, right]])
    ys = np.concatenate([y, corners[:, 1], edges[:, 1], beside[:, 1], y, [low, low, high, high]])
    is_within = (left <= xs) & (xs <= right) & (low <= ys) & (ys <= high)
    return xs[is_within], ys[is_within]


def check(shape: shapely.Geometry, seed: int = 0) -> None:
    """Of what is a region at all: moved or turned far enough, corners fall upon each other."""
    if shape.is_empty or not shapely.is_valid(shape):
        return
    x, y = places_of(shape, np.random.default_rng(seed))
    polygons, region = polygons_of(shape), np.zeros(len(x), np.int64)
    expected = shapely.intersects_xy(shape, x, y)
    assert (polygons.hold(region, x, y) == expected).all()
    assert (polygons.without_rasters().hold(region, x, y) == expected).all()


@pytest.mark.parametrize("name", sorted(SHAPES))
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e9, 1e-160, 1e150])
def test_rasters_say_what_geos_says(name: str, size: float) -> None:
    check(affinity.scale(SHAPES[name], size, size, origin=(0, 0)))


@pytest.mark.parametrize("name", sorted(SHAPES))
@pytest.mark.parametrize("away", [1e3, -1e7, 1e12, 3e15])
def test_and_far_from_the_origin_where_numbers_are_coarse(name: str, away: float) -> None:
    check(affinity.translate(SHAPES[name], away, -away / 3))


@pytest.mark.parametrize("stretch", [1e-9, 1e-3, 1e3, 1e9])
def test_and_of_shapes_that_are_long_and_thin(stretch: float) -> None:
    for shape in SHAPES.values():
        long = affinity.scale(shape, stretch, 1)
        check(long)
        check(affinity.rotate(long, 30))


corner = st.tuples(st.integers(0, 8), st.integers(0, 8))
rings = st.lists(corner, min_size=3, max_size=12)


@settings(max_examples=drawn(50, 3000), deadline=None)
@given(st.lists(rings, min_size=1, max_size=4), st.floats(0, 90), st.integers(0, 99))
def test_rasters_of_random_shapes_say_what_geos_says(
    parts: list[list[tuple[int, int]]], turn: float, seed: int
) -> None:
    """Rings cross each other and themselves: what even and odd make of them, with holes and islands."""
    shape = shapely.Polygon()
    for ring in parts:
        shape = shape.symmetric_difference(shapely.make_valid(shapely.Polygon(ring)))
    areas = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    shape = affinity.rotate(shapely.MultiPolygon(areas), turn)
    check(shape, seed)


def test_most_places_need_no_exact_test() -> None:
    rng = np.random.default_rng(1)
    for name, share in (("yard", 0.2), ("round", 0.1), ("isles", 0.35)):
        polygons = polygons_of(SHAPES[name])
        left, low, right, high = shapely.bounds(SHAPES[name])
        x, y = left + rng.random(10_000) * (right - left), low + rng.random(10_000) * (high - low)
        found = sides_of(polygons.rasters, np.zeros(len(x), np.int64), x, y)
        assert np.mean(found == BORDER) < share, name


def test_rasters_take_the_room_that_is_promised() -> None:
    for shape in (YARD, YARD.centroid.buffer(3, 500), YARD.centroid.buffer(3, 50_000), SPIKE):
        polygons, corners = polygons_of(shape), shapely.get_num_coordinates(shape)
        most = min(max(CELLS_A_CORNER * corners, FEWEST_CELLS), MOST_CELLS)
        assert most / 8 < polygons.rasters.cells.nbytes <= math.ceil(most / 4)


def test_what_is_too_large_or_too_thin_for_numbers_is_left_to_geos() -> None:
    thin, large = shapely.box(0, 0, 1e-320, 1), shapely.box(-1.7e308, -1, 1.7e308, 1)
    polygons = NO_POLYGONS.of([bytes(shapely.to_wkb(shape)) for shape in (thin, large)])
    assert polygons.rasters.cells.tolist() == [BORDER, BORDER]
    assert polygons.hold(np.array([0, 1]), np.array([1e-320, 1e308]), np.array([1.0, 0.0])).all()


def test_shapes_that_are_the_same_are_one_and_known_ones_stay() -> None:
    yard, spike, ring = (bytes(shapely.to_wkb(shape)) for shape in (YARD, SPIKE, RING))
    first = NO_POLYGONS.of([yard, None, spike, yard])
    assert len(first) == 2 and first.rasters.shape.tolist() == [0, -1, 1, 0]
    then = first.of([ring, yard, None])
    assert len(then) == 3 and then.shapes[0] is first.shapes[0]
    places = np.array([5.0, 5.0]), np.array([5.0, 1.0])
    assert then.hold(np.array([1, 1]), *places).tolist() == [False, True]
    assert then.rasters_of(np.array([1, 2])).shape.tolist() == [0, -1]
    assert then.of([None, None]).rasters_of(np.array([0])) is NO_RASTERS


def test_regions_that_are_no_polygons_hold_what_is_within_their_bounds() -> None:
    polygons = NO_POLYGONS.of([None, bytes(shapely.to_wkb(RING))])
    assert polygons.hold(np.array([0, 1]), np.array([1.0, 2.0]), np.array([2.0, 2.0])).tolist() == [
        True,
        False,
    ]
