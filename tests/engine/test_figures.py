"""EXPLAIN ANALYZE counts the same however readings are cut, sharded, and handed from copy to copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.plan.explain.explain import explain_query
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun

CARS = """
CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, kind STRING, speed DOUBLE)
  KEY id TIME ts LOCATION (x, y);
"""

# Ticks 1 to 4; what is after the last closes it.
READINGS = """id,ts,x,y,kind,speed
1,1,0,0,car,10
2,1,1,1,bus,10
3,1,50,50,car,10
1,2,2,2,car,30
2,2,60,60,bus,10
3,3,3,3,car,1
1,9,2,2,car,30
"""


def figures_of(run: DirectRun, name: str) -> dict[str, tuple[str, ...]]:
    """By the first word of a line: rows in, rows out, rows held."""
    listing = explain_query(run.plan, name, run.figures)
    assert listing.columns == ("plan", "rows in", "rows out", "rows held", "seconds")
    return {row[0].lstrip(" │├└─").split(" ")[0].rstrip(":"): row[1:4] for row in listing.rows}


def run_of(
    tmp_path: Path, sql: str, shards: int = 1, slice_bytes: int = 1 << 20, turns: bool = False
) -> DirectRun:
    path = tmp_path / "cars.csv"
    path.write_text(READINGS)
    planner = Planner()
    planner.run_script(CARS + sql)
    run = DirectRun(planner.plan(), shards, slice_bytes, takes_turns=turns)
    run.feed_file("cars", path)
    return run


WAYS = pytest.mark.parametrize(
    ("shards", "slice_bytes", "turns"), [(1, 1 << 20, False), (1, 12, False), (3, 12, False), (3, 12, True)]
)


@WAYS
def test_a_plain_query(tmp_path: Path, shards: int, slice_bytes: int, turns: bool) -> None:
    sql = "REGISTER QUERY q AS SELECT id, speed FROM cars WHERE speed > 5 INSIDE (0, 0, 10, 10)"
    found = figures_of(run_of(tmp_path, sql, shards, slice_bytes, turns), "q")
    assert found["last"] == ("7", "6", "3")  # all but the last count, since nothing later has come
    assert found["where"] == ("6", "5", "")
    assert found["inside"][:2] == ("6", "4")  # 1 and 2 come, 1 changes its speed, 2 leaves
    assert found["select"] == ("5", "5", "")  # of a change − and +
    assert found["deliver"] == ("", "", "")


@WAYS
def test_a_composed_query(tmp_path: Path, shards: int, slice_bytes: int, turns: bool) -> None:
    sql = "REGISTER QUERY q AS SELECT kind, COUNT(*) AS n FROM cars INSIDE (0, 0, 10, 10) GROUP BY kind"
    found = figures_of(run_of(tmp_path, sql, shards, slice_bytes, turns), "q")
    assert found["rows"] == ("4", "4", "")  # 1, 2, 3 come, 2 leaves
    assert found["aggregate"] == ("4", "5", "1")  # car 1, bus 1; no bus; car 2 for car 1


PATTERN = """REGISTER PATTERN q AS WITH a AS (SELECT id FROM cars INSIDE (0, 0, 10, 10)),
b AS (SELECT id FROM cars WHERE speed > 20), c AS (SELECT id FROM cars WHERE kind = 'bus')
SELECT id FROM a THEN NOT c THEN b WITHIN 1 SECOND THEN NOT c AS d WITHIN 4 SECONDS {}"""


@WAYS
@pytest.mark.parametrize("options", ["", "WITH (feedback = 'off')"])
def test_a_pattern_position_by_position(
    tmp_path: Path, shards: int, slice_bytes: int, turns: bool, options: str
) -> None:
    """1 is in a, is fast, and is no bus for so long; 2 is a bus; 3 is not fast in time."""
    run = run_of(tmp_path, PATTERN.format(options), shards, slice_bytes, turns)
    listing = explain_query(run.plan, "q", run.figures)
    rows = [row for row in listing.rows if row[0].lstrip(" │")[:2] in ("1 ", "! ", "2 ", "3 ")]
    assert {row[0].lstrip(" │"): row[1:4] for row in rows} == {
        "1  a": ("3", "3", "0"),
        "!  c: breaks it": ("", "", ""),
        "2  b, within 1 second of 1: 1 broken, 1 timed out": ("3", "1", "0"),
        "!  d: breaks it": ("", "", ""),
        "3  nothing of that, within 4 seconds of 2": ("1", "1", "0"),
    }


@WAYS
def test_a_tree_in_shards(tmp_path: Path, shards: int, slice_bytes: int, turns: bool) -> None:
    sql = "REGISTER QUERY q AS SELECT id, COUNT(*) AS n FROM cars INSIDE (0, 0, 10, 10) GROUP BY id"
    found = figures_of(run_of(tmp_path, sql, shards, slice_bytes, turns), "q")
    assert found["rows"] == ("4", "4", "")  # 1, 2, 3 come, 2 leaves
    assert found["aggregate"] == ("4", "4", "2")
    assert found["merge"] == ("", "", "")


@WAYS
def test_a_tree_on_both_sides(tmp_path: Path, shards: int, slice_bytes: int, turns: bool) -> None:
    sql = "REGISTER QUERY q AS SELECT MAX(id) AS m FROM (SELECT DISTINCT id, kind FROM cars WINDOW 9 s) AS a"
    run = run_of(tmp_path, sql, shards, slice_bytes, turns)
    lines = {row[0].lstrip(" │├└─"): row[1:4] for row in explain_query(run.plan, "q", run.figures).rows}
    assert lines["aggregate: MAX(id) AS m   [merge]"] == ("3", "1", "4")  # a group, and its values
    assert lines["rows of all shards   [merge]"] == ("3", "3", "")
    assert lines["distinct   [shard]"] == ("6", "3", "3")
    assert lines["rows of cars   [shard]"] == ("6", "6", "")


@WAYS
def test_a_window(tmp_path: Path, shards: int, slice_bytes: int, turns: bool) -> None:
    sql = "REGISTER QUERY q AS SELECT id, ts FROM cars INSIDE (0, 0, 10, 10) WINDOW 2 seconds"
    found = figures_of(run_of(tmp_path, sql, shards, slice_bytes, turns), "q")
    assert found["window"][:2] == ("6", "6")
    assert found["inside"][:2] == ("12", "8")


def test_the_nearest(tmp_path: Path) -> None:
    found = figures_of(run_of(tmp_path, "REGISTER QUERY q AS SELECT id FROM cars kNN (1, 0, 0)"), "q")
    assert found["knn"][0] == "6"
    assert found["merge"][1] == "1"  # the first car comes and stays the nearest


def test_who_speaks_because_time_passes_says_when(tmp_path: Path) -> None:
    side, two = "cars [RANGE 20 SECONDS]", "a.id AS one, b.id AS other"
    sql = f"REGISTER QUERY q AS SELECT {two} FROM {side} a, {side} b WHERE STAY_WITHIN(a, b, 5)"
    run = run_of(tmp_path, sql)
    lines = [(row[0].lstrip(" │├└─"), row[3]) for row in explain_query(run.plan, "q", run.figures).rows]
    (at,) = [i for i, (line, _) in enumerate(lines) if line.startswith("company")]
    # Each with itself, and 1 with 3; 1 and 2 have parted. Those of tick 1 will have stayed at 20.
    assert lines[at][1] == "4" and lines[at + 1][0] == "due at 1970-01-01T00:00:20Z"
