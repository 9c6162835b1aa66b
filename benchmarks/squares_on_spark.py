"""100,000 squares around 100,000 objects, all moving in every tick, end to end on Spark; where it goes."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.report import report
from benchmarks.squares import plan_of, squares_script
from benchmarks.ticks_on_spark import measure
from benchmarks.worlds import write_walk

REASON = "squares around every object, over all objects, all moving in every tick, end to end on Spark"
PROFILE_REASON = "where a tick's time goes: milliseconds on the way of the slower worker"


def run(
    objects: int = 100_000, side: float = 0.01, step: float = 0.0005, ticks: int = 24, rounds: int = 2,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
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
        taken = measure(plans, folder, objects, rounds, spark)
        _check(path, folder / "squares.jsonl", objects, side, ticks)
    whole = {label: taken.seconds(label) for label in plans}
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
        "objects": objects, "queries": objects, "updates a tick": taken.updates["squares"] / ticks,
        "planning seconds": planning, "times echo": ours / echo, "times routed echo": ours / whole["routed"],
    }  # fmt: skip
    report("squares_on_spark", REASON, rows, facts)
    profile = taken.profile()
    report("tick_profile", PROFILE_REASON, profile, {})
    pictures.tick_profile(profile)
    return {"ratio": ours / echo}


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
