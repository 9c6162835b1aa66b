"""What the simulator writes is what a run reads: in all three formats, without a dead letter."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic
from sanderling.simulate.write import write_steps
from sanderling.spark.run import RunOptions, run_plan

FORMATS = ("parquet", "csv", "jsonl")
COLUMNS = (
    "id BIGINT, ts TIMESTAMP, x DOUBLE, y DOUBLE, speed DOUBLE, heading DOUBLE, type STRING, gone BOOLEAN"
)


def test_a_run_reads_every_format(spark: SparkSession, tmp_path: Path) -> None:
    town, script = make_city(2, radius_m=1_000), ""
    settings = TrafficSettings(objects=150, new=5, step_us=500_000, noise_m=2.0, skip=0.05)
    for name in FORMATS:
        path = tmp_path / f"town.{name}"
        readings = write_steps(Traffic(town, settings), 30, path).readings
        script += f"""CREATE STREAM {name} ({COLUMNS}) KEY id TIME ts LOCATION (x, y) GONE gone
          WITH (path = '{path}', tick = '500 ms');
        REGISTER QUERY {name}_here AS SELECT id, ts, speed, heading, type FROM {name} INSIDE (0, 0, 300);
        REGISTER QUERY {name}_all AS SELECT id FROM {name};
        REGISTER QUERY {name}_bus AS SELECT id FROM {name} INSIDE ('M', 0, 200);"""
    planner = Planner()
    planner.run_script(script)
    options = RunOptions(Targets(tmp_path / "u.jsonl", False, tmp_path / "l.jsonl"), "local[2]", 2)
    totals = run_plan(planner.plan(), script, options, spark).totals
    assert totals.letters == {} and totals.rows == dict.fromkeys(FORMATS, readings)
    updates = [json.loads(line) for line in (tmp_path / "u.jsonl").read_text().splitlines()]
    told = {
        name: [(u["tick"], u["sign"], u["query"].removeprefix(name), u["row"]) for u in updates
               if u["query"].startswith(name)]
        for name in FORMATS
    }  # fmt: skip
    assert told["parquet"] == told["csv"] == told["jsonl"] and len(told["csv"]) > 500
    gone = int(pq.read_table(tmp_path / "town.parquet").column("gone").to_numpy().sum())
    assert gone > 0 and totals.updates["csv_all"][0] - totals.updates["csv_all"][1] == 150 + 5 * 29 - gone
