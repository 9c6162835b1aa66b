"""10,000 squares that stand still over 100,000 objects that all move, beside DuckDB and an STRtree."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.peers.compared import compare
from benchmarks.peers.others import by_duckdb, by_strtree
from benchmarks.report import report
from benchmarks.worlds import random_boxes, write_walk
from sanderling.settings import Settings

REASON = "squares that stand still, all objects move in every tick; from Parquet to files, beside other ways"
TEMPLATE = "SELECT id FROM objects INSIDE (:x1, :y1, :x2, :y2)"


def run(
    objects: int = 100_000, queries: int = 10_000, side: float = 0.01, step: float = 0.0005, few: int = 20,
    ticks: int = 60, rounds: int = 3, settings: Settings | None = None, spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, step)
        begin = write_walk(folder / "begin.parquet", objects, few, step)
        boxes = random_boxes(queries, side)
        table = {
            "name": pa.array([f"q{i}" for i in range(queries)]),
            "template": pa.array([TEMPLATE] * queries),
            "parameters": pa.StructArray.from_arrays(list(map(pa.array, boxes.T)), ["x1", "y1", "x2", "y2"]),
        }
        pq.write_table(pa.table(table), folder / "queries.parquet")
        asked = f"REGISTER QUERIES FROM '{folder / 'queries.parquet'}'"
        others = {
            "DuckDB: cells, EXCEPT both ways": partial(by_duckdb, path, boxes),
            "STRtree of the squares, and differences": partial(by_strtree, path, boxes),
        }
        found = compare(begin, path, asked, others, folder, rounds, settings or Settings(), spark)
    facts = {"objects": objects, "queries": queries, **found.facts(ticks)}
    report("peers_squares", REASON, found.rows(objects), facts)
    return {"ratio": facts["times as fast as the best other"]}
