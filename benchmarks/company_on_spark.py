"""Who has stayed near whom, 100,000 objects that all move in every tick, end to end on Spark."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.report import report
from benchmarks.squares import STREAM, plan_of
from benchmarks.ticks_on_spark import measure
from benchmarks.worlds import write_walk

REASON = "pairs that have stayed near each other for 10 ticks, all moving in every tick, end to end on Spark"
PARTNERS = 5
STEP = 0.05  # of the radius, along either axis: standard deviation
MOST = 1.6  # times echo
QUERY = (
    "REGISTER QUERY company AS SELECT a.id AS one, b.id AS other FROM objects [RANGE {0} SECONDS] a, "
    "objects [RANGE {0} SECONDS] b WHERE STAY_WITHIN(a, b, {1!r}) AND a.id < b.id"
)


def run(
    objects: int = 100_000,
    stay: int = 10,
    ticks: int = 24,
    rounds: int = 2,
    spark: SparkSession | None = None,
) -> dict[str, float]:
    radius = float(np.sqrt(PARTNERS / np.pi / objects))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, STEP * radius)
        stream, query = STREAM.format(path=path), QUERY.format(stay, radius)
        texts = {
            "echo": stream,
            # A query that has not begun: its stage is there, and nothing else.
            "two stages": f"{stream};\nAT '2100-01-01' {query}",
            "company": f"{stream};\n{query}",
        }
        taken = measure({n: (plan_of(t), t) for n, t in texts.items()}, folder, objects, rounds, spark)
        pairs = _check(path, folder / "company.jsonl", radius, stay, ticks)
    whole = {label: taken.seconds(label) for label in texts}
    names = {"echo": "echo: no queries", "two stages": "echo with a merge stage", "company": "STAY_WITHIN"}
    rows = [
        {"pipeline": name, "seconds a tick": whole[label], "readings a second": objects / whole[label]}
        for label, name in names.items()
    ]
    facts = {
        "objects": objects, "ticks of company": stay, "pairs at the end": pairs,
        "updates a tick": taken.updates["company"] / ticks, "times echo": whole["company"] / whole["echo"],
        "at most": MOST, "times echo with two stages": whole["company"] / whole["two stages"],
    }  # fmt: skip
    report("company_on_spark", REASON, rows, facts)
    pictures.company_on_spark(rows, MOST)
    return {"ratio": whole["company"] / whole["echo"]}


def _check(path: Path, out: Path, radius: float, stay: int, ticks: int) -> int:
    """All updates added up are the pairs that a tree finds at each of the last ticks."""
    wanted: set[tuple[int, int]] | None = None
    for tick in range(ticks - stay + 1, ticks + 1):
        now = pq.read_table(path, filters=[("ts", "==", tick)]).sort_by("id")
        places = np.column_stack([now.column("x").to_numpy(), now.column("y").to_numpy()])
        near = set(map(tuple, cKDTree(places).query_pairs(radius, output_type="ndarray").tolist()))
        wanted = near if wanted is None else wanted & near
    held: Counter[tuple[int, int]] = Counter()
    with open(out) as lines:
        for line in lines:
            update = json.loads(line)
            held[update["row"]["one"], update["row"]["other"]] += update["sign"]
    assert set(held.values()) <= {0, 1}
    assert wanted is not None and {pair for pair, n in held.items() if n} == wanted and wanted
    return len(wanted)
