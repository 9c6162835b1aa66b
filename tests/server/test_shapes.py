"""Regions as a map draws them."""

from __future__ import annotations

import numpy as np
import pytest

from sanderling.server.shown.shapes import region_of
from sanderling.space.shapes import cap
from sanderling.space.shapes.cap import CAP

KM_A_DEGREE = 111.195


@pytest.mark.parametrize(("lon", "lat"), [(2.35, 48.85), (-170.0, -60.0), (0.0, 0.0)])
def test_a_circle_on_the_globe_is_where_it_was_written(lon: float, lat: float) -> None:
    numbers = cap.numbers(np.array([lon]), np.array([lat]), np.array([2000.0]))
    a, b, c, d = (float(column[0]) for column in numbers)
    region = region_of(CAP, (a, b, c, d), None)
    assert region is not None
    x, y = np.array(region["coordinates"][0]).T
    assert (x.min() + x.max()) / 2 == pytest.approx(lon) and (y.min() + y.max()) / 2 == pytest.approx(lat)
    assert (y.max() - y.min()) / 2 * KM_A_DEGREE == pytest.approx(2, rel=1e-4)
    assert (x.max() - x.min()) * np.cos(np.radians(lat)) == pytest.approx(y.max() - y.min(), rel=1e-6)


def test_one_that_follows_is_around_nothing() -> None:
    a, b, c, d = (float(column[0]) for column in cap.following(np.array([2000.0])))
    region = region_of(CAP, (a, b, c, d), None)
    assert region is not None
    assert np.array(region["coordinates"][0]).mean(axis=0) == pytest.approx([0, 0], abs=1e-3)
