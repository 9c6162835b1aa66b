"""WINDOW and PREVIOUS against the oracle: exact, however the input is cut, placed and interrupted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.operate.inside import meet
from sanderling.operate.where.orders import ByCounts
from sanderling.operate.window import until, whereabouts
from sanderling.plan.grow.living import LivingPlan
from sanderling.plans.plan import NEVER
from tests.engine.direct import ByPair, DirectRun
from tests.long import drawn
from tests.properties.runs import RELAXED, Cut, check, cuts, declarations, engine_updates, fences, write_csv
from tests.properties.worlds import SECOND, SHAPES, World, ask, worlds

__all__ = ["fences"]


@RELAXED
@given(world=worlds(has_window=True), cut=cuts, is_restless=st.booleans())
def test_changes_are_the_difference_of_two_answers(
    world: World, cut: Cut, is_restless: bool, fences: Path, tmp_path: Path
) -> None:
    """Also where every condition is judged reading by reading, and everything is tidied up all the time."""
    with pytest.MonkeyPatch.context() as patch:
        if is_restless:
            patch.setattr(until, "AT_ONCE", 1)
            patch.setattr(meet, "WORTH_A_GRID", 0)
            patch.setattr(whereabouts, "STRIDE", 1)
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        check(world, cut, fences, tmp_path, ByPair if is_restless else ByCounts)


@st.composite
def later_asks(draw: st.DrawFn, kinds: tuple[str, ...] = SHAPES) -> tuple[World, int, list[str], list[str]]:
    """A world, after how many of its readings something is said, and what: queries that come, and that go."""
    world = draw(worlds(has_window=True, kinds=kinds))
    comes = [draw(ask(n, world.is_integer_key, kinds, has_window=True)) for n in (5, 6)]
    lasting = [a.query.name for a in world.asks if a.end_s is None]
    goes = draw(st.lists(st.sampled_from(lasting), max_size=1)) if lasting else []
    at = draw(st.integers(0, len(world.readings)))
    return world, at, [s for a in comes for s in a.statements()], goes


@RELAXED
@given(later=later_asks() | later_asks(("moving far",)), cut=cuts)
def test_what_comes_later_begins_alike_however_the_input_is_cut(
    later: tuple[World, int, list[str], list[str]], cut: Cut, fences: Path, tmp_path: Path
) -> None:
    """What is kept when a query comes depends on the plan and the clock alone; its answer is its updates."""
    plain = Cut(1 << 20, 1, "never", False, False)
    wanted, got = (told(later, how, fences, tmp_path) for how in (plain, cut))
    assert got == wanted


@settings(RELAXED, max_examples=drawn(6, 2000))
@given(
    world=worlds(has_window=True) | worlds(has_window=True, kinds=("moving far",)) | worlds(has_nearest=True),
    cut=cuts, at=st.integers(1, 20),
)  # fmt: skip
def test_a_query_that_is_registered_again_holds_what_the_first_one_holds(
    world: World, cut: Cut, at: int, fences: Path, tmp_path: Path
) -> None:
    """What it begins with is all there: the first one has kept it."""
    living = LivingPlan()
    sql = {a.query.name: a.sql for a in world.asks}
    first = [f"REGISTER QUERY {name} AS {text}" for name, text in sql.items()]
    living.execute(";\n".join([*declarations(world, fences), *first]))
    run = DirectRun(living.start().plan, cut.shards, cut.bytes, cut.has_empty, cut.takes_turns, living)
    for number, part in enumerate((world.readings[:at], world.readings[at:])):
        if number:
            run.execute(";\n".join(f"REGISTER QUERY {name}_again AS {text}" for name, text in sql.items()))
        if part:
            run.feed_file("objects", write_csv(tmp_path / "part.csv", part))
        if cut.restarts != "never":
            run.restart(is_snapshot=cut.restarts != "delta")
    # Behind the last reading there is a tick: what was registered last begins at the next to close.
    run.close_to("objects", max(r.ts for r in world.readings) + world.tick_s * SECOND)
    for name in sql:
        assert answer_of(run, name) == answer_of(run, f"{name}_again")


def answer_of(run: DirectRun, name: str) -> Counter[str]:
    return Counter(json.dumps(json.loads(line)["row"]) for line in run.ask(name))


def test_a_window_that_comes_while_n_rows_runs_begins_alike_with_any_number_of_shards(tmp_path: Path) -> None:
    # All but one are gone when the window comes: one shard holds the last reading of all, another its own.
    came = [f"{key},{ts},0,0,false" for ts, key in enumerate("abcdefgh")]
    went = [f"{key},{ts},0,0,true" for ts, key in enumerate("bcdefgh", 8)]
    parts = ([*came, *went, "a,15,0,0,false", "a,16,0,0,false"], ["a,17,0,0,false", "a,18,0,0,false"])
    heard = []
    for shards in (1, 2):
        living = LivingPlan()
        living.execute(
            "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, gone BOOLEAN) KEY id TIME ts "
            "LOCATION (x, y) GONE gone; REGISTER QUERY one AS SELECT id FROM cars WINDOW 1 ROWS"
        )
        run = DirectRun(living.start().plan, shards, living=living)
        for rows in parts:
            if run.updates:
                run.execute("REGISTER QUERY more AS SELECT id FROM cars WINDOW 1 HOUR")
            (tmp_path / "part.csv").write_text("\n".join(["id,ts,x,y,gone", *rows]) + "\n")
            run.feed_file("cars", tmp_path / "part.csv")
        run.close_to("cars", 18_000_000)
        heard.append(Counter(run.updates))
    assert heard[0] == heard[1]


def told(
    later: tuple[World, int, list[str], list[str]], cut: Cut, fences: Path, folder: Path
) -> Counter[tuple[object, ...]]:
    world, at, comes, goes = later
    living = LivingPlan()
    statements = [s for a in world.asks for s in a.statements()]
    living.execute(";\n".join([*declarations(world, fences), *statements]))
    run = DirectRun(living.start().plan, cut.shards, cut.bytes, cut.has_empty, cut.takes_turns, living)
    for number, part in enumerate((world.readings[:at], world.readings[at:])):
        if number:
            run.execute(";\n".join([f"DROP QUERY {name}" for name in goes] + comes))
        if part:
            run.feed_file("objects", write_csv(folder / "part.csv", part))
        if cut.restarts != "never":
            run.restart(is_snapshot=cut.restarts != "delta")
    run.close_to("objects", max(r.ts for r in world.readings))
    held = Counter(engine_updates(run))
    lasting = [q.name for q in run.plan.queries if q.end == NEVER]
    for name in lasting:
        lines = [json.loads(line)["row"] for line in run.ask(name)]
        mine = [u for u in map(json.loads, run.updates[run.since[name] :]) if u["query"] == name]
        sums: Counter[str] = Counter()
        for update in mine:
            sums[json.dumps(update["row"])] += update["sign"]
        assert +sums == Counter(map(json.dumps, lines))
    return held
