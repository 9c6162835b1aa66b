"""An archive replayed, beside the same rows as a stream of Parquet on Spark: both tell the same bytes."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

from benchmarks.range_on_spark import script
from benchmarks.report import report
from benchmarks.worlds import random_boxes, write_walk
from sanderling.ask.opened import opened_for
from sanderling.ask.playing import play
from sanderling.ask.replay import Replay, Times
from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from sanderling.spark.session import start_session

REASON = "100,000 objects that all move in every tick, 1,000 range queries: an archive, and Parquet"


def run(
    objects: int = 100_000, queries: int = 1_000, ticks: int = 30, rounds: int = 3,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    given = spark
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, past = write_walk(folder / "walk.parquet", objects, ticks, 0.002), folder / "past"
        text = script(path, random_boxes(queries, 0.01))
        archive = f"{text};\nCREATE ARCHIVE past OF objects WITH (path = '{past}')"
        spark = given or start_session("local[2]", 2, folder / "spark.log")
        seconds: dict[str, list[float]] = {"a stream of Parquet, on Spark": [], "a replay": []}
        used: dict[str, list[float]] = {label: [] for label in seconds}
        _run(archive, folder / "archived.jsonl", spark)  # which warms everything up
        ways = (
            lambda: _run(text, folder / "run.jsonl", spark),
            lambda: _replay(text, past, folder / "replay.jsonl"),
        )
        for _ in range(max(1, rounds)):
            for label, way in zip(seconds, ways, strict=True):
                before = processor_seconds()
                seconds[label].append(way())
                used[label].append(processor_seconds() - before)
        if given is None:
            spark.stop()
        assert (folder / "run.jsonl").read_bytes() == (folder / "replay.jsonl").read_bytes()
    readings = objects * ticks
    means = {label: float(np.median(s)) for label, s in seconds.items()}
    rows = [
        {
            "way": w, "seconds": s, "readings a second": readings / s,
            "processor's seconds": float(np.median(used[w])),
        }
        for w, s in means.items()
    ]  # fmt: skip
    streamed, replayed = means.values()
    ratio = streamed / replayed
    facts = {"objects": objects, "queries": queries, "ticks": ticks, "times as fast as the stream": ratio}
    report("archive_replayed", REASON, rows, facts)
    return {"ratio": ratio}


def processor_seconds() -> float:
    """Of this process and all that it has started, Java and its workers among them; as Linux counts them."""
    parent, ticks = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            said = path.read_text().rpartition(")")[2].split()
            number = int(path.parent.name)
            parent[number], ticks[number] = int(said[1]), sum(map(int, said[11:15]))
    mine = {os.getpid()}
    while more := {number for number, of in parent.items() if of in mine} - mine:
        mine |= more
    return sum(ticks[number] for number in mine) / os.sysconf("SC_CLK_TCK")


def _run(text: str, out: Path, spark: SparkSession) -> float:
    """Without Spark's start: the seconds that it streamed."""
    planner = Planner()
    planner.run_script(text)
    options = RunOptions(Targets(out, False, None), "local[2]", 2, None, Settings())
    return run_plan(planner.plan(), text, options, spark).seconds


def _replay(text: str, past: Path, out: Path) -> float:
    planner = Planner()
    planner.run_script(text)
    began = time.perf_counter()
    replay = Replay.of(planner, opened_for(planner, [past], text), Times())
    play(replay, Targets(out, False, None), None)
    return time.perf_counter() - began
