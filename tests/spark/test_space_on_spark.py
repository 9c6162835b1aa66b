"""Regions of every kind on Spark, on a plane and on the globe: against the oracle, and against each other.

Many worlds share a run of many small batches, which is stopped in the middle and goes on from its checkpoint.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from sanderling.plan.planner import Planner
from tests.long import so_many
from tests.oracle.oracle import comparable
from tests.properties.globe_worlds import globe_worlds
from tests.properties.runs import declarations, fences, oracle_updates, write_csv
from tests.properties.worlds import World, worlds
from tests.spark.test_sql_on_spark import SMALL, lines, run
from tests.spark.together import named_apart, read_from, together

__all__ = ["fences"]

WORLDS = so_many(16, 80)
# A few readings.
SMALLER = replace(SMALL, slice_bytes=60)
PLANE = ("outline", "outline", "changing", "around", "disc", "polygon")
# Beside what is drawn, in each world: two that are everybody together, and what both hold.
SIDES = {
    "lefts": "INSIDE LEFT OF LINE (0 0, 2 0, 2 2)",
    "rights": "INSIDE RIGHT OF LINE (0 0, 2 0, 2 2)",
    "on_line": "INSIDE ON LINE (0 0, 2 0, 2 2)",
}
YARD = "POLYGON ((0 0, 6 0, 6 6, 0 6, 0 0), (2 2, 4 2, 4 4, 2 4, 2 2)) SHIFT BY (1, 0, 2 SECONDS) FROM 0"
STORM = "CIRCLE (179.99, -17, 900 KM) SHIFT BY (51, 25.5, 2 SECONDS) SCALE BY (0.5, 3 SECONDS) FROM 0"


def some_worlds() -> list[World]:
    """The same ones each time."""
    drawn: list[World] = []
    any_world = st.one_of(
        globe_worlds(), globe_worlds(has_nearest=True), globe_worlds(has_window=True),
        worlds(kinds=PLANE), worlds(kinds=PLANE, has_nearest=True), worlds(kinds=PLANE, has_window=True),
    )  # fmt: skip

    @settings(max_examples=50 * WORLDS, derandomize=True, database=None, phases=[Phase.generate])
    @given(any_world)
    def draw(world: World) -> None:
        drawn.append(world)

    draw()
    # Most tell little: those that tell most, as many on the globe as on a plane.
    eventful = sorted(drawn, key=lambda world: -len(oracle_updates(world)[0]))
    kinds = ([world for world in eventful if world.is_globe is kind] for kind in (False, True))
    return [world for some in kinds for world in some[: WORLDS // 2]]


@pytest.fixture(scope="module")
def told(
    spark: SparkSession, fences: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[World, list[dict[str, Any]]]]:
    folder, drawn, plans = tmp_path_factory.mktemp("space"), some_worlds(), []
    for place, world in enumerate(drawn):
        home = folder / f"w{place}" / "objects"
        home.mkdir(parents=True)
        half = len(world.readings) // 2
        for number, part in enumerate((world.readings[:half], world.readings[half:])):
            write_csv(home / f"{number:03d}.csv", part)
        plans.append(whole(world, fences))
    batches = run(
        read_from(together(named_apart(plans, "w")), folder), folder, spark, stops_at=2, how=SMALLER
    )
    assert batches >= 4
    updates = lines(folder / "updates.jsonl")
    return [
        (world, [u for u in updates if u["query"].startswith(f"w{place}/")])
        for place, world in enumerate(drawn)
    ]


def whole(world: World, fences: Path) -> Any:
    planner = Planner()
    region = STORM if world.is_globe else YARD
    pairs = {
        **SIDES,
        "inside_it": f"INSIDE {region}",
        "outside_it": f"INSIDE EXTERIOR OF {region}",
        "everybody": "",
    }
    more = [f"REGISTER QUERY {name} AS SELECT id FROM objects {clause}" for name, clause in pairs.items()]
    asked = [statement for a in world.asks for statement in a.statements()]
    planner.run_script(";\n".join([*declarations(world, fences), *asked, *more]))
    return planner.plan()


def test_changes_are_those_of_the_oracle(told: list[tuple[World, list[dict[str, Any]]]]) -> None:
    kinds = Counter(world.is_globe for world, _ in told)
    assert min(kinds.values()) >= 4
    total = 0
    for place, (world, updates) in enumerate(told):
        got = Counter(
            (u["tick"], name, u["sign"], tuple(comparable(v) for v in u["row"].values()))
            for u in updates
            if (name := u["query"].removeprefix(f"w{place}/")).startswith("q")
        )
        wanted, _, _ = oracle_updates(world)
        assert got == Counter(wanted), f"world {place}"
        total += got.total()
    assert total > 100


def answers(updates: list[dict[str, Any]]) -> Iterator[dict[str, set[object]]]:
    """By query, at each tick in which something changed."""
    held: dict[str, set[object]] = defaultdict(set)
    ticks = sorted({u["tick"] for u in updates})
    for tick in ticks:
        for u in (u for u in updates if u["tick"] == tick):
            who, name = u["row"].get("id"), u["query"].partition("/")[2]
            (held[name].add if u["sign"] == 1 else held[name].discard)(who)
        yield held


def test_two_sides_are_everybody_and_so_are_a_region_and_its_exterior(
    told: list[tuple[World, list[dict[str, Any]]]],
) -> None:
    looks = 0
    for world, updates in told:
        names = {*SIDES, "inside_it", "outside_it", "everybody"}
        for held in answers([u for u in updates if u["query"].partition("/")[2] in names]):
            assert (
                held["lefts"] | held["rights"] == held["inside_it"] | held["outside_it"] == held["everybody"]
            ), world
            assert held["lefts"] & held["rights"] == held["on_line"], world
            looks += 1
    assert looks > 50
