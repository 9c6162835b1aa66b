"""Regions as a map draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sanderling.language.statements import RectShape
from sanderling.server.shown.shapes import drawn, region_of, shape_of
from sanderling.space.moving.drift import Motion
from sanderling.space.outlines import outline
from sanderling.space.outlines.globe import around_on_globe, on_globe
from sanderling.space.shapes import cap
from sanderling.space.shapes.cap import CAP
from sanderling.space.shapes.oblong import OBLONG
from sanderling.space.shapes.polygon import POLYGON
from sanderling.space.shapes.quadrangle import QUADRANGLE
from sanderling.space.sphere import METRES_A_DEGREE

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


def corners(region: dict[str, Any] | None) -> np.ndarray:  # type: ignore[type-arg]
    assert region is not None and region["type"] == "Polygon"
    return np.array(region["coordinates"][0])


def test_what_follows_on_the_globe_is_in_degrees_of_the_equator() -> None:
    """The page knows where its object is, and how long a degree is there."""
    degree = METRES_A_DEGREE
    assert np.ptp(corners(region_of(OBLONG, (0.0, 0.0, degree, degree / 2), None)), axis=0) == pytest.approx(
        [2, 1]
    )
    square = outline.rectangle(-degree, -degree, degree, degree)
    assert np.ptp(corners(region_of(POLYGON, (0, 0, 0, 0), square, True)), axis=0) == pytest.approx([2, 2])
    outer = around_on_globe(outline.exterior(outline.circle(0, 0, degree)) or b"")
    assert np.ptp(corners(region_of(POLYGON, (0, 0, 0, 0), outer, True)), axis=0) == pytest.approx([2, 2])


def test_what_is_across_the_meridian_is_drawn_in_two() -> None:
    for found in (
        region_of(QUADRANGLE, (179.0, -1.0, -178.0, 1.0), None),
        drawn(on_globe(outline.rectangle(179, -1, -178, 1))),
        shape_of(RectShape(179, 1, -178, -1), is_globe=True),
    ):
        assert found is not None and found["type"] == "MultiPolygon"
        boxes = [np.array(part[0]) for part in found["coordinates"]]
        assert [(b[:, 0].min(), b[:, 0].max()) for b in boxes] == [(179, 180), (-180, -178)]


def test_a_corridor_on_the_globe_is_as_wide_as_its_metres() -> None:
    road = corners(drawn(on_globe(outline.corridor([(10, 60), (12, 60)], METRES_A_DEGREE / 10))))
    assert np.ptp(road, axis=0) == pytest.approx([2.4, 0.2], rel=1e-3)
    storm = outline.moving(outline.circle(10, 60, METRES_A_DEGREE / 10), Motion(0, x=10.0, y=60.0))
    circle = corners(drawn(on_globe(storm)))
    assert circle[:-1].mean(axis=0) == pytest.approx([10, 60]) and np.ptp(circle, axis=0) == pytest.approx(
        [0.4, 0.2]
    )
