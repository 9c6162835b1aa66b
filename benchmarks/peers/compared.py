"""Sanderling and others over the same readings, in turns; they have to tell the same."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.json as pj
from pyspark.sql import SparkSession

from benchmarks.peers.others import ticks_in
from benchmarks.squares import STREAM, plan_of
from sanderling.deliver.targets import Targets
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from sanderling.spark.session import start_session

OURS = "Sanderling on Spark"
ECHO = "echo: Sanderling without queries"
Other = Callable[[Path], list[float]]  # writes to a path, gives when each tick was done


@dataclass
class Compared:
    """Seconds a tick of each, the best of all rounds: the one that others on the machine disturbed least."""

    seconds: dict[str, float] = field(default_factory=dict)
    spark_seconds: float = 0.0  # until there is a session
    start_seconds: float = 0.0  # of a run in it, beside its ticks
    updates: int = 0

    def rows(self, readings: int) -> list[dict[str, Any]]:
        ours = self.seconds[OURS]
        return [
            {"way": n, "seconds a tick": s, "readings a second": readings / s, "times ours": s / ours}
            for n, s in self.seconds.items()
        ]

    def facts(self, ticks: int) -> dict[str, float]:
        others = [s for name, s in self.seconds.items() if name not in (OURS, ECHO)]
        return {
            "ticks": ticks,
            "updates a tick": self.updates / ticks,
            "seconds until Spark is there": self.spark_seconds,
            "seconds until a run in it begins": self.start_seconds,
            "times as fast as the best other": min(others) / self.seconds[OURS],
        }


def compare(
    few: Path, many: Path, queries: str, others: Mapping[str, Other], folder: Path, rounds: int,
    settings: Settings, given: SparkSession | None,
) -> Compared:  # fmt: skip
    """Everything once to warm up, then `rounds` times; with no rounds that one is taken.

    `few` are the first of `many` ticks. What more of them cost is what a tick costs, without the start of a
    run. Of the others it is what comes after the first tick.
    """
    found = Compared()
    started = time.perf_counter()
    spark = given or start_session("local[2]", 2, folder / "spark.log")
    found.spark_seconds = time.perf_counter() - started
    taken: dict[tuple[str, Path], float] = {}
    for turn in range(rounds + 1):
        for name, path in product((OURS, ECHO), (few, many)):
            text = STREAM.format(path=path) + (f";\n{queries}" if name == OURS else "")
            options = RunOptions(
                Targets(folder / f"{name}.jsonl", False, None), "local[2]", 2, None, settings
            )
            seconds = run_plan(plan_of(text), text, options, spark).seconds
            taken[name, path] = min(seconds, taken.get((name, path), seconds) if turn > 1 else seconds)
        for name, other in others.items():
            out = folder / name
            shutil.rmtree(out, ignore_errors=True) if out.is_dir() else out.unlink(missing_ok=True)
            marks = other(out)
            seconds = (marks[-1] - marks[0]) / (len(marks) - 1)
            found.seconds[name] = min(seconds, found.seconds.get(name, seconds) if turn > 1 else seconds)
    if given is None:
        spark.stop()
    for name in (OURS, ECHO):
        more = taken[name, many] - taken[name, few]
        found.seconds[name] = max(more, 1e-9) / (ticks_in(many) - ticks_in(few))
    found.start_seconds = taken[OURS, few] - ticks_in(few) * found.seconds[OURS]
    ours = _ours(folder / f"{OURS}.jsonl")
    found.updates = len(ours)
    for name in others:
        assert np.array_equal(ours, _theirs(folder / name)), f"{name} tells something else"
    return found


def _ours(path: Path) -> npt.NDArray[Any]:
    lines = pj.read_json(path)
    query = pc.utf8_slice_codeunits(lines.column("query"), 1).cast(pa.int64())
    tick = lines.column("tick").cast(pa.timestamp("s")).cast(pa.int64())
    ids = pc.struct_field(lines.column("row"), "id")
    return _in_order([query, tick, lines.column("sign"), ids])


def _theirs(path: Path) -> npt.NDArray[Any]:
    table = ds.dataset(path).to_table()
    return _in_order([table.column(name) for name in ("query", "tick", "sign", "id")])


def _in_order(columns: list[Any]) -> npt.NDArray[Any]:
    """All changes, a row each."""
    rows = np.column_stack([np.asarray(column.to_numpy(), np.int64) for column in columns])
    return rows[np.lexsort(rows.T[::-1])]
