"""Tables that change: what a plan says of them, version by version."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sanderling.catalog import Table
from sanderling.clock import ALWAYS, NEVER
from sanderling.errors import QueryError
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from sanderling.plans.growth import grown
from sanderling.plans.plan import PlannedTable
from sanderling.plans.tables import planned_table, with_changes

FENCES = """{"type": "FeatureCollection", "features": [
{"type": "Feature", "properties": {"name": "west", "level": 1}, "geometry": {"type": "Polygon",
 "coordinates": [[[0, 0], [5, 0], [5, 9], [0, 9], [0, 0]]]}},
{"type": "Feature", "properties": {"name": "east", "level": 2}, "geometry": {"type": "Polygon",
 "coordinates": [[[5, 0], [9, 0], [9, 9], [5, 9], [5, 0]]]}}]}"""
SQUARE = "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))"
STREAM = """CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (tick = '5 s');"""
QUERY = "REGISTER QUERY q AS SELECT id, name FROM taxi, fences WHERE location INSIDE region;"


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "fences.geojson").write_text(FENCES)
    return f"CREATE TABLE fences KEY name WITH (path = '{tmp_path / 'fences.geojson'}');"


@pytest.fixture
def living(table: str) -> LivingPlan:
    plan = LivingPlan()
    plan.execute(table + STREAM + QUERY)
    plan.start()
    return plan


def fences_of(planner: Planner) -> Table:
    found = planner.tables.get("fences")
    assert found is not None
    return found


def signed(table: PlannedTable) -> list[tuple[int, int, int, str]]:
    names = table.rows.column("name").to_pylist()
    return list(zip(table.time.tolist(), table.version.tolist(), table.sign.tolist(), names, strict=True))


def test_a_script_makes_rows_that_are_there_from_tick_to_tick(table: str) -> None:
    planner = Planner()
    planner.run_script(f"""{table}{STREAM}{QUERY}
        AT 12 INSERT INTO fences VALUES ('new', 3, {SQUARE});
        AT 21 DELETE FROM fences WHERE level < 3;
        AT 12 DELETE FROM fences WHERE name = 'west';
        INSERT INTO fences VALUES ('never', 3, {SQUARE});
        DELETE FROM fences WHERE name = 'never'""")
    regions, s = planner.plan().streams[0].regions, 1_000_000
    lives = list(zip(regions.row.tolist(), regions.begin.tolist(), regions.gone.tolist(), strict=True))
    assert lives == [(0, ALWAYS, 15 * s), (1, ALWAYS, 25 * s), (3, 15 * s, NEVER)]
    assert Counter(signed(planned_table(fences_of(planner)))) == Counter(
        [(ALWAYS, 0, 1, "west"), (ALWAYS, 0, 1, "east"), (12 * s, 0, 1, "new"), (12 * s, 0, -1, "west"),
         (21 * s, 0, -1, "east")]
    )  # fmt: skip


def test_a_change_of_a_table_is_a_version(living: LivingPlan) -> None:
    first = living.plan()
    change = living.execute(
        f"DELETE FROM fences WHERE name = 'east'; INSERT INTO fences VALUES ('new', NULL, {SQUARE})"
    )
    assert change.version == 1 and not len(change.new_queries) and not len(change.dropped)
    regions = change.plan.streams[0].regions
    assert regions.query.tolist() == [0, 0, 0] and regions.row.tolist() == [0, 1, 2]
    assert regions.came.tolist() == [0, 0, 1] and regions.left.tolist() == [0, 1, 1]
    assert regions.gone.tolist() == [NEVER, ALWAYS, NEVER]
    (constants,) = change.plan.streams[0].constants
    assert constants.column("t:name").to_pylist() == ["west", "east", "new"]
    # Whoever is sent the growth comes to the same.
    sent = grown(first, pickle.loads(pickle.dumps(change.growth))).streams[0]
    assert np.array_equal(sent.regions.gone, regions.gone) and sent.regions.wkb == regions.wkb


def test_a_new_query_knows_only_rows_that_are_there(living: LivingPlan) -> None:
    living.execute("DELETE FROM fences WHERE name = 'east'")
    change = living.execute(QUERY.replace(" q ", " p "))
    regions = change.plan.streams[0].regions
    assert regions.row[regions.query == 1].tolist() == [0]


def test_a_table_that_no_query_reads_changes_without_a_version(living: LivingPlan) -> None:
    living.execute("DROP QUERY q")
    assert living.execute("DELETE FROM fences").growth is None
    assert len(living.execute(QUERY).plan.streams[0].regions) == 0


def test_what_is_refused_leaves_the_table_as_it_was(living: LivingPlan) -> None:
    before = fences_of(living)
    with pytest.raises(QueryError, match="duplicate_key"):
        living.execute(
            f"DELETE FROM fences; INSERT INTO fences VALUES ('a', 1, {SQUARE}), ('a', 1, {SQUARE})"
        )
    assert fences_of(living) is before and living.version == 0
    assert living.execute("SHOW TABLES").growth is None


def test_a_key_that_is_taken_for_some_time_to_come_is_free_after_it(living: LivingPlan) -> None:
    living.execute("AT 100 DELETE FROM fences WHERE name = 'east'")
    regions = living.execute(f"INSERT INTO fences VALUES ('east', 7, {SQUARE})").plan.streams[0].regions
    assert regions.begin.tolist() == [ALWAYS, ALWAYS, 100_000_000]
    assert regions.gone.tolist() == [NEVER, 100_000_000, NEVER]


def test_refresh_changes_what_the_file_changes(living: LivingPlan, tmp_path: Path) -> None:
    assert living.execute("REFRESH TABLE fences").plan.streams[0].regions.left.tolist() == [0, 0]
    (tmp_path / "fences.geojson").write_text(FENCES.replace('"level": 2', '"level": 3'))
    regions = living.execute("REFRESH TABLE fences").plan.streams[0].regions
    assert regions.row.tolist() == [0, 1, 2] and (regions.gone == NEVER).tolist() == [True, False, True]


def test_planned_tables_grow_by_what_changed(living: LivingPlan) -> None:
    tables = (planned_table(before := fences_of(living)),)
    texts = (
        f"AT 50 INSERT INTO fences VALUES ('later', 3, {SQUARE})",
        "DELETE FROM fences WHERE name IN ('later', 'west')",
        f"INSERT INTO fences VALUES ('west', 4, {SQUARE}); AT 70 DELETE FROM fences WHERE level = 4",
    )
    for version, text in enumerate(texts, 1):
        living.execute(text)
        tables = with_changes(tables, [planned_table(fences_of(living), before, version)])
        before = fences_of(living)
    (table,) = tables
    assert signed(table)[2:] == [
        (50_000_000, 1, 1, "later"), (ALWAYS, 2, -1, "west"), (50_000_000, 2, -1, "later"),
        (ALWAYS, 3, 1, "west"), (70_000_000, 3, -1, "west"),
    ]  # fmt: skip
