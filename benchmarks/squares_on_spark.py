"""100,000 squares around 100,000 objects, all moving in every tick, end to end on Spark; where it goes."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.report import report
from benchmarks.squares import plan_of, squares_script
from benchmarks.worlds import write_walk
from sanderling.deliver.targets import Targets
from sanderling.settings import Settings
from sanderling.spark.run import BatchTime, RunOptions, run_plan
from sanderling.spark.session import start_session

REASON = "squares around every object, over all objects, all moving in every tick, end to end on Spark"
PROFILE_REASON = "where a tick's time goes: milliseconds on the way of the slower worker"

# What waits for what, in this order; whatever happens between is Spark's own.
STAGES = (
    ("source", ("source: read",)),
    ("packing", ("packing",)),
    ("shuffle", ("shuffle: write", "shard: shuffle: read")),
    ("state load", ("shard: state: load",)),
    ("kernel", ("shard: operators", "shard: operators: pack")),
    ("state save", ("shard: state: save",)),
    ("sink", ("sink",)),
)
# A batch is safe when it is in the log; its lines are written beside the next one.
BESIDE = "lines, beside"


class Progress(StreamingQueryListener):
    """What Spark says of its own time in each batch."""

    def __init__(self) -> None:
        self.commits_ms: list[float] = []

    def onQueryStarted(self, event: Any) -> None: ...

    def onQueryIdle(self, event: Any) -> None: ...

    def onQueryTerminated(self, event: Any) -> None: ...

    def onQueryProgress(self, event: Any) -> None:
        for operator in event.progress.stateOperators:
            self.commits_ms.append(float(operator.commitTimeMs))


def run(
    objects: int = 100_000, side: float = 0.01, step: float = 0.0005, ticks: int = 24, rounds: int = 2,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    given = spark
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_walk(folder / "walk.parquet", objects, ticks, step)
        started = time.perf_counter()
        plans = {}
        # Routed: the same readings reach the same shards and are kept there, but no operator runs.
        ways = {"echo": (0, ""), "routed": (objects, "AT '2100-01-01' "), "squares": (objects, "")}
        for label, (squares, at) in ways.items():
            text = squares_script(folder, path, np.arange(squares), side, at)
            plans[label] = (plan_of(text), text)
        planning = time.perf_counter() - started
        spark = given or start_session("local[2]", 2, folder / "spark.log")
        listener = Progress()
        spark.streams.addListener(listener)
        # One tick a batch, so that a batch's time is a tick's; the first round warms everything up.
        settings = Settings(slice_rows=objects // 2, slices_per_shard=1, is_timed=True)
        marks: dict[str, list[list[BatchTime]]] = {label: [] for label in plans}
        commits: dict[str, list[float]] = {label: [] for label in plans}
        updates = 0
        for turn in range(rounds + 1):
            for label, (plan, text) in plans.items():
                taken: list[BatchTime] = []
                listener.commits_ms.clear()
                targets = Targets(folder / f"{label}.jsonl", False, None)
                options = RunOptions(targets, "local[2]", 2, None, settings, on_batch=taken.append)
                summary = run_plan(plan, text, options, spark)
                if turn:
                    marks[label].append(taken)
                    commits[label] += listener.commits_ms[1:]
                updates = sum(a + b for a, b in summary.totals.updates.values())
        spark.streams.removeListener(listener)
        if given is None:
            spark.stop()
        _check(path, folder / "squares.jsonl", objects, side, ticks)
    # The first tick tells every answer whole; it is not what a tick costs.
    whole = {label: _median(np.diff([m.at for m in taken[1:]]) for taken in marks[label]) for label in plans}
    echo, ours = whole["echo"], whole["squares"]
    names = {
        "echo": "echo: no queries",
        "routed": "echo, focal readings to every shard",
        "squares": f"{objects:,} squares",
    }
    rows = [
        {"pipeline": name, "seconds a tick": whole[label], "readings a second": objects / whole[label]}
        for label, name in names.items()
    ]
    facts = {
        "objects": objects, "queries": objects, "updates a tick": updates / ticks,
        "planning seconds": planning, "times echo": ours / echo, "times routed echo": ours / whole["routed"],
    }  # fmt: skip
    report("squares_on_spark", REASON, rows, facts)
    _profile(marks, commits, whole)
    return {"ratio": ours / echo}


def _median(pieces: Iterable[Any]) -> float:
    return float(np.median(np.concatenate(list(pieces))))


def _profile(
    marks: dict[str, list[list[BatchTime]]], commits: dict[str, list[float]], whole: dict[str, float]
) -> None:
    rows: list[dict[str, Any]] = []
    for label, runs in marks.items():
        batches = [batch for taken in runs for batch in taken[2:]]
        stages = {
            stage: 1e3 * float(np.median([sum(max(b.seconds.get(n, [0.0])) for n in names) for b in batches]))
            for stage, names in STAGES
        }
        stages["state commit"] = float(np.median(commits[label])) if commits[label] else 0.0
        stages["the rest of Spark"] = max(0.0, 1e3 * whole[label] - sum(stages.values()))
        beside = 1e3 * float(np.median([b.seconds["delivery"][0] for b in batches]))
        rows.append({"pipeline": label} | stages | {"a tick": 1e3 * whole[label], BESIDE: beside})
    report("tick_profile", PROFILE_REASON, rows, {})
    pictures.tick_profile(rows)


def _check(path: Path, out: Path, objects: int, side: float, ticks: int) -> None:
    """All updates added up are the answers of the last tick, computed by another road."""
    last = pq.read_table(path, filters=[("ts", "==", ticks)])
    places = np.column_stack([last.column("x").to_numpy(), last.column("y").to_numpy()])
    held: Counter[tuple[int, int]] = Counter()
    with open(out) as lines:
        for line in lines:
            u = json.loads(line)
            held[int(u["query"][1:]), u["row"]["id"]] += u["sign"]
    assert set(held.values()) <= {0, 1}
    pairs = cKDTree(places).query_pairs(side / 2, p=np.inf, output_type="ndarray")
    expected = {(int(a), int(b)) for a, b in pairs} | {(int(b), int(a)) for a, b in pairs}
    odd = {pair for pair, n in held.items() if n} ^ expected
    # The two roads round differently on a border.
    for a, b in odd:
        assert abs(np.abs(places[a] - places[b]).max() - side / 2) < 1e-9, f"square {a}, object {b}"
