"""Distances: compiled and plain they are one number, and boxes leave nothing out."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.space.metric import (
    around,
    beyond,
    box_around,
    circle_bounds,
    is_beside,
    is_within,
    plain_squared,
    squared,
)

# Few values, so that places fall on borders; and some that break careless arithmetic.
usual = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, -1.0, 0.1, 0.3, 4.0])
strange = st.sampled_from([1e-200, -1e-160, 1e16, -1e160, 1e200, 1e308, 5e-324])
number = st.one_of(usual, usual, strange, st.floats(-1e6, 1e6))
size = number.map(abs)


@given(number, number, number, number)
def test_a_square_is_the_same_compiled_and_plain_and_either_way_round(
    x: float, y: float, u: float, v: float
) -> None:
    square = squared(x, y, u, v)
    with np.errstate(over="ignore"):
        columns = plain_squared(*(np.array([value]) for value in (x, y, u, v)))
    assert square == plain_squared(x, y, u, v) == squared(u, v, x, y) == columns[0]


def test_nowhere_is_within_no_distance() -> None:
    assert math.isnan(squared(math.nan, math.nan, 0.0, 0.0))
    assert not is_within(math.nan, math.nan, 0.0, 0.0, 1e308) and not is_beside(math.nan, 0.0, 1e308)


def test_the_distance_itself_belongs() -> None:
    assert is_within(3.0, 4.0, 0.0, 0.0, 5.0) and not is_within(3.0, float(np.nextafter(4, 5)), 0.0, 0.0, 5.0)
    assert is_beside(-2.0, 0.0, 2.0) and not is_beside(float(np.nextafter(-2, -3)), 0.0, 2.0)


@given(number, number, number, number, size)
def test_the_bounds_of_a_circle_hold_all_that_is_within(
    x: float, y: float, u: float, v: float, distance: float
) -> None:
    left, low, right, high = circle_bounds(u, v, distance)
    assert not is_within(x, y, u, v, distance) or (left <= x <= right and low <= y <= high)


@given(number, number, number, number)
def test_the_box_around_a_square_holds_all_that_is_nearer(x: float, y: float, u: float, v: float) -> None:
    square = squared(x, y, u, v)
    left, low, right, high = around(u, v, square)
    assert not math.isfinite(square) or (left <= x <= right and low <= y <= high)


@given(number, number, number, number, size, size)
def test_the_box_around_a_place_holds_all_beside_it(
    x: float, y: float, u: float, v: float, w: float, h: float
) -> None:
    left, low, right, high = box_around(u, v, w, h)
    assert not (is_beside(x, u, w) and is_beside(y, v, h)) or (left <= x <= right and low <= y <= high)
    assert beyond(u, w) >= w
