"""A trigger on Spark says the same by space and by query, also when it is stopped and goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from tests.engine.test_trigger import NEAR, STREAM, scattered
from tests.long import so_many

SMALL = Settings(slice_bytes=2200, slices_per_shard=1, least_snapshot_bytes=2000)
WAYS = [(report, near) for report in ("ALL", "FIRST") for near in (3, 4)]


class StoppedError(Exception):
    """By the test."""


@pytest.mark.parametrize("is_stopped", so_many([False], [False, True]))
def test_the_answer_is_the_same_by_space_and_by_query(
    spark: SparkSession, tmp_path: Path, is_stopped: bool
) -> None:
    path = scattered(tmp_path / "e.csv")
    planner, batches = Planner(), []
    asked = [
        NEAR.format(name=f"{route}_{report}_{near}", near=near, report=report, route=route)
        for route in ("space", "query")
        for report, near in WAYS
    ]
    stream = STREAM.replace("LOCATION (x, y)", f"LOCATION (x, y) WITH (path = '{path}')")
    planner.run_script(stream + ";".join(asked))

    def deliver(batch: object) -> None:
        batches.append(batch)
        if is_stopped and len(batches) == 1:
            raise StoppedError

    targets = Targets(tmp_path / "updates.jsonl", False, tmp_path / "letters.jsonl")
    options = RunOptions(targets, "local[2]", 4, tmp_path / "checkpoint", SMALL, on_batch=deliver)
    if is_stopped:
        with pytest.raises(StoppedError):
            run_plan(planner.plan(), "routes", options, spark)
    run_plan(planner.plan(), "routes", options, spark)
    assert len(batches) > 2
    told = [json.loads(line) for line in (tmp_path / "updates.jsonl").read_text().splitlines()]
    for report, near in WAYS:
        by_space, by_query = (
            [(u["tick"], u["row"]) for u in told if u["query"] == f"{route}_{report}_{near}"]
            for route in ("space", "query")
        )
        assert by_space == by_query and len(by_query) > 20
