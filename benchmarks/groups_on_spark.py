"""10,000 counts by type in a rectangle, beside 10,000 plain range queries, end to end on Spark."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.report import report
from benchmarks.squares import plan_of
from benchmarks.ticks_on_spark import measure
from benchmarks.worlds import random_boxes, write_walk

REASON = (
    "who is in 10,000 rectangles, and how many of each type, all moving in every tick, end to end on Spark"
)
PROFILE_REASON = "where a tick's time goes with groups: milliseconds on the way of the slower worker"
TYPES = ("car", "truck", "bus", "bike")
STREAM = (
    "CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, type STRING)"
    " KEY id TIME ts LOCATION (x, y) WITH (path = '{path}')"
)
INSIDE = "INSIDE (:x1, :y1, :x2, :y2)"
TEMPLATES = {
    "plain": f"SELECT id FROM objects {INSIDE}",
    "groups": f"SELECT type, COUNT(*) AS n FROM objects {INSIDE} GROUP BY type",
}
LATER = "AT '2100-01-01' REGISTER QUERY later AS SELECT COUNT(*) AS n FROM objects"


def run(
    objects: int = 100_000, queries: int = 10_000, step: float = 0.002, ticks: int = 24, rounds: int = 2,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, step, types=TYPES)
        boxes = random_boxes(queries, 0.01)
        texts = {label: script(folder, path, boxes, label) for label in TEMPLATES}
        # With a query that has not begun: the second stage is there, and nothing goes through it.
        texts["two stages"] = f"{texts['plain']};\n{LATER}"
        taken = measure({n: (plan_of(t), t) for n, t in texts.items()}, folder, objects, rounds, spark)
        _check(path, boxes, folder, ticks)
    whole = {label: taken.seconds(label) for label in texts}
    names = {
        "plain": f"{queries:,} plain range queries",
        "two stages": "the same, with a merge stage that is idle",
        "groups": f"{queries:,} counts by type",
    }
    rows = [
        {
            "pipeline": name, "seconds a tick": whole[label], "readings a second": objects / whole[label],
            "updates a tick": taken.updates[label] / ticks,
        }
        for label, name in names.items()
    ]  # fmt: skip
    ratio = whole["groups"] / whole["plain"]
    facts = {
        "objects": objects, "queries": queries, "times plain": ratio,
        "times plain with two stages": whole["groups"] / whole["two stages"],
    }  # fmt: skip
    report("groups_on_spark", REASON, rows, facts)
    report("groups_profile", PROFILE_REASON, taken.profile(), {})
    return {"ratio": ratio}


def script(folder: Path, path: Path, boxes: np.ndarray, label: str) -> str:  # type: ignore[type-arg]
    """The stream, and a query for each of the boxes, from a query table."""
    columns = [pa.array(np.ascontiguousarray(side)) for side in boxes.T]
    table = {
        "name": pa.array(np.char.add("q", np.arange(len(boxes)).astype(str))),
        "template": pa.array([TEMPLATES[label]] * len(boxes)),
        "parameters": pa.StructArray.from_arrays(columns, ["x1", "y1", "x2", "y2"]),
    }
    queries = folder / f"{label}.parquet"
    pq.write_table(pa.table(table), queries)
    return f"{STREAM.format(path=path)};\nREGISTER QUERIES FROM '{queries}'"


def _check(path: Path, boxes: np.ndarray, folder: Path, ticks: int) -> None:  # type: ignore[type-arg]
    """All updates added up are the answers of the last tick, computed from scratch box by box."""
    last = pq.read_table(path, filters=[("ts", "==", ticks)])
    x, y, ids = (last.column(c).to_numpy() for c in ("x", "y", "id"))
    who: Counter[Any] = Counter()
    counts: Counter[Any] = Counter()
    for i, (a, b, c, d) in enumerate(boxes.tolist()):
        inside = ids[(a <= x) & (x <= c) & (b <= y) & (y <= d)].tolist()
        who.update((f"q{i}", n) for n in inside)
        by_type = Counter(TYPES[n % len(TYPES)] for n in inside)
        counts.update((f"q{i}", type_, n) for type_, n in by_type.items())
    assert _added_up(folder / "plain.jsonl") == who
    assert _added_up(folder / "groups.jsonl") == counts


def _added_up(out: Path) -> Counter[Any]:
    held: Counter[Any] = Counter()
    with open(out) as lines:
        for line in lines:
            u = json.loads(line)
            held[u["query"], *u["row"].values()] += u["sign"]
    return Counter({row: n for row, n in held.items() if n})
