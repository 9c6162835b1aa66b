"""Traffic written to Parquet, beside Spark reading it: a simulation is not what anybody waits for."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.report import report
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import SCHEMA, Traffic
from sanderling.simulate.write import write_steps
from sanderling.spark.session import start_session

REASON = "100,000 objects for 60 steps to Parquet, beside Spark reading them"


def run(
    objects: int = 100_000, steps: int = 60, rounds: int = 3, spark: SparkSession | None = None
) -> dict[str, float]:
    given = spark
    settings = TrafficSettings(objects=objects, new=objects // 1_000)
    times: dict[str, list[float]] = {"ways": [], "steps": [], "write": [], "read": []}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "city.parquet"
        spark = given or start_session("local[2]", 2, Path(name) / "spark.log")
        # The first round warms everything up: kernels compile, Spark starts its threads. It is taken
        # where there is no other.
        for turn in range(rounds + 1):
            marks = [time.perf_counter()]
            traffic = Traffic(make_city(settings.seed), settings)
            marks.append(time.perf_counter())
            for _ in range(steps):
                traffic.step()
            marks.append(time.perf_counter())
            traffic = Traffic(make_city(settings.seed), settings)
            began = time.perf_counter()
            written = write_steps(traffic, steps, path)
            marks.append(marks[-1] + time.perf_counter() - began)
            began = time.perf_counter()
            spark.read.parquet(str(path)).write.format("noop").mode("overwrite").save()
            marks.append(marks[-1] + time.perf_counter() - began)
            if turn or not rounds:
                for part, seconds in zip(times, np.diff(marks), strict=True):
                    times[part].append(float(seconds))
        assert spark.read.parquet(str(path)).count() == written.readings
        if given is None:
            spark.stop()
        _check(path, written.readings, settings, steps)
        size_mb = written.size_bytes / 1e6
    ways, stepping, writing, reading = (float(np.median(t)) for t in times.values())
    rows = [
        {"what": "finding all ways, once", "seconds": ways},
        {"what": "the steps alone", "seconds": stepping},
        {"what": "the steps, written to Parquet", "seconds": writing},
        {"what": "Spark reads them into noop", "seconds": reading},
    ]
    facts = {
        "objects": objects, "steps": steps, "readings": written.readings, "MB": size_mb,
        "readings a second, written": written.readings / writing, "times reading": writing / reading,
        "times reading, with the ways": (ways + writing) / reading,
    }  # fmt: skip
    report("simulate", REASON, rows, facts)
    return {"ratio": writing / reading}


def _check(path: Path, readings: int, settings: TrafficSettings, steps: int) -> None:
    """What is in the file is what the same traffic says, step for step."""
    table = pq.read_table(path)
    assert table.num_rows == readings
    traffic, row = Traffic(make_city(settings.seed), settings), 0
    for _ in range(steps):
        step = traffic.step()
        part = table.slice(row, step.num_rows)
        assert all(part.column(c).equals(step.column(c)) for c in SCHEMA.names if c != "type")
        row += step.num_rows
    assert row == readings
