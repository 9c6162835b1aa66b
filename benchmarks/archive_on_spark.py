"""A stream that is archived beside one that is not: what a tick costs more, and what a reading weighs."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.range_on_spark import script
from benchmarks.report import report
from benchmarks.worlds import random_boxes, write_walk
from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import BatchTime, RunOptions, run_plan
from sanderling.spark.session import start_session
from sanderling.storage.archive import Archive

REASON = "100,000 objects that all move in every tick, 1,000 range queries, with an archive and without"


def run(
    objects: int = 100_000, queries: int = 1_000, ticks: int = 30, rounds: int = 3,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    given = spark
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, past = write_walk(folder / "walk.parquet", objects, ticks, 0.002), folder / "past"
        plain = script(path, random_boxes(queries, 0.01))
        archive = f"CREATE ARCHIVE past OF objects WITH (path = '{past}', flush = '5 seconds')"
        texts = {"without": plain, "archived": f"{plain};\n{archive}"}
        spark = given or start_session("local[2]", 2, folder / "spark.log")
        means: dict[str, list[float]] = {label: [] for label in texts}
        medians: dict[str, list[float]] = {label: [] for label in texts}
        # One tick a batch; the first round warms everything up, and is taken where there is no other.
        settings = Settings(slice_rows=objects // 2, slices_per_shard=1)
        for turn in range(rounds + 1):
            for label, text in texts.items():
                shutil.rmtree(past, ignore_errors=True)
                marks: list[BatchTime] = []
                planner = Planner()
                planner.run_script(text)
                options = RunOptions(
                    Targets(folder / f"{label}.jsonl", False, None), "local[2]", 2, None, settings,
                    on_batch=marks.append,
                )  # fmt: skip
                run_plan(planner.plan(), text, options, spark)
                steps = np.diff([m.at for m in marks[1:]])
                if turn or not rounds:
                    means[label].append(float(steps.mean()))
                    medians[label].append(float(np.median(steps)))
        if given is None:
            spark.stop()
        assert (folder / "without.jsonl").read_bytes() == (folder / "archived.jsonl").read_bytes()
        weight = _check(path, past, objects * ticks)
    rows = [
        {
            "pipeline": label, "mean seconds a tick": float(np.mean(means[label])),
            "median": float(np.mean(medians[label])),
        }
        for label in texts
    ]  # fmt: skip
    # Of neighbours in time: whatever else the machine does is in both.
    ratios = [b / a for a, b in zip(means["without"], means["archived"], strict=True)]
    ratio = float(np.median(ratios))
    facts = {
        "objects": objects, "queries": queries, "ticks": ticks, "times a tick without": ratio,
        "least and most": f"{min(ratios):.2f} and {max(ratios):.2f}", "bytes a reading": weight,
    }  # fmt: skip
    report("archive_on_spark", REASON, rows, facts)
    return {"ratio": ratio, "bytes": weight}


def _check(path: Path, past: Path, rows: int) -> float:
    """Every reading is there once, as it came; gives the bytes that one takes."""
    archive = Archive.open(past)
    to = archive.archived_to
    assert to is not None
    read = pq.read_table(path)
    told = sum(batch.num_rows for batch in archive.readings(0, to))
    assert told == rows == read.num_rows
    last = archive.now(to).sort_by("id")
    came = read.filter(np.asarray(read.column("ts")) * 1_000_000 == to).sort_by("id")
    assert all(last.column(c).to_pylist() == came.column(c).to_pylist() for c in ("id", "x", "y"))
    return sum(file.bytes for file in archive.files) / rows
