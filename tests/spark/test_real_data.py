"""Real data end to end on Spark, against the oracle: cabs in neighbourhoods, buses out of order."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.clock import show_time
from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, RunSummary, run_plan
from tests import oracle
from tests.conftest import DATA

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

CABS = DATA / "sf-cabs" / "cabs_2h.csv.gz"
HOODS = DATA / "polygons" / "san-francisco.geojson"
BUSES = DATA / "riga" / "vehicle_positions.csv.gz"

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
    # Many slices, so that the run has many batches.
    got, summary = on_spark(CABS_SCRIPT, spark, tmp_path, Settings(slice_bytes=300_000))
    assert summary.totals.rows == {"cabs": 45_631} and not summary.totals.letters
    readings = []
    for row in rows_of(CABS):
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
    assert sum(got.values()) > 5_000


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
