"""A trigger on Spark says the same by space and by query, also when it is stopped and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from tests.engine.test_trigger import NEAR, STREAM, scattered

SMALL = Settings(slice_bytes=4000, slices_per_shard=1, least_snapshot_bytes=2000)


class StoppedError(Exception):
    """By the test."""


def updates(spark: SparkSession, folder: Path, route: str, is_stopped: bool) -> list[str]:
    home = folder / route
    home.mkdir()
    stream = STREAM.replace("LOCATION (x, y)", f"LOCATION (x, y) WITH (path = '{folder / 'e.csv'}')")
    planner = Planner()
    asked = [
        NEAR.format(name=f"{r}_{n}", near=n, report=r, route=route) for r in ("ALL", "FIRST") for n in (9, 12)
    ]
    planner.run_script(stream + ";".join(asked))
    batches = []

    def deliver(batch: object) -> None:
        batches.append(batch)
        if is_stopped and len(batches) == 2:
            raise StoppedError

    targets = Targets(home / "updates.jsonl", False, home / "letters.jsonl")
    options = RunOptions(targets, "local[2]", 4, home / "checkpoint", SMALL, on_batch=deliver)
    if is_stopped:
        with pytest.raises(StoppedError):
            run_plan(planner.plan(), route, options, spark)
    run_plan(planner.plan(), route, options, spark)
    assert len(batches) > 3
    return (home / "updates.jsonl").read_text().splitlines()


def test_the_answer_is_the_same_by_space_and_by_query(spark: SparkSession, tmp_path: Path) -> None:
    scattered(tmp_path / "e.csv")
    by_query = updates(spark, tmp_path, "query", is_stopped=False)
    assert updates(spark, tmp_path, "space", is_stopped=True) == by_query
    assert len(by_query) > 100
