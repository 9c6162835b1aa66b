"""Taxis and ships that stay near each other, from real files, against brute force over pairs and ticks."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

EARTH_M = 6_371_008.8
SECOND = 1_000_000


@dataclass(frozen=True)
class Fleet:
    """A file, how a row of it becomes (key, second, longitude, latitude), and who is company."""

    path: str
    reading: Callable[[dict[str, str]], tuple[str, int, str, str]]
    tick_s: int
    range_s: int
    metres: float
    is_wanted: Callable[[dict[str, str]], bool] = lambda row: True


def second_of(text: str) -> int:
    return int(datetime.strptime(text, "%d/%m/%Y %H:%M:%S").replace(tzinfo=UTC).timestamp())


FLEETS = {
    "taxis of San Francisco within 200 m for 10 minutes": Fleet(
        "sf-cabs/cabs_2h.csv.gz", lambda r: (r["cab_id"], int(r["unix_time"]), r["lon"], r["lat"]), 60, 600,
        200.0,
    ),
    "ships that wait together": Fleet(
        "ais/danish_raw_97s.csv.gz",
        lambda r: (r["MMSI"], second_of(r["# Timestamp"]), r["Longitude"], r["Latitude"]), 10, 40, 300.0,
        lambda r: r["SOG"] not in ("",) and float(r["SOG"]) < 0.5 and abs(float(r["Latitude"])) <= 90,
    ),
}  # fmt: skip

Reading = tuple[str, int, str, str]


def readings_of(fleet: Fleet) -> list[Reading]:
    """Of one object at one time the last."""
    with gzip.open(DATA / fleet.path, "rt", newline="") as file:
        found = [fleet.reading(row) for row in csv.DictReader(file) if fleet.is_wanted(row)]
    last = {(r[1], r[0]): r for r in found}
    return [last[at] for at in sorted(last)]


def vector(lon: str, lat: str) -> np.ndarray:
    a, b = np.radians(float(lon)), np.radians(float(lat))
    return np.array([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)])


def company(readings: list[Reading], fleet: Fleet) -> Counter[tuple[str, int, str, str]]:
    """What changes from tick to tick: who has been near whom at all ticks of the range."""
    keys = sorted({r[0] for r in readings})
    number = {key: i for i, key in enumerate(keys)}
    by_tick: dict[int, list[Reading]] = {}
    for r in readings:
        by_tick.setdefault(-(-r[1] // fleet.tick_s), []).append(r)
    at = np.full((len(keys), 3), np.nan)
    reach = (2 * np.sin(fleet.metres / EARTH_M / 2)) ** 2
    times = np.zeros((len(keys), len(keys)), np.int64)
    was = np.zeros(times.shape, np.bool_)
    found: Counter[tuple[str, int, str, str]] = Counter()
    for tick in range(min(by_tick), max(by_tick) + 1):
        for r in by_tick.get(tick, []):
            at[number[r[0]]] = vector(*r[2:])
        square = sum((at[:, None, axis] - at[None, :, axis]) ** 2 for axis in range(3))
        times = np.where(square <= reach, times + 1, 0)
        now = np.triu(times >= fleet.range_s // fleet.tick_s, 1)
        said = show_time(tick * fleet.tick_s * SECOND)
        for sign, changed in ((1, now & ~was), (-1, was & ~now)):
            found.update((said, sign, keys[a], keys[b]) for a, b in np.argwhere(changed))
        was = now
    return found


@pytest.mark.parametrize("name", FLEETS)
def test_who_stays_together_is_what_brute_force_says(name: str, tmp_path: Path) -> None:
    fleet, path = FLEETS[name], tmp_path / "fleet.csv"
    readings = readings_of(fleet)
    path.write_text("id,ts,lon,lat\n" + "".join(f"{','.join(map(str, r))}\n" for r in readings))
    planner = Planner(tmp_path)
    side = f"fleet [RANGE {fleet.range_s} SECONDS]"
    planner.run_script(f"""
    CREATE STREAM fleet (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE)
      KEY id TIME ts LOCATION (lon, lat) ON GLOBE WITH (path = 'fleet.csv', tick = '{fleet.tick_s} seconds');
    REGISTER QUERY together AS SELECT a.id AS one, b.id AS other FROM {side} a, {side} b
      WHERE STAY_WITHIN(a, b, {fleet.metres}) AND a.id < b.id;
    """)
    run = DirectRun(planner.plan(), shards=2, slice_bytes=200_000)
    run.feed_file("fleet", path, is_last=True)
    told = (json.loads(line) for line in run.updates)
    got = Counter((u["tick"], u["sign"], u["row"]["one"], u["row"]["other"]) for u in told)
    wanted = company(readings, fleet)
    assert got == wanted
    assert len(wanted) > 100 and {sign for _, sign, _, _ in wanted} == {1, -1}
