"""Pipelines side by side on Spark, a tick a batch: seconds a tick, and where they go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.spark.run import BatchTime, RunOptions, run_plan
from sanderling.spark.session import start_session

# What waits for what, in this order; whatever happens between is Spark's own.
STAGES = (
    ("source", ("source: read",)),
    ("packing", ("packing",)),
    ("shuffle", ("shuffle: write", "shard: shuffle: read", "merge: shuffle: read")),
    ("state load", ("shard: state: load", "merge: state: load")),
    ("keeper", ("shard: keeper", "merge: keeper")),
    ("kernel", ("shard: operators", "shard: operators: pack")),
    ("merge", ("merge: operators", "merge: operators: pack")),
    ("state save", ("shard: state: save", "merge: state: save")),
    ("sink", ("sink",)),
)
# A batch is safe when it is in the log; its lines are written beside the next one.
BESIDE = "lines, beside"


@dataclass
class Ticks:
    """What the runs of each pipeline took, tick by tick."""

    marks: dict[str, list[list[BatchTime]]] = field(default_factory=dict)
    updates: dict[str, int] = field(default_factory=dict)

    def seconds(self, label: str) -> float:
        """The first tick tells every answer whole; it is not what a tick costs."""
        return _median(np.diff([m.at for m in taken[1:]]) for taken in self.marks[label])

    def profile(self) -> list[dict[str, Any]]:
        """Milliseconds by stage, on the way of the slower worker."""
        rows: list[dict[str, Any]] = []
        for label, runs in self.marks.items():
            batches = [batch for taken in runs for batch in taken[2:]]
            stages = {
                stage: 1e3
                * float(np.median([sum(max(b.seconds.get(n, [0.0])) for n in names) for b in batches]))
                for stage, names in STAGES
            }
            whole = 1e3 * self.seconds(label)
            stages["the rest of Spark"] = max(0.0, whole - sum(stages.values()))
            beside = 1e3 * float(np.median([b.seconds["delivery"][0] for b in batches]))
            rows.append({"pipeline": label} | stages | {"a tick": whole, BESIDE: beside})
        unused = {stage for stage, _ in STAGES if not any(row[stage] for row in rows)}
        return [{name: value for name, value in row.items() if name not in unused} for row in rows]


def measure(
    plans: dict[str, tuple[Plan, str]], folder: Path, objects: int, rounds: int, given: SparkSession | None
) -> Ticks:
    """Runs each plan with its script `rounds` times, in turns; a round before warms everything up.

    With no rounds that one is taken: enough to see that all of them run, and what they tell.

    The output of each stays in `folder`, under its label.
    """
    spark = given or start_session("local[2]", 2, folder / "spark.log")
    # One tick a batch, so that a batch's time is a tick's.
    settings = Settings(slice_rows=objects // 2, slices_per_shard=1, is_timed=True)
    ticks = Ticks({label: [] for label in plans})
    for turn in range(rounds + 1):
        for label, (plan, text) in plans.items():
            taken: list[BatchTime] = []
            targets = Targets(folder / f"{label}.jsonl", False, None)
            options = RunOptions(targets, "local[2]", 2, None, settings, on_batch=taken.append)
            summary = run_plan(plan, text, options, spark)
            if turn or not rounds:
                ticks.marks[label].append(taken)
            ticks.updates[label] = sum(a + b for a, b in summary.totals.updates.values())
    if given is None:
        spark.stop()
    return ticks


def _median(pieces: Iterable[Any]) -> float:
    return float(np.median(np.concatenate(list(pieces))))
