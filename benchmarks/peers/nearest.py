"""The 10 nearest to each of 10,000 of 100,000 objects, all of which move, beside a k-d tree."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.nearest_on_spark import write_queries
from benchmarks.peers.compared import compare
from benchmarks.peers.others import by_kdtree
from benchmarks.report import report
from benchmarks.worlds import write_walk
from sanderling.settings import Settings

REASON = "the nearest to objects, all of which move in every tick; from Parquet to files, beside a k-d tree"


def run(
    objects: int = 100_000, queries: int = 10_000, k: int = 10, step: float = 0.0005, few: int = 20,
    ticks: int = 60, rounds: int = 3, settings: Settings | None = None, spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, step)
        begin = write_walk(folder / "begin.parquet", objects, few, step)
        asked = f"REGISTER QUERIES FROM '{write_queries(folder, queries, k)}'"
        others = {"k-d tree rebuilt, and differences": partial(by_kdtree, path, queries, k)}
        found = compare(begin, path, asked, others, folder, rounds, settings or Settings(), spark)
    facts = {"objects": objects, "queries": queries, "k": k, **found.facts(ticks)}
    report("peers_nearest", REASON, found.rows(objects), facts)
    return {"ratio": facts["times as fast as the best other"]}
