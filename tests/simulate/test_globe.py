"""A town on the globe: the same traffic, said in degrees, wherever it lies."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sanderling.errors import ConfigError
from sanderling.simulate.globe import EARTH_M, At, at_of, on_globe
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic
from sanderling.simulate.write import write_steps

PLANE = TrafficSettings(objects=50, new=2)
ANYWHERE = [
    (8.2, 53.1),
    (-122.4, 37.8),
    (180.0, -16.5),
    (-180.0, 0.0),
    (31.0, 90.0),
    (0.0, -90.0),
    (5.0, 89.98),
]


def vector(lon: float, lat: float) -> tuple[float, float, float]:
    lon, lat = math.radians(lon), math.radians(lat)
    return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)


def metres(a: At, b: At) -> float:
    return 2 * EARTH_M * math.asin(min(1.0, math.dist(vector(*a), vector(*b)) / 2))


@pytest.mark.parametrize("at", ANYWHERE)
def test_from_the_middle_everything_is_as_far_as_on_the_plane(at: At, town: Network) -> None:
    town = town.centred()
    plane, globe = (Traffic(town, replace(PLANE, at=a)) for a in (None, at))
    for _ in range(3):
        there, here = plane.step(), globe.step()
        assert here.column_names == ["id", "ts", "lon", "lat", "speed", "heading", "type", "gone"]
        same = ["id", "ts", "speed", "heading", "type", "gone"]
        assert here.select(same).equals(there.select(same))
        for x, y, lon, lat in zip(
            *(there.column(c).to_pylist() for c in ("x", "y")),
            *(here.column(c).to_pylist() for c in ("lon", "lat")),
            strict=True,
        ):
            assert -180 <= lon <= 180 and -90 <= lat <= 90
            assert metres((lon, lat), at) == pytest.approx(math.hypot(x, y), abs=1e-3)


def test_north_is_up_and_east_is_right() -> None:
    lon, lat = on_globe(np.array([1000.0, 0.0, -1000.0]), np.array([0.0, 1000.0, 0.0]), (179.999, 10.0))
    assert lon[0] < -179.98 and lon[1] == pytest.approx(179.999) and 179.98 < lon[2] < 179.999
    assert lat[1] - 10 == pytest.approx(1000 / (EARTH_M * math.pi / 180))


def test_files_have_its_columns(town: Network, tmp_path: Path) -> None:
    for suffix in (".parquet", ".csv", ".jsonl"):
        write_steps(Traffic(town, replace(PLANE, at=(8.2, 53.1))), 2, tmp_path / f"x{suffix}")
    assert pq.read_schema(tmp_path / "x.parquet").names[2:4] == ["lon", "lat"]
    assert (tmp_path / "x.csv").read_text().startswith("id,ts,lon,lat,speed,")
    assert '"lon":8.' in (tmp_path / "x.jsonl").read_text().splitlines()[0]


@pytest.mark.parametrize("said", ["", "8.2", "8.2,53.1,0", "181,0", "0,90.1", "nan,0", "inf,0", "here,there"])
def test_what_is_no_place_is_refused(said: str) -> None:
    with pytest.raises(ConfigError, match="is not a place on the globe"):
        at_of(said)


def test_a_place_west_and_south_is_one() -> None:
    assert at_of("-122.4, -37.8") == (-122.4, -37.8)
