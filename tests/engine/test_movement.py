"""SPEED() and HEADING() on the globe, against vectors: beside poles and over the 180th meridian."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random

import numpy as np

from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.long import drawn
from tests.oracle.globe import R, vector

LONS, LATS = (-180.0, -179.9, 0.0, 10.0, 90.0, 179.9, 180.0), (-89.5, -45.0, 0.0, 45.0, 80.0, 89.5)


def moved(before: tuple[float, float], now: tuple[float, float]) -> tuple[float, float | None]:
    """How far, and where to at the begin: the part of the way that is east, and that which is north."""
    here, there = (np.array(vector(*place)) for place in (before, now))
    metres = R * math.atan2(float(np.linalg.norm(np.cross(here, there))), float(here @ there))
    if metres < 1e-6:
        return 0.0, None
    lon, lat = (math.radians(angle) for angle in before)
    east = np.array([-math.sin(lon), math.cos(lon), 0.0])
    north = np.array([-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat)])
    return metres, math.degrees(math.atan2(float(there @ east), float(there @ north))) % 360


def test_on_the_globe_they_are_those_of_vectors(tmp_path: Path) -> None:
    random = Random(7)
    places = [(random.choice(LONS), random.choice(LATS)) for _ in range(drawn(300, 20_000))]
    path = tmp_path / "ships.csv"
    lines = [f"a,{2 * second},{lon},{lat}" for second, (lon, lat) in enumerate(places)]
    path.write_text("\n".join(["id,ts,lon,lat", *lines]))
    planner = Planner()
    planner.run_script(
        "CREATE STREAM ships (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE) KEY id TIME ts"
        " LOCATION (lon, lat) ON GLOBE;"
        "REGISTER QUERY moves AS SELECT ts, SPEED() AS speed, HEADING() AS heading FROM ships"
    )
    run = DirectRun(planner.plan(), 2, 500)
    run.feed_file("ships", path, is_last=True)
    rows = [update["row"] for update in map(json.loads, run.updates) if update["sign"] == 1]
    assert len(rows) == len(places) and rows[0]["speed"] is None and rows[0]["heading"] is None
    for before, now, row in zip(places, places[1:], rows[1:], strict=False):
        metres, heading = moved(before, now)
        assert math.isclose(2 * row["speed"], metres, rel_tol=1e-9, abs_tol=1e-6)
        if heading is None:
            assert row["heading"] is None
            continue
        assert 0 <= row["heading"] < 360
        is_opposite = metres > R * math.pi - 1
        turned = abs(row["heading"] - heading) % 360
        assert is_opposite or min(turned, 360 - turned) < 1e-6
