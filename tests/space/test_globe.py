"""The globe: kernels against their plain twins, bounds that leave nothing out, outlines that are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.kernels.inside.grid import build_grid
from sanderling.space.coverages import (
    CAP,
    OBLONG,
    QUADRANGLE,
    bounds_of,
    holds_place,
    plain_holds_place,
    size_of,
    word_of,
)
from sanderling.space.geometry import Geometry
from sanderling.space.metric import chords_within, plain_chord, plain_chord_within, plain_vector, vectors
from sanderling.space.outlines import outline
from sanderling.space.outlines.globe import bounds, fault_of, on_globe
from sanderling.space.outlines.laws import holds
from sanderling.space.shapes import cap, oblong, quadrangle
from sanderling.space.sphere import HALF_WAY_ROUND, RADIUS
from tests.long import drawn
from tests.oracle import globe as oracle

usual = st.sampled_from([-180.0, 180.0, 179.99, -179.99, 0.0, 90.0, 13.4, 1e-9])
longitude = st.one_of(usual, st.floats(-180, 180))
latitude = st.one_of(st.sampled_from([-90.0, 90.0, 89.99, 0.0, -17.0, 60.0]), st.floats(-90, 90))
metres = st.one_of(
    st.sampled_from([0.0, 1.0, 500.0, 1e5, 1e7, HALF_WAY_ROUND, 3e7]), st.floats(0, 2.1e7), st.floats(0, 2e4)
)


def region(kind: int, lon: float, lat: float, w: float, h: float) -> tuple[float, float, float, float]:
    made = {
        CAP: lambda: cap.numbers(*(np.array([v]) for v in (lon, lat, w))),
        OBLONG: lambda: (lon, lat, w, h),
        QUADRANGLE: lambda: (lon, lat, max(-180.0, lon - h / 1e5), min(90.0, lat + w / 1e6)),
    }[kind]()
    a, b, c, d = (float(np.ravel(n)[0]) for n in made)
    return a, b, c, d


@settings(max_examples=drawn(100, 8000))
@given(st.sampled_from([CAP, OBLONG, QUADRANGLE]), longitude, latitude, metres, metres, longitude, latitude)
def test_kernels_and_bounds_agree_with_the_plain_twin(
    kind: int, lon: float, lat: float, w: float, h: float, x: float, y: float
) -> None:
    n = region(kind, lon, lat, w, h)
    is_in = holds_place(kind, *n, x, y)
    assert is_in == plain_holds_place(kind, *n, x, y)
    left, low, right, high = bounds_of(kind, *n)
    if is_in:
        assert low <= y <= high
        assert left <= x <= right if left <= right else x >= left or x <= right


@settings(max_examples=drawn(60, 4000))
@given(st.sampled_from([CAP, OBLONG, QUADRANGLE]), longitude, latitude, metres, metres)
def test_a_region_is_in_no_cell_twice(kind: int, lon: float, lat: float, w: float, h: float) -> None:
    geometry = Geometry(np.array([kind], np.int8), *(np.array([n]) for n in region(kind, lon, lat, w, h)))
    grid = build_grid(geometry, does_last=True)
    cells = list(zip(grid.column.tolist(), grid.line.tolist(), strict=True))
    assert len(cells) == len(set(cells))
    assert cells or len(grid.wide)


@settings(max_examples=drawn(60, 4000))
@given(longitude, latitude, longitude, latitude)
def test_distances_are_those_of_the_oracle(lon: float, lat: float, x: float, y: float) -> None:
    both = vectors(np.array([lon, x]), np.array([lat, y]))
    assert tuple(both[0]) == oracle.vector(lon, lat) == plain_vector(lon, lat)
    assert plain_chord(*both[0], *both[1]) == oracle.chord(lon, lat, x, y)


def test_a_pole_is_one_place_and_so_is_a_place_on_the_meridian() -> None:
    assert plain_vector(0, 90) == plain_vector(77, 90)
    assert plain_vector(180, -17) == plain_vector(-180, -17)


def test_nothing_is_farther_than_half_way_round() -> None:
    assert plain_chord_within(HALF_WAY_ROUND) == math.inf
    assert plain_chord_within(math.nextafter(HALF_WAY_ROUND, 0)) <= 4
    found = chords_within(np.array([0.0, -1.0, math.nan, RADIUS]))
    assert found[0] == 0 and found[1] == -1 and math.isnan(found[2])
    assert found[3] == (2 * math.sin(0.5)) ** 2


def test_nothing_is_in_a_region_that_is_nowhere() -> None:
    for kind in (CAP, OBLONG):
        assert not holds_place(kind, math.nan, math.nan, 1.0, 1.0, 0.0, 0.0)
        assert math.isnan(bounds_of(kind, math.nan, math.nan, 1.0, 1.0)[0])
    assert size_of(CAP, 0.0, 0.0, 0.0, math.inf) == 360
    assert [word_of(kind) for kind in (CAP, OBLONG)] == [cap.WORD, oblong.WORD]
    assert quadrangle.WORD == oblong.WORD


@settings(max_examples=drawn(100, 8000))
@given(longitude, latitude, longitude, latitude, metres, longitude, latitude)
def test_a_corridor_has_bounds_that_hold_it(
    lon: float, lat: float, east: float, north: float, d: float, x: float, y: float
) -> None:
    for line in ([(lon, lat), (east, north)], [(lon, lat)]):
        found = on_globe(outline.corridor(line, d))
        left, low, right, high = bounds(found)
        numbers = outline.numbers_of(found)
        if holds(outline.law_of(found), numbers, 0, len(numbers), x, y):
            assert left <= x <= right and low <= y <= high


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (outline.side(outline.LEFT, [(0, 0), (181, 0)]), "query.across_meridian"),
        (outline.side(outline.LEFT, [(-100, 0), (100, 0)]), "query.across_meridian"),
        (outline.side(outline.LEFT, [(-180, 0), (180, 0)]), None),
        (outline.corridor([(0, 0), (0, 91)], 5), "query.bad_place"),
        (outline.spots([(0, 0), (200, 0)]), "query.bad_place"),
        (outline.spots([(-170, 0), (170, 0)]), None),
        (outline.rectangle(170, 0, -170, 10), None),
        (outline.band([(0, 0), (1, 0)], 1.0, [(0, 5), (1, 5)], -1.0), None),
        (outline.band([(0, 0), (1, 0)], 1.0, [(0, 95), (1, 95)], -1.0), "query.bad_place"),
    ],
)
def test_what_is_not_on_the_globe_is_known(found: bytes, code: str | None) -> None:
    fault = fault_of(found)
    assert (fault and fault[0]) == code


def test_the_sphere_of_others_is_the_same() -> None:
    pyproj = pytest.importorskip("pyproj")
    geod = pyproj.Geod(a=RADIUS, b=RADIUS)
    chance = np.random.default_rng(7)
    lon, lat = chance.uniform(-180, 180, (2, 2000)), chance.uniform(-90, 90, (2, 2000))
    _, _, theirs = geod.inv(lon[0], lat[0], lon[1], lat[1])
    ours = [oracle.metres(*place) for place in zip(lon[0], lat[0], lon[1], lat[1], strict=True)]
    assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-6)
