"""10,000 moving kNN queries over 100,000 objects, all moving in every tick, end to end on Spark."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from scipy.spatial import cKDTree

from benchmarks.report import report
from benchmarks.squares import STREAM, plan_of
from benchmarks.ticks_on_spark import measure
from benchmarks.worlds import write_walk

REASON = "the 10 nearest to each of 10,000 of the objects, all moving in every tick, end to end on Spark"
PROFILE_REASON = "where a tick's time goes with two stages: milliseconds on the way of the slower worker"
TEMPLATE = "SELECT id FROM objects kNN ('M', :k, :id)"


def run(
    objects: int = 100_000, queries: int = 10_000, k: int = 10, step: float = 0.0005, ticks: int = 24,
    rounds: int = 2, spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, step)
        stream = STREAM.format(path=path)
        later = "AT '2100-01-01' REGISTER QUERY later AS SELECT id FROM objects kNN (1, 0, 0)"
        texts = {
            "echo": stream,
            # A query that has not begun: its stage is there, and nothing else.
            "two stages": f"{stream};\n{later}",
            "nearest": f"{stream};\nREGISTER QUERIES FROM '{write_queries(folder, queries, k)}'",
        }
        taken = measure({n: (plan_of(t), t) for n, t in texts.items()}, folder, objects, rounds, spark)
        _check(path, folder / "nearest.jsonl", queries, k, ticks)
    whole = {label: taken.seconds(label) for label in texts}
    names = {
        "echo": "echo: no queries",
        "two stages": "echo with a merge stage",
        "nearest": f"{queries:,} kNN queries",
    }
    rows = [
        {"pipeline": name, "seconds a tick": whole[label], "readings a second": objects / whole[label]}
        for label, name in names.items()
    ]
    facts = {
        "objects": objects, "queries": queries, "k": k, "updates a tick": taken.updates["nearest"] / ticks,
        "times echo": whole["nearest"] / whole["echo"],
        "times echo with two stages": whole["nearest"] / whole["two stages"],
    }  # fmt: skip
    report("nearest_on_spark", REASON, rows, facts)
    report("nearest_profile", PROFILE_REASON, taken.profile(), {})
    return {"ratio": whole["nearest"] / whole["echo"]}


def write_queries(folder: Path, queries: int, k: int) -> Path:
    columns = [pa.array(np.full(queries, k)), pa.array(np.arange(queries))]
    table = {
        "name": pa.array(np.char.add("q", np.arange(queries).astype(str))),
        "template": pa.array([TEMPLATE] * queries),
        "parameters": pa.StructArray.from_arrays(columns, ["k", "id"]),
    }
    pq.write_table(pa.table(table), folder / "queries.parquet")
    return folder / "queries.parquet"


def _check(path: Path, out: Path, queries: int, k: int, ticks: int) -> None:
    """All updates added up are the answers of the last tick, computed by another road."""
    last = pq.read_table(path, filters=[("ts", "==", ticks)]).sort_by("id")
    places = np.column_stack([last.column("x").to_numpy(), last.column("y").to_numpy()])
    held: dict[int, set[int]] = defaultdict(set)
    with open(out) as lines:
        for line in lines:
            u = json.loads(line)
            mine, who = held[int(u["query"][1:])], u["row"]["id"]
            assert (who in mine) == (u["sign"] < 0), "a row came or went twice"
            mine.symmetric_difference_update((who,))
    distance, _ = cKDTree(places).query(places[:queries], k + 1)
    for query, answer in held.items():
        ours = np.sort(np.hypot(*(places[list(answer)] - places[query]).T))
        assert len(ours) == k and query not in answer
        assert np.allclose(ours, distance[query, 1:], rtol=1e-9), f"query {query}"
    assert len(held) == queries
