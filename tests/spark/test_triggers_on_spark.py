"""Random triggers on Spark, against every combination of events: files in, alerts out.

Many worlds share a run, and each stream comes in several files and in many small batches, to several shards
and merge partitions. Half of the runs are stopped in the middle, and another goes on from the checkpoint.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.errors import QueryError
from sanderling.plan.planner import Planner
from tests.long import so_many
from tests.properties.chance import Chance
from tests.properties.test_sql import write
from tests.properties.test_trigger_sql import Update, declared, expected
from tests.properties.trigger_tales import COLUMNS, World, globe_worlds, worlds
from tests.spark.test_sql_on_spark import SMALL, lines, run
from tests.spark.together import named_apart, read_from, together

WORLDS, ROUNDS = so_many((8, 1), (12, 40))
ROW_BY_ROW = replace(SMALL, slice_bytes=10)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_alerts_are_the_combinations_that_satisfy_all_conditions(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    """The same worlds each time: a message names the seed."""
    drawn = {}
    seed = number * 1000
    while len(drawn) < WORLDS:
        world = (globe_worlds if seed % 4 == 3 else worlds)(Chance(random.Random(seed).randbytes(3000)))
        planner, wanted = planned(world)
        if len(planner.plan().queries):
            drawn[seed] = (world, planner, wanted)
        seed += 1
    for place, (world, _, _) in enumerate(drawn.values()):
        for piece, (name, a, b) in enumerate(world.pieces):
            folder = tmp_path / f"w{place}" / name
            folder.mkdir(parents=True, exist_ok=True)
            write(folder / f"{piece:03d}.csv", COLUMNS, world.readings[name][a:b])
    plans = [planner.plan() for _, planner, _ in drawn.values()]
    whole = read_from(together(named_apart(plans, "w")), tmp_path)
    stops_at, shards = (None, 2) if number % 2 else (2, 3)
    batches = run(whole, tmp_path, spark, stops_at, shards, ROW_BY_ROW)
    assert batches >= 4
    told = lines(tmp_path / "updates.jsonl")
    assert all(u["sign"] == 1 for u in told)
    total = 0
    for place, (seed, (_, _, wanted)) in enumerate(drawn.items()):
        mine = [u for u in told if u["query"].startswith(f"w{place}/")]
        got: Counter[Update] = Counter(
            (u["tick"], u["query"].removeprefix(f"w{place}/"), tuple(u["row"].values())) for u in mine
        )
        assert got == wanted, f"seed {seed}"
        total += got.total()
    assert total > 20


def planned(world: World) -> tuple[Planner, Counter[Update]]:
    """With all of its triggers that can be satisfied, and what they are to tell."""
    planner = declared(world)
    wanted: Counter[Update] = Counter()
    for tale in world.tales:
        try:
            planner.run_script(";\n".join(tale.statements()))
        except QueryError as e:
            assert e.code == "query.trigger_unsatisfiable", e
            continue
        wanted.update(expected(tale, world))
    return planner, wanted
