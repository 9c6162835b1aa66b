"""The order of WHERE and INSIDE follows what is counted, both ways, and nothing has to be saved of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.push_down import Always
from sanderling.operate.where import conditions
from sanderling.operate.where.comparisons import judged as judged_plainly
from sanderling.operate.where.comparisons import judged_pairs
from sanderling.operate.where.conditions import Bools, judged
from sanderling.operate.where.orders import BY_DUCKDB, PLAINLY, ByCounts, Chooser, Ordered
from sanderling.plan.explain.explain import explain_query
from sanderling.plan.planner import Planner
from sanderling.plans.selection import First
from tests.engine.direct import ByPair, DirectRun
from tests.long import so_many

OBJECTS, TICKS = 3_000, 60
CARS = """
CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE) KEY id TIME ts LOCATION (x, y);
"""
# Everybody reports a new speed, of 0 to 100, in every tick. One is judged by DuckDB, the other by NumPy.
JUDGED, COMPARED = "abs(speed)", "speed"
SMALL = f"REGISTER QUERY q AS SELECT id FROM cars WHERE {JUDGED} >= 10 INSIDE (0, 0, 0.1, 0.2)"
WIDE = f"REGISTER QUERY q AS SELECT id, speed FROM cars WHERE {JUDGED} >= 99 INSIDE (0, 0, 1, 1)"
FOLLOWS = f"REGISTER QUERY q AS SELECT id FROM cars WHERE {JUDGED} >= 10 INSIDE ('M', 1, 0.1)"
SMALL_WINDOW = f"{SMALL} WINDOW 3 seconds"
WIDE_WINDOW = f"{WIDE} WINDOW 3 seconds"
NOBODY = f"REGISTER QUERY q AS SELECT id FROM cars WHERE {JUDGED} > 100 INSIDE (0, 0, 0.1, 0.2)"


@dataclass
class Watched(Chooser):
    """Chooses by counts, from an order of ours on, and remembers where it changed its mind."""

    begin: First
    by_counts: ByCounts = field(default_factory=ByCounts)
    changes: list[First] = field(default_factory=list)

    def at_first(self, conditions: int) -> First:
        return self.begin

    def is_due(self, asked: Ordered, price: float) -> bool:
        return self.by_counts.is_due(asked, price)

    def choose(self, asked: Ordered, price: float) -> First | None:
        chosen = self.by_counts.choose(asked, price)
        if chosen not in (None, asked.first):
            self.changes.append(chosen)
        return chosen


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A file a tick."""
    chance = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("cars")
    x, y = chance.random((2, OBJECTS))
    paths = []
    for tick in range(1, TICKS + 1):
        x, y = (np.clip(place + chance.normal(0, 0.002, OBJECTS), 0, 1) for place in (x, y))
        speed = chance.random(OBJECTS) * 100
        rows = np.column_stack([np.arange(OBJECTS), np.full(OBJECTS, tick), x, y, speed])
        path = folder / f"{tick}.csv"
        np.savetxt(
            path, rows, ["%d", "%d", "%.6f", "%.6f", "%.3f"], ",", header="id,ts,x,y,speed", comments=""
        )
        paths.append(path)
    return paths


def begun(sql: str, chooser: Chooser) -> DirectRun:
    planner = Planner()
    planner.run_script(CARS + sql)
    return DirectRun(planner.plan(), chooser=lambda: chooser)


def run_of(sql: str, chooser: Chooser, batches: list[Path], restart_after: tuple[int, ...] = ()) -> DirectRun:
    run = begun(sql, chooser)
    for number, path in enumerate(batches):
        run.feed_file("cars", path)
        if number in restart_after:
            run.restart(is_snapshot=number % 2 == 0)
    return run


def order(run: DirectRun) -> Ordered:
    found = run.engines[0].streams["cars"].orders.get(0)
    assert found is not None
    return found


def other_than(first: First) -> First:
    return First.WHERE if first is First.INSIDE else First.INSIDE


WORLDS = pytest.mark.parametrize(
    ("sql", "better"),
    [
        (SMALL, First.INSIDE), (WIDE, First.WHERE), (FOLLOWS, First.INSIDE), (NOBODY, First.INSIDE),
        (SMALL_WINDOW, First.INSIDE), (WIDE_WINDOW, First.WHERE),
    ],
    ids=["small", "wide", "follows", "nobody passes", "small window", "wide window"],
)  # fmt: skip


# That the better one is found from the worse where DuckDB judges is seen in the test below, too.
@WORLDS
@pytest.mark.parametrize(
    ("what", "is_better"),
    so_many([(JUDGED, True), (COMPARED, False)], [*product((JUDGED, COMPARED), (True, False))]),
)
def test_the_better_order_is_found_from_either(
    sql: str, better: First, what: str, is_better: bool, batches: list[Path]
) -> None:
    begin = better if is_better else other_than(better)
    chooser = Watched(begin)
    found = order(run_of(sql.replace(JUDGED, what), chooser, batches))
    assert found.weights is (PLAINLY if what == COMPARED else BY_DUCKDB)
    assert found.first is better
    assert begin is better or found.seen is not None
    assert chooser.changes == ([] if begin is better else [better]), "it does not go to and fro"


@pytest.fixture
def rows_judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call of the judge had."""
    rows: list[int] = []

    def counted(sql: str, columns: dict[str, pa.Array | pa.ChunkedArray], n: int) -> np.ndarray[Any, Any]:
        rows.append(n)
        return judged(sql, columns, n)

    def plainly(judge: Callable[..., Bools | None]) -> Callable[..., Bools | None]:
        def counted(*given: Any) -> Bools | None:
            verdict = judge(*given)
            if verdict is not None:  # else it is judged once more, and counted there
                rows.append(len(verdict))
            return verdict

        return counted

    monkeypatch.setattr(conditions, "judged", counted)
    monkeypatch.setattr(conditions, "judged_plainly", plainly(judged_plainly))
    monkeypatch.setattr(conditions, "pairs_judged_plainly", plainly(judged_pairs))
    return rows


@WORLDS
def test_no_more_than_twice_as_much_is_judged_as_in_the_better_order(
    sql: str, better: First, batches: list[Path], rows_judged: list[int]
) -> None:
    """Once there has been enough to go by; and the updates are the same."""
    later, told = {}, []
    worse = other_than(better)
    watched = Watched(worse)
    for name, chooser in (
        ("where", Always(First.WHERE)),
        ("inside", Always(First.INSIDE)),
        ("chosen", watched),
    ):
        run = begun(sql, chooser)
        for number, path in enumerate(batches):
            if number == TICKS // 2:
                rows_judged.clear()
            run.feed_file("cars", path)
        later[name] = sum(rows_judged)
        told.append(run.updates)
    assert told[0] == told[1] == told[2]
    assert order(run).first is better and watched.changes == [better]
    assert order(run).seen is not None and order(run).weights is BY_DUCKDB
    assert later["chosen"] <= 2 * later[better.value]
    if better is First.INSIDE:
        assert later["chosen"] * 5 < later[worse.value]


def test_after_a_crash_it_is_chosen_again(batches: list[Path]) -> None:
    went_on = run_of(SMALL, ByCounts(), batches)
    came_back = run_of(SMALL, ByCounts(), batches, restart_after=(2, 40, 57))
    assert order(went_on).first is First.INSIDE
    assert order(came_back).seen is None, "nothing of it is saved"
    assert went_on.updates == came_back.updates


def test_explain_tells_the_order_and_why(batches: list[Path]) -> None:
    run = run_of(SMALL, ByCounts(), batches)
    plain = [row[0] for row in explain_query(run.plan, "q").rows]
    analyzed = [row[0] for row in explain_query(run.plan, "q", run.figures).rows]
    assert places(plain) == ["select", "inside:", "where", "last"], "at first"
    assert places(analyzed) == ["select", "where", "inside:", "last"]
    (note,) = (line for line in analyzed if "before INSIDE" in line)
    assert "before INSIDE in 0 of 1 shard: at the last look " in note


def places(lines: list[str]) -> list[str]:
    """What stands below what in a shard, by first words."""
    words = [line.lstrip(" │├└─").split(" ")[0] for line in lines if "[shard]" in line]
    return words


@pytest.mark.parametrize("first", First)
def test_what_stays_in_a_region_is_judged_again_when_its_condition_changes(
    first: First, tmp_path: Path
) -> None:
    """Though nothing that is shown has changed."""
    path = tmp_path / "cars.csv"
    path.write_text("id,ts,x,y,speed\n1,1,5,5,0\n1,2,5,5,9\n1,3,5,6,0\n1,4,5,6,9\n1,5,5,6,9\n")
    run = begun(
        "REGISTER QUERY q AS SELECT id FROM cars WHERE speed > 5 INSIDE (0, 0, 10, 10)", Always(first)
    )
    run.feed_file("cars", path)
    assert [json.loads(line)["sign"] for line in run.updates] == [1, -1, 1]


def test_where_everything_is_judged_pair_by_pair_nothing_is_judged_beforehand() -> None:
    for chooser, is_beforehand in ((ByCounts(), True), (ByPair(), False)):
        asks = begun(NOBODY, chooser).engines[0].streams["cars"].asks
        assert bool(asks.conditions) == is_beforehand and bool(asks.by_pair) != is_beforehand
