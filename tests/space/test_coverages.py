"""Coverages: the kernel's test against the plain twin, and bounds that leave nothing out."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.space.coverages import (
    BOX,
    CENTRED,
    COVERAGES,
    DISC,
    EVERYWHERE,
    POLYGON,
    bounds_of,
    holds_place,
    plain_holds_place,
    reach_of,
    size_of,
    word_of,
)
from sanderling.space.shapes import box, centred, disc, polygon
from tests.long import drawn

# The others are of places on the globe: test_globe.py.
ON_A_PLANE = (BOX, DISC, POLYGON, EVERYWHERE, CENTRED)
# Few values, so that places fall on borders; and some that break careless arithmetic.
usual = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, -1.0, 0.1, 0.3])
strange = st.sampled_from([1e-200, -1e-160, 1e16, -1e160, 1e200, 1e308, 5e-324, math.nan])
number = st.one_of(usual, usual, usual, strange)
numbers = st.tuples(number, number, number, number)


@settings(max_examples=drawn(60, 4000))
@given(st.sampled_from(sorted(ON_A_PLANE)), numbers, number, number)
def test_the_kernel_and_its_plain_twin_agree(
    kind: int, n: tuple[float, float, float, float], x: float, y: float
) -> None:
    assert holds_place(kind, *n, x, y) == plain_holds_place(kind, *n, x, y)


@settings(max_examples=drawn(60, 4000))
@given(st.sampled_from(sorted(ON_A_PLANE)), numbers, number, number)
def test_bounds_hold_whatever_the_region_holds(
    kind: int, n: tuple[float, float, float, float], x: float, y: float
) -> None:
    a, b, c, d = n if kind in (BOX, POLYGON) else (n[0], n[1], abs(n[2]), abs(n[3]))
    left, low, right, high = bounds_of(kind, a, b, c, d)
    if holds_place(kind, a, b, c, d, x, y):
        assert left <= x <= right and (low <= y <= high or math.isnan(y))
    if kind in (CENTRED, DISC) and holds_place(kind, a, b, c, d, x, y):
        w, h = reach_of(kind, c, d)
        assert abs(x - a) <= w or math.isclose(abs(x - a), w, rel_tol=1e-12, abs_tol=1e-150)
        assert abs(y - b) <= h or math.isclose(abs(y - b), h, rel_tol=1e-12, abs_tol=1e-150)


def test_borders_belong_to_the_region() -> None:
    assert holds_place(BOX, 0, 0, 2, 2, 2, 0) and not holds_place(BOX, 0, 0, 2, 2, np.nextafter(2, 3), 0)
    assert holds_place(DISC, 0, 0, 5, 0, 3, 4) and not holds_place(DISC, 0, 0, 5, 0, 3, np.nextafter(4, 5))
    assert holds_place(CENTRED, 1, 1, 0.5, 2, 1.5, 3) and not holds_place(CENTRED, 1, 1, 0.5, 2, 1.5, 3.1)
    assert holds_place(EVERYWHERE, 0, 0, 0, 0, 1e308, -1e308)
    assert not holds_place(EVERYWHERE, 0, 0, 0, 0, math.nan, math.nan)


def test_nothing_is_in_a_region_that_is_nowhere() -> None:
    for kind in (BOX, DISC, CENTRED, POLYGON):
        assert not holds_place(kind, math.nan, math.nan, 1.0, 1.0, 0.0, 0.0)
        assert math.isnan(bounds_of(kind, math.nan, math.nan, 1.0, 1.0)[0])


def test_a_region_without_end_has_bounds_without_end() -> None:
    assert bounds_of(DISC, 0.0, 0.0, 1e200, 0.0) == (-math.inf, -math.inf, math.inf, math.inf)
    assert holds_place(DISC, 0.0, 0.0, 1e200, 0.0, 1e308, 0.0)
    assert size_of(EVERYWHERE, 0.0, 0.0, 0.0, 0.0) == math.inf


def test_numbers_are_made_from_what_is_written() -> None:
    def columns(*values: float) -> list[np.ndarray]:  # type: ignore[type-arg]
        return [np.array([value]) for value in values]

    def row(found: tuple[np.ndarray, ...]) -> list[float]:  # type: ignore[type-arg]
        return [float(column[0]) for column in found]

    assert row(box.numbers(*columns(3, 4, 1, 2))) == [1, 2, 3, 4]
    assert math.copysign(1, row(box.numbers(*columns(0.0, 1, -0.0, 1)))[0]) == 1, "of equals the first"
    assert row(disc.numbers(*columns(1, 2, 3)))[:3] == [1, 2, 3]
    assert row(disc.following(*columns(3)))[:3] == [0, 0, 3]
    assert row(centred.numbers(*columns(3, 5))) == [0, 0, 1.5, 2.5]
    wkb = shapely.to_wkb(shapely.box(1, 2, 3, 4))
    assert row(polygon.numbers([wkb])) == [1, 2, 3, 4]
    assert all(map(math.isnan, row(polygon.numbers([None]))))


def test_a_polygon_is_judged_by_its_border() -> None:
    shapes = np.array([shapely.Polygon([(0, 0), (2, 0), (0, 2)])])
    at = np.array([0.5, 1.0, 1.5])
    inside = polygon.holds_exactly(shapes[[0, 0, 0]], np.zeros(3, np.bool_), at, at)
    assert inside.tolist() == [True, True, False]
    outside = polygon.holds_exactly(shapes[[0, 0, 0]], np.ones(3, np.bool_), at, at)
    assert outside.tolist() == [False, True, True]


@pytest.mark.parametrize("kind", sorted(COVERAGES))
def test_every_coverage_has_a_word(kind: int) -> None:
    assert word_of(kind)
