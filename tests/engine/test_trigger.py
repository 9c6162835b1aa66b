"""A trigger in the engine: how many events it keeps, and that it holds no answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sanderling import arrays
from sanderling.errors import QueryError
from sanderling.kernels.trigger.live import ROOM
from sanderling.operate.tree.composed import Composed
from sanderling.operate.trigger.solve import SolveState
from sanderling.plan.explain.explain import explain_query
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from sanderling.plans import nodes
from sanderling.plans.trigger_space import FEW
from tests.engine.direct import DirectRun
from tests.engine.test_figures import WAYS, figures_of

STREAM = (
    "CREATE STREAM E (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, p STRING) KEY id TIME ts LOCATION (x, y);"
)
COLLISION = """
CREATE TRIGGER collision FOR E AS V1, E AS V2, E AS V3
WHEN V1.p = 'A' AND V2.p = 'B' AND V3.p = 'C'
 AND DISTANCE(V1, V2) < 1 AND V2.ts - V1.ts IN [0, 5]
 AND DISTANCE(V2, V3) < 1 AND V3.ts - V2.ts IN [1, 5]
"""
# Figure 2 of the paper; what is after the last closes its tick, and is no event of the trigger.
READINGS = """id,ts,x,y,p
a1,1,0,0,A
b1,2,5,5,B
b2,3,0.5,0,B
c1,3,0.5,0.5,C
c2,6,0.5,0.5,C
d1,7,0,0,D
"""


@WAYS
@pytest.mark.parametrize("how", ["", "WITH (expiry = 'loose')", "WITH (index = 'lists')"])
def test_a1_and_b2_are_kept_and_what_cannot_be_needed_is_not(
    tmp_path: Path, how: str, shards: int, slice_bytes: int, turns: bool
) -> None:
    path = tmp_path / "e.csv"
    path.write_text(READINGS)
    planner = Planner()
    planner.run_script(STREAM + COLLISION + how)
    run = DirectRun(planner.plan(), shards, slice_bytes, takes_turns=turns)
    run.feed_file("E", path)
    assert figures_of(run, "collision")["solve"] == ("5", "1", "2")


@WAYS
@pytest.mark.parametrize("how", ["", "WITH (expiry = 'loose')", "WITH (index = 'lists')"])
def test_what_is_kept_goes_as_time_goes_on_though_no_other_event_comes(
    tmp_path: Path, how: str, shards: int, slice_bytes: int, turns: bool
) -> None:
    """b2 goes after 8, a1 with it or, under LOOSE, after 11: that somebody else reports is enough."""
    planner = Planner()
    planner.run_script(STREAM + COLLISION + how)
    run = DirectRun(planner.plan(), shards, slice_bytes, takes_turns=turns)
    held = []
    for number, rows in enumerate((READINGS, "id,ts,x,y,p\nd1,10,0,0,D\n", "id,ts,x,y,p\nd1,13,0,0,D\n")):
        path = tmp_path / f"{number}.csv"
        path.write_text(rows)
        run.feed_file("E", path)
        held.append(figures_of(run, "collision")["solve"][-1])
    assert held == (["2", "1", "0"] if "loose" in how else ["2", "0", "0"])


def test_what_is_kept_of_a_long_stream_is_bounded_by_the_trigger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten readings a second, and two variables that are at most 5 seconds apart."""
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 0)
    planner = Planner()
    planner.run_script(
        STREAM + "CREATE TRIGGER near FOR E AS a, E AS b "
        "WHEN a.p = 'A' AND b.p = 'B' AND DISTANCE(a, b) < 1 AND b.ts - a.ts IN [0, 5]"
    )
    run = DirectRun(planner.plan(), 2)
    most, path = 0, tmp_path / "e.csv"
    for begin in range(0, 4000, 50):
        rows = [
            f"{n},{ts},{(7 * n + ts) % 50},0,{'AB'[(n * ts) % 2]}"
            for ts in range(begin, begin + 50)
            for n in range(10)
        ]
        path.write_text("\n".join(["id,ts,x,y,p", *rows]) + "\n")
        run.feed_file("E", path)
        most = max(most, int(figures_of(run, "near")["solve"][-1]))
    assert 0 < most <= 6 * 10, "six seconds of A"
    assert len(run.updates) > 100
    for state in solves(run):
        assert state.solver.live.lists[:, ROOM].sum() <= 4 * 6 * 10
        assert all(len(s.order) <= 2 * 6 * 10 + 500 for s in state.shown), "and a batch"


def test_texts_are_forgotten_though_no_event_is_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What always comes last is not kept, but its text has a number for a while."""
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 0)
    planner = Planner()
    planner.run_script(
        STREAM + "CREATE TRIGGER same FOR E AS a, E AS b WHEN a.x < 0 AND a.p = b.p AND b.ts - a.ts IN [1, 5]"
    )
    run = DirectRun(planner.plan())
    for number, rows in enumerate(("a,1,1,0,x\nb,2,2,0,y\n", "a,3,-1,0,z\n", "b,5,1,0,z\nb,6,0,0,z\n")):
        path = tmp_path / f"{number}.csv"
        path.write_text(f"id,ts,x,y,p\n{rows}")
        run.feed_file("E", path)
    assert len(run.updates) == 1


def solves(run: DirectRun) -> list[SolveState]:
    """Of all merge partitions."""
    trees = [t.tree for copies in run.merges for t in copies.engine.takers if isinstance(t, Composed)]
    return [s.state for tree in trees for s in tree.stations if isinstance(s.state, SolveState)]


def test_the_expiry_of_each_variable_is_explained() -> None:
    planner = Planner()
    planner.run_script(STREAM + COLLISION)
    lines = [row[0] for row in explain_query(planner.plan(), "collision").rows]
    assert any(line.endswith("kept at most: V1 10 seconds, V2 5 seconds, V3 not at all") for line in lines)


@pytest.mark.parametrize(
    ("when", "way"),
    [
        ("", "routed by space: tracts of 32, halo V1 2, V2 1, V3 0"),
        (" WITH (route = 'query')", "routed by query"),
        (" AND V3.ts - V1.ts < 9", "routed by space: tracts of 32, halo V1 2, V2 1, V3 0"),
    ],
)
def test_how_it_is_routed_is_explained(when: str, way: str) -> None:
    planner = Planner()
    planner.run_script(STREAM + COLLISION + when)
    lines = [row[0] for row in explain_query(planner.plan(), "collision").rows]
    assert any(line.endswith(f"│ {way}") for line in lines), lines


def test_with_many_triggers_those_that_come_are_routed_by_query_unless_told() -> None:
    """With one of them dropped, the next is one of few again."""
    planner = Planner()
    planner.run_script(STREAM + ";".join(COLLISION.replace("collision", f"c{n}") for n in range(FEW + 1)))

    def way(name: str) -> str:
        lines = [row[0] for row in explain_query(planner.plan(), name).rows]
        return next(line for line in lines if "│ routed" in line).split("│ routed ")[1].split(":")[0]

    assert [way(f"c{n}") for n in (0, FEW - 1, FEW)] == ["by space", "by space", "by query"]
    planner.run_script(COLLISION.replace("collision", "heavy") + " WITH (route = 'space')")
    assert way("heavy") == "by space"
    planner.run_script("; ".join(f"DROP TRIGGER {name}" for name in ("heavy", "c0", "c1")))
    planner.run_script(COLLISION.replace("collision", "next"))
    assert way("next") == "by space"


def test_a_pair_without_a_bound_is_routed_by_query_and_named_if_space_was_asked_for() -> None:
    wide = COLLISION.replace("DISTANCE(V2, V3) < 1", "DISTANCE(V2, V3) > 1")
    planner = Planner()
    planner.run_script(STREAM + wide)
    lines = [row[0] for row in explain_query(planner.plan(), "collision").rows]
    assert any(line.endswith("routed by query") for line in lines)
    with pytest.raises(QueryError) as refused:
        Planner().run_script(STREAM + wide + "WITH (route = 'space')")
    assert refused.value.code == "query.bad_option"
    assert '"V1" and "V3"' in str(refused.value)


# ----- by space


SCATTERED = 1_500
NEAR = """
CREATE TRIGGER {name} FOR E AS a, E AS b, 2 OF E AS c
WHEN a.p = 'A' AND b.p = 'B' AND DISTANCE(a, b) <= {near} AND DISTANCE(b, c) <= 3 AND DISTANCE(c) < 5
 AND WITHIN 400 SECONDS AND a.id < b.id REPORT {report} WITH (route = '{route}')
"""


def scattered(path: Path, far: int = 80) -> Path:
    """Events on whole numbers around 0, two a second."""
    rng = np.random.default_rng(5)
    place, kind = rng.integers(-far, far, (SCATTERED, 2)), rng.choice(list("ABCD"), SCATTERED)
    rows = [f"{n % 97},{n // 2},{x},{y},{k}" for n, ((x, y), k) in enumerate(zip(place, kind, strict=True))]
    path.write_text("\n".join(["id,ts,x,y,p", *rows, f"end,{SCATTERED},0,0,Z"]) + "\n")
    return path


def story(folder: Path, route: str, partitions: int, turns: bool = False) -> DirectRun:
    """One trigger from the start, two that come while it runs, one that goes; and a restart."""

    def near(name: str, near: int, report: str = "ALL") -> str:
        return NEAR.format(name=name, near=near, report=report, route=route)

    living = LivingPlan()
    living.execute(STREAM + near("one", 4))
    run = DirectRun(living.start().plan, 3, 4000, False, turns, living=living, partitions=partitions)
    lines = scattered(folder / "all.csv").read_text().splitlines()
    for part, statement in enumerate((
        near("two", 3), f"{near('three', 5, 'FIRST')}; DROP TRIGGER one", "DROP TRIGGER two", "",
    )):  # fmt: skip
        path = folder / f"{part}.csv"
        path.write_text("\n".join([lines[0], *lines[1 + 375 * part : 376 + 375 * part]]) + "\n")
        run.feed_file("E", path)
        if statement:
            run.execute(statement)
        run.restart(is_snapshot=part % 2 == 0)
    run.close_to("E", 10_000_000_000)
    return run


def test_triggers_come_and_go_by_space_as_by_query(tmp_path: Path) -> None:
    wanted = story(tmp_path, "query", 1).updates
    assert {json.loads(line)["query"] for line in wanted} == {"one", "two", "three"} and len(wanted) > 100
    for partitions, turns in ((4, False), (7, True)):
        run = story(tmp_path, "space", partitions, turns)
        assert run.updates == wanted
        assert run.ask("three") == []


def test_one_heavy_trigger_keeps_all_merge_partitions_busy(tmp_path: Path) -> None:
    """Events are counted at home, and few have to be known in a second place."""
    planner = Planner()
    planner.run_script(STREAM + NEAR.format(name="one", near=1, report="ALL", route="space"))
    run = DirectRun(planner.plan(), partitions=4)
    run.feed_file("E", scattered(tmp_path / "e.csv", far=400))
    trees = [t.tree for copies in run.merges for t in copies.engine.takers if isinstance(t, Composed)]
    stations = [tree.stations for tree in trees]
    solves = [next(s for s in some if isinstance(s.node, nodes.Solve)) for some in stations]
    rows, guests = np.array([(s.rows_in, s.guests) for s in solves]).T
    kinds = [line.split(",")[-1] for line in (tmp_path / "e.csv").read_text().splitlines()[1:-1]]
    assert rows.sum() == len(kinds) + kinds.count("A") + kinds.count("B")
    assert (abs(rows / rows.mean() - 1) < 0.2).all(), rows
    assert guests.sum() < 0.4 * rows.sum(), guests


def test_its_answer_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text(READINGS)
    living = LivingPlan()
    living.execute(STREAM + COLLISION)
    run = DirectRun(living.start().plan)
    run.feed_file("E", path)
    assert len(run.updates) == 1
    assert run.ask("collision") == []


# The squares of such distances overflow, which NumPy would tell.
@pytest.mark.parametrize("how", ["", "WITH (index = 'lists')"])
def test_a_distance_that_reaches_everywhere_is_no_endless_search(tmp_path: Path, how: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text("id,ts,x,y,p\na,1,0,0,\nb,2,-1e150,1e150,\nc,9,0,0,\n")
    planner = Planner()
    when = "V BEFORE W AND DISTANCE(V, W) < 1e308 AND WITHIN 3"
    planner.run_script(f"{STREAM} CREATE TRIGGER t FOR E AS V, E AS W WHEN {when} {how}")
    run = DirectRun(planner.plan())
    run.feed_file("E", path, is_last=True)
    assert [json.loads(u)["row"] for u in run.updates] == [{"V_id": "a", "V_ts": 1, "W_id": "b", "W_ts": 2}]


@pytest.mark.parametrize("wide", [20, 31, 40])
def test_more_columns_may_be_compared_than_the_search_has_bits_for(wide: int, tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(wide)]
    planner = Planner()
    planner.run_script(
        f"CREATE STREAM E (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, {', '.join(f'{n} INT' for n in names)}) "
        "KEY id TIME ts LOCATION (x, y); CREATE TRIGGER up FOR E AS a, E AS b WHEN a.x < 9 "
        f"AND b.ts - a.ts IN [1, 5] AND {' AND '.join(f'a.{n} < b.{n}' for n in names)}"
    )
    # All are larger in the second reading, all but the last in the third.
    rows = [[1] * wide, [2] * wide, [3] * (wide - 1) + [1]]
    path = tmp_path / "e.csv"
    lines = [f"i,{ts},0,0,{','.join(map(str, row))}" for ts, row in enumerate(rows)]
    path.write_text("\n".join([f"id,ts,x,y,{','.join(names)}", *lines, f"i,99,99,0{',0' * wide}"]) + "\n")
    run = DirectRun(planner.plan())
    run.feed_file("E", path)
    assert len(run.updates) == 1
