"""A plan that lives: what a call changes, what it leaves alone, and what is given up."""

from __future__ import annotations

import pickle
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow import table

from sanderling.errors import QueryError
from sanderling.plan.grow.living import Change, LivingPlan
from sanderling.plan.planner import Planner
from sanderling.plans.growth import Growth, grown
from sanderling.plans.parts import for_shards
from sanderling.plans.plan import ALWAYS, NEVER, Nearest, Plan, Regions
from sanderling.state.plans import PLANS

STREAM = """CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, kind STRING)
  KEY id TIME ts LOCATION (x, y);
CREATE STREAM bus (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (tick = '5 s');
"""
QUERIES = """
REGISTER QUERY fast AS SELECT id FROM taxi WHERE speed > 50 INSIDE (0, 0, 10, 10);
REGISTER QUERY slow AS SELECT id FROM taxi WHERE speed > 5 INSIDE (0, 0, 4);
REGISTER QUERY near AS SELECT id FROM taxi INSIDE ('M', 'anna', 5);
"""


@pytest.fixture
def living() -> LivingPlan:
    plan = LivingPlan()
    plan.execute(STREAM + QUERIES)
    plan.start()
    return plan


def names(plan: Plan) -> list[str]:
    return [q.name for q in plan.queries if q.end != ALWAYS]


def same(a: Plan, b: Plan) -> bool:
    """Of what shards need."""
    for ours, theirs in zip(a.streams, b.streams, strict=True):
        if (ours.version, ours.kept) != (theirs.version, theirs.kept):
            return False
        if ours.templates != theirs.templates or not ours.focals.equals(theirs.focals):
            return False
        if not all(x.equals(y) for x, y in zip(ours.constants, theirs.constants, strict=True)):
            return False
        if not _same_regions(ours.regions, theirs.regions) or not _same_nearest(ours.nearest, theirs.nearest):
            return False
    return a.version == b.version


def _same_regions(a: Regions, b: Regions) -> bool:
    columns = [f.name for f in fields(Regions) if f.name != "wkb"]
    return a.wkb == b.wkb and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in columns)


def _same_nearest(a: Nearest, b: Nearest) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Nearest))


def nearest_of(plan: Plan) -> list[tuple[str, int, float, float, str | None, str | None]]:
    """By name: k, place, focal object of kNN, focal object of INSIDE."""
    taxi = plan.streams[0]
    keys = [*taxi.focals.to_pylist(), None]
    n, r = taxi.nearest, taxi.regions
    return [
        (plan.queries[int(r.query[at])].name, int(k), float(x), float(y), keys[focal], keys[r.focal[at]])
        for at, k, x, y, focal in zip(n.region, n.k, n.x, n.y, n.focal, strict=True)
    ]


def test_the_first_plan_keeps_every_column(living: LivingPlan) -> None:
    taxi, bus = living.plan().streams
    assert taxi.kept == ("ts", "speed", "kind") and bus.kept == ("ts",)


def test_a_new_query_gets_the_next_number_and_shares_its_template(living: LivingPlan) -> None:
    change = living.execute("REGISTER QUERY a AS SELECT id FROM taxi WHERE speed > 7 INSIDE (0, 0, 3)")
    assert change.version == 1 and change.new_queries.tolist() == [3] and not change.new_focals
    new, slow = change.plan.queries[3], change.plan.queries[2]
    assert (new.name, new.template) == ("a", slow.template)
    taxi = change.plan.streams[0]
    assert taxi.constants[new.template].column(0).to_pylist() == [50, 5, 7]
    assert taxi.regions.row_in_template[taxi.regions.query == 3].tolist() == [2]
    assert (
        taxi.version == 1
        and taxi.regions.came.tolist() == [0, 0, 0, 1]
        and change.plan.streams[1].version == 0
    )


def test_a_dropped_query_keeps_its_number_and_its_name_gets_another(living: LivingPlan) -> None:
    assert living.execute("DROP QUERY near").dropped.tolist() == [1]
    change = living.execute("REGISTER QUERY near AS SELECT id FROM taxi INSIDE ('M', 'anna', 6)")
    assert change.new_queries.tolist() == [3] and names(change.plan) == ["fast", "slow", "near"]
    assert [q.name for q in change.plan.queries] == ["fast", "near", "slow", "near"]
    assert change.plan.queries[1].end == ALWAYS and change.plan.queries[3].end == NEVER
    assert change.new_focals["taxi"].to_pylist() == ["anna"]


def test_what_nobody_needs_any_more_is_given_up(living: LivingPlan) -> None:
    taxi = living.execute("DROP QUERY near").plan.streams[0]
    assert len(taxi.focals) == 0 and len(taxi.templates) == 1 and taxi.regions.query.tolist() == [0, 2]
    taxi = living.execute("DROP QUERY fast; DROP QUERY slow").plan.streams[0]
    assert not taxi.templates and not taxi.constants and not len(taxi.regions)
    # Its number is not given again.
    change = living.execute("REGISTER QUERY a AS SELECT id FROM taxi")
    assert [t.id for t in change.plan.streams[0].templates] == [2]


def test_drop_and_register_in_one_go(living: LivingPlan) -> None:
    change = living.execute(
        "DROP QUERY near; REGISTER QUERY near AS SELECT id FROM taxi INSIDE ('M', 'anna', 9)"
    )
    assert (change.version, change.dropped.tolist(), change.new_queries.tolist()) == (1, [1], [3])
    assert not change.new_focals  # everybody knows her already


def test_registered_and_dropped_in_one_go_was_never_there(living: LivingPlan) -> None:
    before = living.plan()
    change = living.execute("REGISTER QUERY a AS SELECT id FROM taxi INSIDE ('M', 'ben', 9); DROP QUERY a")
    assert change.plan.streams[0] is before.streams[0] and not len(change.new_queries)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("REGISTER QUERY a AS SELECT id FROM taxi; DROP QUERY fast; DROP QUERY no", "query.unknown_query"),
        ("CREATE REGION r AS CIRCLE (0, 0, 1); AT 9 DROP QUERY fast; "
         "REGISTER QUERY slow AS SELECT id FROM taxi", "query.name_taken"),
        ("DROP QUERY slow; CREATE STREAM s (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts "
         "LOCATION (x, y)", "query.already_running"),
        ("DROP STREAM bus", "query.already_running"),
        ("REGISTER QUERY a AS SELECT id FROM taxi INSIDE r; CREATE REGION r AS CIRCLE (0, 0, 1)",
         "query.unknown_region"),
    ],
)  # fmt: skip
def test_a_refused_call_leaves_everything_as_it_was(living: LivingPlan, text: str, code: str) -> None:
    before = living.plan()
    shown = [living.run_script(f"SHOW {kind}") for kind in ("STREAMS", "TABLES", "REGIONS", "QUERIES")]
    with pytest.raises(QueryError) as refused:
        living.execute(text)
    assert refused.value.code == code and refused.value.place is not None
    assert living.plan() is before and living.version == 0
    assert shown == [living.run_script(f"SHOW {k}") for k in ("STREAMS", "TABLES", "REGIONS", "QUERIES")]
    change = living.execute("DROP QUERY fast; REGISTER QUERY a AS SELECT id FROM taxi")
    assert (change.version, change.dropped.tolist(), change.new_queries.tolist()) == (1, [0], [3])


def test_a_call_that_plans_nothing_makes_no_version(living: LivingPlan) -> None:
    change = living.execute("CREATE REGION r AS CIRCLE (0, 0, 1); SHOW QUERIES")
    assert change.version == 0 and change.growth is None and len(change.listings) == 1
    assert living.execute("REGISTER QUERY a AS SELECT id FROM taxi INSIDE r").version == 1


def test_an_end_at_a_time_stays_in_the_plan(living: LivingPlan) -> None:
    plan = living.execute("AT 20 DROP QUERY near; AT 30 REGISTER QUERY a AS SELECT id FROM bus").plan
    regions = plan.streams[0].regions
    assert regions.end[regions.query == 1].tolist() == [20_000_000] == [plan.queries[1].end]
    assert plan.streams[1].regions.begin.tolist() == [30_000_000]


def test_a_name_is_free_from_the_tick_on_at_which_its_query_ends(living: LivingPlan) -> None:
    living.execute("AT 21 DROP QUERY near")
    plan = living.execute("REGISTER QUERY near AS SELECT id FROM bus").plan
    assert plan.queries[3].begin == 25_000_000


def test_a_table_of_the_same_name_may_have_other_columns(living: LivingPlan, tmp_path: Path) -> None:
    feature = '{"type": "Feature", "properties": {"name": "a"%s}, "geometry": {"type": "Polygon", ' \
              '"coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}}'  # fmt: skip
    for number, more in enumerate(("", ', "more": 7')):
        text = '{"type": "FeatureCollection", "features": [%s]}' % (feature % more)
        (tmp_path / f"{number}.geojson").write_text(text)
    ask = "REGISTER QUERY f AS SELECT o.id, t.name FROM taxi o, t WHERE o.location INSIDE t.region"
    living.execute(f"CREATE TABLE t KEY name WITH (path = '{tmp_path}/0.geojson'); {ask}")
    change = living.execute(
        f"DROP QUERY f; DROP TABLE t; CREATE TABLE t KEY name WITH (path = '{tmp_path}/1.geojson'); {ask}"
    )
    assert "t:more" in change.plan.streams[0].constants[-1].column_names


def test_what_is_grown_elsewhere_is_the_same(living: LivingPlan, tmp_path: Path) -> None:
    queries = {"name": ["t0", "t1"], "template": ["SELECT id FROM taxi INSIDE ('M', :who, :r)"] * 2,
               "parameters": [{"who": "ben", "r": 2.0}, {"who": "anna", "r": 1.5}]}  # fmt: skip
    pq.write_table(table(queries), tmp_path / "queries.parquet")
    elsewhere = for_shards(living.plan())
    for text in (
        "REGISTER QUERY a AS SELECT id, kind FROM taxi WHERE kind = 'x'",
        f"REGISTER QUERIES FROM '{tmp_path}/queries.parquet'; DROP QUERY near; DROP QUERY fast",
        "AT 50 DROP QUERY t0; REGISTER QUERY b AS SELECT id FROM bus INSIDE POLYGON ((0 0, 1 0, 1 1, 0 0))",
        "REGISTER QUERY k AS SELECT id FROM taxi kNN ('M', 3, 'emil'); "
        "REGISTER QUERY l AS SELECT id FROM taxi kNN (2, 1, 1)",
        "DROP QUERY t1; DROP QUERY a; DROP QUERY k; "
        "REGISTER QUERY a AS SELECT id FROM taxi INSIDE ('M', 'cleo', 2)",
    ):
        change = living.execute(text)
        elsewhere = grown(elsewhere, PLANS.decoded(PLANS.encoded(change.growth), Growth))
        assert same(elsewhere, change.plan), text


def test_put_aside_it_goes_on_where_it_was(living: LivingPlan) -> None:
    living.execute("DROP QUERY fast; CREATE REGION r AS CIRCLE (0, 0, 1); AT 9 DROP QUERY near")
    again = pickle.loads(pickle.dumps(living))
    text = "REGISTER QUERY near AS SELECT id FROM taxi WHERE speed > 7 INSIDE r; DROP QUERY slow"
    ours, theirs = living.execute(text), again.execute(text)
    assert same(ours.plan, theirs.plan) and ours.new_queries.tolist() == theirs.new_queries.tolist() == [3]


def test_explain_counts_who_is_there(living: LivingPlan) -> None:
    living.execute("DROP QUERY fast")
    (listing,) = living.execute("EXPLAIN slow").listings
    assert any("shared by 1 query" in line for (line,) in listing.rows)
    (listing,) = living.execute("REGISTER QUERY a AS SELECT id FROM taxi WHERE speed > 1; EXPLAIN a").listings
    assert any("shared by 2 queries" in line for (line,) in listing.rows)


def test_the_same_queries_as_if_they_had_been_there_from_the_start(living: LivingPlan) -> None:
    text = "REGISTER QUERY a AS SELECT id FROM taxi WHERE kind = 'x' INSIDE ('M', 'ben', 3, 4)"
    change: Change = living.execute(text)
    planner = Planner()
    planner.run_script(STREAM + QUERIES + text)
    at_once = planner.plan()
    by_name = [at_once.queries[number].name for number in at_once.streams[0].regions.query]
    ours = change.plan.streams[0]
    order = [by_name.index(change.plan.queries[int(number)].name) for number in ours.regions.query]
    for column in ("kind", "a", "b", "c", "d", "begin", "end"):
        wanted = getattr(at_once.streams[0].regions, column)[order]
        assert getattr(ours.regions, column).tolist() == wanted.tolist()
    focals = [None if f < 0 else ours.focals[int(f)].as_py() for f in ours.regions.focal]
    theirs = at_once.streams[0]
    assert focals == [
        None if (f := theirs.regions.focal[i]) < 0 else theirs.focals[int(f)].as_py() for i in order
    ]


def test_the_nearest_come_and_go_with_their_focal_objects(living: LivingPlan) -> None:
    change = living.execute(
        "REGISTER QUERY a AS SELECT id FROM taxi kNN (3, 1, 2); "
        "REGISTER QUERY b AS SELECT id FROM taxi INSIDE ('M', 'ben', 5) kNN ('M', 2, 'anna'); "
        "REGISTER QUERY c AS SELECT id FROM taxi kNN ('M', 1, 'cleo')"
    )
    assert nearest_of(change.plan) == [
        ("a", 3, 1, 2, None, None), ("b", 2, 0, 0, "anna", "ben"), ("c", 1, 0, 0, "cleo", None),
    ]  # fmt: skip
    assert change.new_focals["taxi"].to_pylist() == ["ben", "cleo"]
    # Anna is followed by a kNN query still; the regions before those that are left are gone.
    plan = living.execute("DROP QUERY near; DROP QUERY fast; DROP QUERY a").plan
    assert nearest_of(plan) == [("b", 2, 0, 0, "anna", "ben"), ("c", 1, 0, 0, "cleo", None)]
    change = living.execute("DROP QUERY b; REGISTER QUERY d AS SELECT id FROM taxi kNN ('M', 4, 'ben')")
    assert nearest_of(change.plan) == [("c", 1, 0, 0, "cleo", None), ("d", 4, 0, 0, "ben", None)]
    assert change.plan.streams[0].focals.to_pylist() == ["cleo", "ben"] and not change.new_focals
    plan = living.execute("DROP QUERY c; DROP QUERY d").plan
    assert nearest_of(plan) == [] and len(plan.streams[0].focals) == 0


def test_trees_over_one_scan_share_its_template() -> None:
    plan = LivingPlan()
    plan.execute(
        STREAM
        + "REGISTER QUERY most AS SELECT kind, MAX(speed) AS v FROM taxi INSIDE (0, 0, 4) GROUP BY kind;"
        "REGISTER QUERY least AS SELECT kind, MIN(speed) AS v FROM taxi INSIDE (0, 0, 5) GROUP BY kind;"
    )
    started = plan.start().plan
    one, other = started.trees
    assert one.branches == other.branches
    assert [tree.template.id for tree in started.consumers()[one.branches[0]]] == [0, 2]
    left = plan.execute("DROP QUERY most").plan
    assert [tree.branches for tree in left.trees] == [one.branches]
    assert [t.id for t in left.stream("taxi").templates] == list(one.branches)


def test_a_tree_that_has_a_scan_twice_has_two_templates() -> None:
    planner = Planner()
    planner.run_script(
        STREAM + "REGISTER QUERY q AS SELECT a.id FROM taxi a, taxi b WHERE a.speed = b.speed;"
    )
    (tree,) = planner.plan().trees
    assert len(set(tree.branches)) == 2
