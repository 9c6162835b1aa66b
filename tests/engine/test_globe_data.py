"""Ranges and nearest on the globe over real ships, aircraft and taxis, against brute force in vectors."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun
from tests.long import so_many

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

EARTH_M = 6_371_008.8
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fleet:
    """A file of readings, what its columns are called, and where people ask."""

    path: str
    key: str
    time: str
    lon: str
    lat: str
    tick_s: int
    middle: tuple[float, float]
    reach_m: float
    box: tuple[float, float, float, float]  # west, south, east, north; across the 180th meridian: west > east
    followed: str
    every: int = 1  # of so many objects one


FLEETS = {
    "ships at the 180th meridian": Fleet(
        "ais/marinecadastre_zone01_2017-01.csv", "MMSI", "BaseDateTime", "LON", "LAT", 7200,
        (179.2, 52.4), 300_000.0, (178.0, 50.0, -177.5, 55.0), "366940480",
    ),
    "aircraft over Switzerland": Fleet(
        "flights/switzerland.csv.gz", "icao24", "timestamp", "longitude", "latitude", so_many(1200, 60),
        (8.55, 47.46), 40_000.0, (6.5, 46.0, 8.0, 47.2), "44093b",
    ),
    "taxis of Beijing": Fleet(
        "tdrive/taxis_1h.csv.gz", "taxi_id", "time", "lon", "lat", so_many(600, 60),
        (116.397, 39.908), 3_000.0, (116.2, 39.8, 116.4, 40.0), "162", so_many(9, 1),
    ),
}  # fmt: skip

K = 5


@dataclass(frozen=True)
class Reading:
    key: str
    ts: int
    lon: float
    lat: float


def readings_of(fleet: Fleet) -> list[Reading]:
    path = DATA / fleet.path
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as file:
        found = [
            Reading(row[fleet.key], seconds(row[fleet.time]), float(row[fleet.lon]), float(row[fleet.lat]))
            for row in csv.DictReader(file)
            if row[fleet.lon] and row[fleet.lat]
        ]
    kept = {key for n, key in enumerate(sorted({r.key for r in found})) if n % fleet.every == 0}
    kept.add(fleet.followed)
    return sorted((r for r in found if r.key in kept), key=lambda r: (r.ts, r.key))


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def script_of(fleet: Fleet) -> str:
    (lon, lat), (west, south, east, north) = fleet.middle, fleet.box
    around = f"'M', '{fleet.followed}', {fleet.reach_m}"
    return f"""
    CREATE STREAM fleet (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE)
      KEY id TIME ts LOCATION (lon, lat) ON GLOBE WITH (path = 'fleet.csv', tick = '{fleet.tick_s} seconds');
    REGISTER QUERY near AS SELECT id FROM fleet INSIDE ({lon}, {lat}, {fleet.reach_m} METERS);
    REGISTER QUERY box AS SELECT id FROM fleet INSIDE ({west}, {south}, {east}, {north});
    REGISTER QUERY around AS SELECT id FROM fleet INSIDE ({around});
    REGISTER QUERY nearest AS SELECT id FROM fleet kNN ({K}, {lon}, {lat});
    REGISTER QUERY beside AS SELECT id FROM fleet kNN ('M', {K}, '{fleet.followed}');
    """


def vectors(lon: F64, lat: F64) -> F64:
    lon, lat = np.radians(lon), np.radians(lat)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def ticks(readings: list[Reading], fleet: Fleet) -> Iterator[tuple[int, dict[str, Reading]]]:
    """At the end of each tick in which somebody reported, where everybody is; of one time the last counts."""
    at: dict[str, Reading] = {}
    tick = None
    for r in readings:
        end = -(-r.ts // fleet.tick_s) * fleet.tick_s
        if tick is not None and end != tick:
            yield tick, at
        tick = end
        at[r.key] = r
    assert tick is not None
    yield tick, at


def answers(at: dict[str, Reading], fleet: Fleet) -> dict[str, set[str]]:
    keys = np.array(sorted(at))
    lon, lat = (np.array([getattr(at[k], name) for k in keys]) for name in ("lon", "lat"))
    places = vectors(lon, lat)

    def chords(place: F64) -> F64:
        return np.asarray(((places - place) ** 2).sum(axis=-1))

    def first(square: F64, others: npt.NDArray[np.bool_]) -> set[str]:
        order = np.lexsort((keys, square))
        return set(keys[[n for n in order if others[n]][:K]])

    reach = (2 * np.sin(fleet.reach_m / EARTH_M / 2)) ** 2
    away = chords(vectors(*map(np.asarray, fleet.middle)))
    west, south, east, north = fleet.box
    is_between = (west <= lon) & (lon <= east) if west <= east else (west <= lon) | (lon <= east)
    found = {
        "near": set(keys[away <= reach]),
        "box": set(keys[is_between & (south <= lat) & (lat <= north)]),
        "nearest": first(away, np.ones(len(keys), np.bool_)),
        "around": set(),
        "beside": set(),
    }
    if fleet.followed in at:
        focal = at[fleet.followed]
        away, others = chords(vectors(np.asarray(focal.lon), np.asarray(focal.lat))), keys != fleet.followed
        found |= {"around": set(keys[(away <= reach) & others]), "beside": first(away, others)}
    return found


@pytest.mark.parametrize("name", FLEETS)
def test_who_is_near_is_what_brute_force_says(name: str, tmp_path: Path) -> None:
    fleet = FLEETS[name]
    readings = readings_of(fleet)
    path = tmp_path / "fleet.csv"
    lines = (f"{r.key},{r.ts},{r.lon!r},{r.lat!r}\n" for r in readings)
    path.write_text("id,ts,lon,lat\n" + "".join(lines))
    planner = Planner(tmp_path)
    planner.run_script(script_of(fleet))
    run = DirectRun(planner.plan(), shards=2, slice_bytes=200_000)
    run.feed_file("fleet", path, is_last=True)
    assert not run.letters
    got = Counter((u["tick"], u["query"], u["sign"], u["row"]["id"]) for u in map(json.loads, run.updates))
    wanted: Counter[tuple[str, str, int, str]] = Counter()
    told = [(tick, answers(at, fleet)) for tick, at in ticks(readings, fleet)]
    for (_, before), (tick, now) in pairwise([(0, {}), *told]):
        said = datetime.fromtimestamp(tick, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for query, ids in now.items():
            was = before.get(query, set())
            wanted.update(
                (said, query, sign, i) for sign, who in ((1, ids - was), (-1, was - ids)) for i in who
            )
    assert got == wanted
    assert set(Counter(query for _, query, _, _ in wanted)) == set(told[0][1]), (
        "every query has something to say"
    )
