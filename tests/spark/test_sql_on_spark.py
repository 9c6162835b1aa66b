"""Random queries from the grammar on Spark, against the oracle: files in, updates out.

Many worlds share a run, and each stream comes in several files and in many small batches. Half of the runs
are stopped in the middle, and another goes on from the checkpoint.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from tests.long import so_many
from tests.properties.chance import Chance
from tests.properties.runs import fences
from tests.properties.scenes import COLUMNS
from tests.properties.test_sql import Case, case, compare, planned, write
from tests.spark.together import named_apart, read_from, together

__all__ = ["fences"]

WORLDS = 10
ROUNDS = so_many(2, 40)
# A few rows a slice, and two slices a batch.
SMALL = Settings(slice_bytes=150, slices_per_shard=1, least_snapshot_bytes=2000)


class StoppedError(Exception):
    """By the test."""


@pytest.mark.parametrize("number", range(ROUNDS))
def test_changes_are_the_difference_of_two_answers(
    number: int, spark: SparkSession, fences: Path, tmp_path: Path
) -> None:
    """The same worlds each time: a message names the seed."""
    seeds = range(number * WORLDS, (number + 1) * WORLDS)
    cases = {seed: case(Chance(random.Random(seed).randbytes(3000))) for seed in seeds}
    plan = written(list(cases.values()), tmp_path, fences)
    batches = run(plan, tmp_path, spark, stops_at=2 if number % 2 else None)
    assert batches >= 4
    told, letters = lines(tmp_path / "updates.jsonl"), lines(tmp_path / "letters.jsonl")
    order = [(u["tick"], u["query"].encode(), u["sign"]) for u in told]
    assert order == sorted(order)
    for place, (seed, drawn) in enumerate(cases.items()):
        prefix = f"w{place}/"
        mine = [u | {"query": u["query"].removeprefix(prefix)} for u in told if u["query"].startswith(prefix)]
        used = [s.stream.name for s in plan.streams if s.stream.name.startswith(prefix)]
        late = sum(len(drawn.scene.streams[name.removeprefix(prefix)].late) for name in used)
        try:
            assert sum(letter["stream"] in used for letter in letters) == late
            compare(drawn, [json.dumps(u) for u in mine], end=None)
        except AssertionError as e:
            raise AssertionError(f"seed {seed}") from e


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(cases: list[Case], folder: Path, fences: Path) -> Plan:
    """All readings as files, in order of name; one plan that reads them."""
    plans = []
    for place, drawn in enumerate(cases):
        home = folder / f"w{place}"
        home.mkdir()
        plans.append(planned(drawn, home, fences))
        for number, (name, a, b) in enumerate(drawn.pieces):
            rows = [reading.values for reading in drawn.scene.streams[name].readings[a:b]]
            (home / name).mkdir(exist_ok=True)
            write(home / name / f"{number:03d}.csv", COLUMNS, rows)
    return read_from(together(named_apart(plans, "w")), folder)


def run(
    plan: Plan,
    folder: Path,
    spark: SparkSession,
    stops_at: int | None,
    shards: int = 2,
    how: Settings = SMALL,
) -> int:
    """To the end; if it stops behind a batch, another run goes on. Gives the number of batches."""
    delivered = []

    def deliver(batch: object) -> None:
        delivered.append(batch)
        if len(delivered) == stops_at:
            raise StoppedError

    targets = Targets(folder / "updates.jsonl", False, folder / "letters.jsonl")
    options = RunOptions(targets, "local[2]", shards, folder / "checkpoint", how, on_batch=deliver)
    if stops_at is not None:
        with pytest.raises(StoppedError):
            run_plan(plan, "random queries", options, spark)
        assert not targets.updates or not targets.updates.exists()
    run_plan(plan, "random queries", options, spark)
    return len(delivered)
