"""(a) echo: the pipeline without operators, the floor that Spark sets. (b) with 10,000 range queries."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.report import report
from benchmarks.worlds import random_boxes, write_walk
from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import BatchTime, RunOptions, run_plan
from sanderling.spark.session import start_session

REASON = "100,000 objects that all move in every tick, end to end on Spark"


def script(path: Path, boxes: np.ndarray) -> str:  # type: ignore[type-arg]
    stream = (
        "CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y) "
        f"WITH (path = '{path}')"
    )
    queries = [
        f"REGISTER QUERY q{i} AS SELECT id FROM objects INSIDE ({a!r}, {b!r}, {c!r}, {d!r})"
        for i, (a, b, c, d) in enumerate(boxes.tolist())
    ]
    return ";\n".join([stream, *queries])


def run(
    objects: int = 100_000,
    queries: int = 10_000,
    ticks: int = 40,
    rounds: int = 2,
    spark: SparkSession | None = None,
) -> dict[str, float]:
    given = spark
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, 0.002)
        boxes = random_boxes(queries, 0.01)
        started = time.perf_counter()
        plans = {}
        for label, some in (("echo", boxes[:0]), ("range", boxes)):
            planner = Planner()
            text = script(path, some)
            planner.run_script(text)
            plans[label] = (planner.plan(), text)
        planning = time.perf_counter() - started
        spark = given or start_session("local[2]", 2, folder / "spark.log")
        times: dict[str, list[float]] = {"echo": [], "range": []}
        updates = 0
        # One tick a batch, so that a batch's time is a tick's; the first round warms everything up, and
        # is taken where there is no other.
        settings = Settings(slice_rows=objects // 2, slices_per_shard=1)
        for turn in range(rounds + 1):
            for label, (plan, text) in plans.items():
                out = folder / f"{label}.jsonl"
                marks: list[BatchTime] = []
                options = RunOptions(
                    Targets(out, False, None), "local[2]", 2, None, settings, on_batch=marks.append
                )
                summary = run_plan(plan, text, options, spark)
                if turn or not rounds:
                    times[label] += np.diff([m.at for m in marks]).tolist()
                updates = sum(a + b for a, b in summary.totals.updates.values())
        if given is None:
            spark.stop()
        _check(path, boxes, folder / "range.jsonl", ticks)
    echo, ranged = float(np.median(times["echo"])), float(np.median(times["range"]))
    rows = [
        {"pipeline": "echo: no operators", "seconds a tick": echo, "readings a second": objects / echo},
        {
            "pipeline": f"{queries:,} range queries",
            "seconds a tick": ranged,
            "readings a second": objects / ranged,
        },
    ]
    facts = {
        "objects": objects, "queries": queries, "updates a tick": updates / ticks,
        "planning seconds": planning, "times echo": ranged / echo,
    }  # fmt: skip
    report("range_on_spark", REASON, rows, facts)
    return {"ratio": ranged / echo}


def _check(path: Path, boxes: np.ndarray, out: Path, ticks: int) -> None:  # type: ignore[type-arg]
    """All updates added up give the answer of the last tick, computed from scratch for some of the boxes."""
    last = pq.read_table(path, filters=[("ts", "==", ticks)])
    x, y, ids = (last.column(c).to_numpy() for c in ("x", "y", "id"))
    held: Counter[tuple[str, int]] = Counter()
    with open(out) as lines:
        for line in lines:
            u = json.loads(line)
            held[u["query"], u["row"]["id"]] += u["sign"]
    answers: dict[str, set[int]] = {}
    for (query, key), n in held.items():
        assert n in (0, 1)
        if n:
            answers.setdefault(query, set()).add(key)
    for i, (a, b, c, d) in enumerate(boxes.tolist()):
        is_in = (a <= x) & (x <= c) & (b <= y) & (y <= d)
        assert answers.get(f"q{i}", set()) == set(ids[is_in].tolist()), f"q{i}"
