"""Real data on Spark against brute force: cabs in hoods, buses out of order, nearest taxis, buoys."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pyspark.sql import SparkSession

from sanderling.clock import show_time
from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, RunSummary, run_plan
from tests import oracle
from tests.conftest import DATA
from tests.engine import buoys
from tests.long import so_many

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

CABS = DATA / "sf-cabs" / "cabs_2h.csv.gz"
SOME_CABS = so_many(15_000, 45_631)  # of their readings; the oracle looks at every hood
HOODS = DATA / "polygons" / "san-francisco.geojson"
BUSES = DATA / "riga" / "vehicle_positions.csv.gz"
TAXIS = DATA / "tdrive" / "taxis_1h.csv.gz"

CABS_SCRIPT = f"""
CREATE STREAM cabs (cab_id STRING, unix_time BIGINT, lon DOUBLE, lat DOUBLE, occupied BOOLEAN)
  KEY cab_id TIME unix_time LOCATION (lon, lat) WITH (path = '{CABS}');
CREATE TABLE hoods KEY name WITH (path = '{HOODS}');
REGISTER QUERY in_hood AS SELECT c.cab_id, h.name FROM cabs c, hoods h WHERE c.location INSIDE h.region;
REGISTER QUERY free_in_mission AS SELECT c.cab_id FROM cabs c, hoods h
  WHERE c.location INSIDE h.region AND h.name = 'Mission' AND NOT c.occupied;
REGISTER QUERY airport AS SELECT cab_id, occupied FROM cabs INSIDE (-122.40, 37.60, -122.37, 37.63);
REGISTER QUERY around AS SELECT cab_id FROM cabs INSIDE ('M', 'eitpem', 0.01);
"""

BUSES_SCRIPT = f"""
CREATE STREAM buses (vehicle_id STRING, timestamp BIGINT, longitude DOUBLE, latitude DOUBLE, speed DOUBLE)
  KEY vehicle_id TIME timestamp LOCATION (longitude, latitude)
  WITH (path = '{BUSES}', lateness = '10 minutes');
REGISTER QUERY centre AS SELECT vehicle_id FROM buses INSIDE (24.09, 56.94, 24.13, 56.96);
REGISTER QUERY fast AS SELECT vehicle_id, speed > 10 AS fast FROM buses INSIDE CIRCLE (24.11, 56.95, 0.02);
"""


def on_spark(
    text: str, spark: SparkSession, folder: Path, settings: Settings
) -> tuple[Counter[object], RunSummary]:
    planner = Planner(folder)
    planner.run_script(text)
    out = folder / "updates.jsonl"
    options = RunOptions(Targets(out, False, None), "local[2]", 2, None, settings)
    summary = run_plan(planner.plan(), text, options, spark)
    updates = (json.loads(line) for line in out.read_text().splitlines())
    return Counter((u["tick"], u["query"], u["sign"], tuple(u["row"].values())) for u in updates), summary


def expected(result: oracle.Result) -> Counter[object]:
    return Counter((show_time(t), q, s, row) for t, q, s, row in result.updates)


def rows_of(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def areas() -> list[tuple[oracle.Area, dict[str, object]]]:
    features = json.loads(HOODS.read_text())["features"]
    found = []
    for f in features:
        polygons = f["geometry"]["coordinates"]
        polygons = polygons if f["geometry"]["type"] == "MultiPolygon" else [polygons]
        rings = [
            ([tuple(p[:2]) for p in rings[0]], [[tuple(p[:2]) for p in r] for r in rings[1:]])
            for rings in polygons
        ]
        found.append((oracle.Area(rings), {"name": f["properties"]["name"]}))
    return found


def test_cabs_in_neighbourhoods_agree_with_the_oracle(spark: SparkSession, tmp_path: Path) -> None:
    path, rows = tmp_path / "cabs.csv.gz", rows_of(CABS)[:SOME_CABS]
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    # Many slices, so that the run has many batches.
    script, settings = CABS_SCRIPT.replace(str(CABS), str(path)), Settings(slice_bytes=SOME_CABS * 6)
    got, summary = on_spark(script, spark, tmp_path, settings)
    assert summary.totals.rows == {"cabs": len(rows)} == {"cabs": SOME_CABS} and not summary.totals.letters
    readings = []
    for row in rows:
        x, y = float(row["lon"]), float(row["lat"])
        values = {"cab_id": row["cab_id"], "occupied": row["occupied"] == "1"}
        readings.append(oracle.Reading(row["cab_id"], int(row["unix_time"]) * 1_000_000, x, y, values))
    hoods = areas()
    mission = [h for h in hoods if h[1]["name"] == "Mission"]
    assert len(mission) == 1
    queries = [
        oracle.Query("in_hood", hoods, lambda v: (v["cab_id"], v["name"])),
        oracle.Query("free_in_mission", mission, lambda v: (v["cab_id"],), lambda v: not v["occupied"]),
        oracle.Query(
            "airport",
            [(oracle.Box(-122.40, 37.60, -122.37, 37.63), {})],
            lambda v: (v["cab_id"], v["occupied"]),
        ),
        oracle.Query("around", [(oracle.MovingDisc("eitpem", 0.01), {})], lambda v: (v["cab_id"],)),
    ]
    wanted = expected(oracle.run_fast(readings, queries, 1_000_000))
    assert got == wanted
    assert sum(got.values()) > so_many(1_500, 5_000)


def test_buses_out_of_order_agree_with_the_oracle(spark: SparkSession, tmp_path: Path) -> None:
    got, summary = on_spark(BUSES_SCRIPT, spark, tmp_path, Settings(slice_bytes=4_000_000))
    assert summary.totals.rows == {"buses": 136_501}
    readings = []
    for row in rows_of(BUSES):
        x, y = float(row["longitude"]), float(row["latitude"])
        speed = float(row["speed"]) if row["speed"] else None
        values = {"vehicle_id": row["vehicle_id"], "speed": speed}
        readings.append(oracle.Reading(row["vehicle_id"], int(row["timestamp"]) * 1_000_000, x, y, values))
    queries = [
        oracle.Query("centre", [(oracle.Box(24.09, 56.94, 24.13, 56.96), {})], lambda v: (v["vehicle_id"],)),
        oracle.Query(
            "fast", [(oracle.Disc(24.11, 56.95, 0.02), {})],
            lambda v: (v["vehicle_id"], None if v["speed"] is None else v["speed"] > 10),
        ),
    ]  # fmt: skip
    result = oracle.run_fast(readings, queries, 1_000_000, lateness_us=600_000_000)
    assert got == expected(result)
    assert summary.totals.letters.get("late", 0) == len(result.late)
    assert sum(got.values()) > 300


# ----- the nearest, against brute force over columns: the oracle would look at each taxi by itself


@dataclass(frozen=True)
class Nearest:
    """A kNN query: to a place, or to the taxi with a number."""

    name: str
    k: int
    to: tuple[float, float] | int

    @property
    def sql(self) -> str:
        to = (
            f"'M', {self.k}, {self.to}"
            if isinstance(self.to, int)
            else f"{self.k}, {self.to[0]}, {self.to[1]}"
        )
        return f"REGISTER QUERY {self.name} AS SELECT taxi_id FROM taxis kNN ({to});"


# In the middle of the city, where many false places are, and far from everybody; taxis that report
# most, two that are at false places at times, and the first of the file.
PLACES = {"centre": (116.4, 39.9), "false_place": (0.0, 0.0), "far": (-500.0, 80.0)}
FOLLOWED = (6275, 8126, 6047, 162)
NEAREST = [
    *(Nearest(f"{name}_{k}", k, place) for name, place in PLACES.items() for k in (1, 10, 50)),
    *(Nearest(f"taxi_{taxi}_{k}", k, taxi) for taxi in FOLLOWED for k in (1, 10, 50)),
]
TAXIS_SCRIPT = f"""
CREATE STREAM taxis (taxi_id BIGINT, time TIMESTAMP, lon DOUBLE, lat DOUBLE)
  KEY taxi_id TIME time LOCATION (lon, lat) WITH (path = '{TAXIS}', tick = '1 minute');
{"".join(q.sql for q in NEAREST)}
"""

Floats = npt.NDArray[np.float64]


def minutes_of(rows: list[dict[str, str]]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Rows by the tick that they belong to, which ends with a whole minute; they are in order of time."""
    by_tick: dict[datetime, list[dict[str, str]]] = {}
    for row in rows:
        at = datetime.fromisoformat(row["time"])
        by_tick.setdefault(at + timedelta(seconds=-at.second % 60), []).append(row)
    for tick in sorted(by_tick):
        yield f"{tick:%Y-%m-%dT%H:%M:%SZ}", by_tick[tick]


def chosen(query: Nearest, numbers: npt.NDArray[np.int64], x: Floats, y: Floats) -> set[int]:
    """The k nearest of all that have reported, by the square of the distance, then by number."""
    is_there = ~np.isnan(x)
    at_x, at_y = query.to if isinstance(query.to, tuple) else (np.nan, np.nan)
    if isinstance(query.to, int):
        (focal,) = np.flatnonzero(numbers == query.to)
        if not is_there[focal]:
            return set()
        at_x, at_y = x[focal], y[focal]
        is_there[focal] = False
    others, dx, dy = numbers[is_there], x[is_there] - at_x, y[is_there] - at_y
    squares = dx * dx + dy * dy
    # Sorting all would take ten times as long.
    is_near = squares <= (
        np.partition(squares, query.k - 1)[query.k - 1] if query.k < len(squares) else np.inf
    )
    by_distance = np.lexsort((others[is_near], squares[is_near]))
    return set(others[is_near][by_distance[: query.k]].tolist())


def nearest_by_brute_force(rows: list[dict[str, str]]) -> Counter[object]:
    numbers = np.array(sorted({int(row["taxi_id"]) for row in rows}))
    at = {number: i for i, number in enumerate(numbers.tolist())}
    x, y = np.full(len(numbers), np.nan), np.full(len(numbers), np.nan)
    before: dict[str, set[int]] = {q.name: set() for q in NEAREST}
    told: Counter[object] = Counter()
    for tick, reported in minutes_of(rows):
        for row in reported:
            i = at[int(row["taxi_id"])]
            x[i], y[i] = float(row["lon"]), float(row["lat"])
        for query in NEAREST:
            now = chosen(query, numbers, x, y)
            told.update((tick, query.name, 1, (taxi,)) for taxi in now - before[query.name])
            told.update((tick, query.name, -1, (taxi,)) for taxi in before[query.name] - now)
            before[query.name] = now
    return told


def test_the_nearest_taxis_of_beijing_agree_with_brute_force(spark: SparkSession, tmp_path: Path) -> None:
    got, summary = on_spark(TAXIS_SCRIPT, spark, tmp_path, Settings(slice_bytes=1_500_000))
    assert summary.totals.rows == {"taxis": 151_007} and not summary.totals.letters
    wanted = nearest_by_brute_force(rows_of(TAXIS))
    assert got == wanted
    assert {query for _, query, *_ in wanted} == {q.name for q in NEAREST} and sum(wanted.values()) > 5_000


# ----- triggers


def test_triggers_over_the_buoys_agree_with_brute_force(spark: SparkSession, tmp_path: Path) -> None:
    readings = buoys.readings_of([1997])
    path = buoys.write(tmp_path / "buoys.csv", readings)
    text = buoys.SCRIPT.replace("tao_elnino.csv.gz", str(path))
    got, summary = on_spark(text, spark, tmp_path, Settings(slice_bytes=400_000))
    assert summary.totals.rows == {"buoys": len(readings)} and not summary.totals.letters
    assert Counter((tick, query, row) for tick, query, _, row in got.elements()) == buoys.expected(readings)
