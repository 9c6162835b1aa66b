"""Windows around places and of tiles over real taxis, against brute force at every tick."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pytest
import shapely
from shapely import box
from shapely.geometry import mapping, shape

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun
from tests.long import so_many

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

EARTH_M = 6_371_008.8
SECOND = 1_000_000
SITES = {
    "airport": (116.584, 40.080),
    "station": (116.321, 39.895),
    "tower": (116.397, 39.908),
    "park": (116.29, 40.01),
}
NEAREST, LAST = 50, 1000
ONE_OF = so_many(9, 1)  # of so many taxis of Beijing one

Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Reading:
    key: str
    ts: int
    lon: float
    lat: float


def readings_of(path: str, key: str, time: str, every: int = 1) -> list[Reading]:
    """By time and key; of one object at one time the last."""
    with gzip.open(DATA / path, "rt", newline="") as file:
        found = [
            Reading(r[key], second(r[time]), float(r["lon"]), float(r["lat"])) for r in csv.DictReader(file)
        ]
    kept = {key for n, key in enumerate(sorted({r.key for r in found})) if n % every == 0}
    last = {(r.ts, r.key): r for r in found if r.key in kept}
    return [last[at] for at in sorted(last)]


def second(text: str) -> int:
    return int(text) if text.isdigit() else int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def by_tick(readings: list[Reading], tick_s: int) -> Iterator[tuple[int, list[Reading]]]:
    """What comes in each tick in which something comes."""
    found: dict[int, list[Reading]] = {}
    for r in readings:
        found.setdefault(-(-r.ts // tick_s) * tick_s, []).append(r)
    yield from sorted(found.items())


def vectors(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lon, lat = np.radians(places).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def nearest_to_sites(readings: list[Reading], tick_s: int) -> Iterator[tuple[int, Rows]]:
    """Of each site the nearest by the square of the chord, then by key; each taxi once."""
    sites, at = vectors(np.array(list(SITES.values()))), dict[str, Reading]()
    for tick, came in by_tick(readings, tick_s):
        at |= {r.key: r for r in came}
        keys = np.array(sorted(at))
        there = vectors(np.array([(at[k].lon, at[k].lat) for k in keys]))
        found: set[str] = set()
        for site in sites:
            found |= set(keys[np.lexsort((keys, ((there - site) ** 2).sum(axis=-1)))[:NEAREST]])
        yield tick, Counter((key,) for key in found)


def means_of_tiles(
    readings: list[Reading], speed: list[float | None], tile: list[str | None], tick_s: int
) -> Iterator[tuple[int, Rows]]:
    """Of the last readings of each tile how many say how fast they are, and how fast on average."""
    tiles: dict[str, deque[float | None]] = {}
    rows: dict[str, tuple[Any, ...]] = {}
    at = 0
    for tick, came in by_tick(readings, tick_s):
        touched = set()
        for place in range(at, at + len(came)):
            if (name := tile[place]) is not None:
                tiles.setdefault(name, deque(maxlen=LAST)).append(speed[place])
                touched.add(name)
        at += len(came)
        for name in touched:
            known = [s for s in tiles[name] if s is not None]
            rows[name] = (name, len(tiles[name]), math.fsum(known) / len(known) if known else None)
        yield tick, Counter(rows.values())


def differences(answers: Iterator[tuple[int, Rows]]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for (_, before), (tick, now) in pairwise([(0, Counter()), *answers]):
        change = Counter(now)
        change.subtract(before)
        found.update({(show_time(tick * SECOND), n, row): 1 for row, n in change.items() if n})
    return found


def told(
    folder: Path, script: str, readings: list[Reading], **columns: list[Any]
) -> Counter[tuple[Any, ...]]:
    path = folder / "fleet.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "ts", "lon", "lat", *columns])
        for r, *more in zip(readings, *columns.values(), strict=True):
            writer.writerow(
                [r.key, r.ts, repr(r.lon), repr(r.lat), *("" if v is None else repr(v) for v in more)]
            )
    planner = Planner(folder)
    planner.run_script(script)
    run = DirectRun(planner.plan(), shards=2, slice_bytes=200_000)
    run.feed_file("fleet", path, is_last=True)
    assert not run.letters
    updates = map(json.loads, run.updates)
    return Counter((u["tick"], u["sign"], tuple(u["row"].values())) for u in updates)


def test_the_50_nearest_to_each_site_of_beijing(tmp_path: Path) -> None:
    tick_s = 600
    readings = readings_of("tdrive/taxis_1h.csv.gz", "taxi_id", "time", ONE_OF)
    lines = (f"{name},{lon},{lat}\n" for name, (lon, lat) in SITES.items())
    (tmp_path / "sites.csv").write_text("name,lon,lat\n" + "".join(lines))
    script = f"""
    CREATE STREAM fleet (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE)
      KEY id TIME ts LOCATION (lon, lat) ON GLOBE WITH (path = 'fleet.csv', tick = '{tick_s} seconds');
    CREATE TABLE sites (name STRING, lon DOUBLE, lat DOUBLE) KEY name LOCATION (lon, lat) ON GLOBE
      WITH (path = '{tmp_path / "sites.csv"}');
    REGISTER QUERY near AS SELECT id FROM fleet [NEARBY (SELECT location FROM sites) ROWS {NEAREST}];
    """
    wanted = differences(nearest_to_sites(readings, tick_s))
    assert told(tmp_path, script, readings) == wanted
    assert len(wanted) > 300 and {sign for _, sign, _ in wanted} == {1, -1}


def test_how_fast_the_last_1000_readings_are_in_each_neighbourhood(tmp_path: Path) -> None:
    tick_s = 60
    readings = readings_of("sf-cabs/cabs_2h.csv.gz", "cab_id", "unix_time")
    speed, before = list[float | None](), dict[str, Reading]()
    for r in readings:  # in metres per second; what jumps across the town has no speed
        was = before.get(r.key)
        length = 0.0 if was is None else metres(was, r)
        speed.append(None if was is None or length > 60 * (r.ts - was.ts) else length / (r.ts - was.ts))
        before[r.key] = r
    file = DATA / "polygons" / "san-francisco.geojson"
    areas = {f["properties"]["name"]: shape(f["geometry"]) for f in json.loads(file.read_text())["features"]}
    points = shapely.points([(r.lon, r.lat) for r in readings])
    tile: list[str | None] = [None] * len(readings)
    for name in sorted(areas, reverse=True):  # the smallest of several comes last
        shapely.prepare(areas[name])
        for place in np.flatnonzero(shapely.intersects(areas[name], points)):
            tile[place] = name
    script = f"""
    CREATE STREAM fleet (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE, speed DOUBLE)
      KEY id TIME ts LOCATION (lon, lat) ON GLOBE WITH (path = 'fleet.csv', tick = '{tick_s} seconds');
    CREATE TABLE hoods KEY name WITH (path = '{file}', globe = true);
    REGISTER QUERY fast AS SELECT v.name, COUNT(*) AS readings, AVG(v.speed) AS mean
      FROM fleet [TESSELLATE BY (SELECT region, name FROM hoods) ROWS {LAST}] v GROUP BY v.name;
    """
    wanted = differences(means_of_tiles(readings, speed, tile, tick_s))
    assert told(tmp_path, script, readings, speed=speed) == wanted
    assert max(row[1] for _, _, row in wanted) == LAST and len({row[0] for _, _, row in wanted}) > 30


def test_duckdb_finds_the_same_last_readings_in_the_raw_file(tmp_path: Path) -> None:
    """TESSELLATE by another road: all of the file up to a tick, numbered from behind by tile."""
    file, tick_s, n = DATA / "sf-cabs" / "cabs_2h.csv.gz", 60, 200
    edges = [(x, y) for x in (-122.44, -122.41, -122.38) for y in (37.74, 37.77, 37.80)]
    tiles = {f"t{i}": (x - 0.03, y - 0.03, x, y) for i, (x, y) in enumerate(edges)}
    (tmp_path / "tiles.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"name": name}, "geometry": mapping(box(*bounds))}
        for name, bounds in tiles.items()
    ]}))  # fmt: skip
    script = f"""
    CREATE STREAM fleet (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE)
      KEY id TIME ts LOCATION (lon, lat) WITH (path = 'fleet.csv', tick = '{tick_s} seconds');
    CREATE TABLE tiles KEY name WITH (path = '{tmp_path / "tiles.geojson"}');
    REGISTER QUERY last AS SELECT v.name, v.id, v.ts
      FROM fleet [TESSELLATE BY (SELECT region, name FROM tiles) ROWS {n} EVERY 10 MINUTES] v;
    """
    held: Counter[tuple[Any, ...]] = Counter()
    changes: dict[str, list[tuple[int, tuple[Any, ...]]]] = {}
    for tick, sign, row in told(tmp_path, script, readings_of(str(file), "cab_id", "unix_time")).elements():
        changes.setdefault(tick, []).append((sign, row))
    base = duckdb.connect()
    base.execute(
        "CREATE TABLE raw AS SELECT cab_id AS id, unix_time AS ts, lon, lat, row_number() OVER () AS n, "
        f"(ceil(unix_time / {tick_s}.0) * {tick_s})::BIGINT AS tick FROM read_csv('{file}')"
    )
    tile = " ".join(
        f"WHEN lon BETWEEN {a} AND {c} AND lat BETWEEN {b} AND {d} THEN '{name}'"
        for name, (a, b, c, d) in sorted(tiles.items())
    )
    for tick in sorted(changes):
        for sign, row in changes[tick]:
            held[row] += sign
        at = int(datetime.fromisoformat(tick).timestamp())
        found = base.execute(
            f"SELECT tile, id, ts FROM (SELECT CASE {tile} END AS tile, id, ts FROM raw WHERE tick <= {at} "
            "QUALIFY row_number() OVER (PARTITION BY id, ts ORDER BY n DESC) = 1) WHERE tile IS NOT NULL "
            f"QUALIFY row_number() OVER (PARTITION BY tile ORDER BY ts DESC, id DESC) <= {n}"
        )
        assert +held == Counter(found.fetchall()), tick
    full = [name for name, count in Counter(name for name, *_ in (+held).elements()).items() if count == n]
    assert len(changes) > 5 and len(full) > 5


def metres(a: Reading, b: Reading) -> float:
    chord = math.dist(*vectors(np.array([(a.lon, a.lat), (b.lon, b.lat)])))
    return 2 * EARTH_M * math.asin(chord / 2)
