"""SELECTs that are not registered, over files: now, as at a time, and between two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sanderling.ask.files import FilesPast
from sanderling.ask.script import Asked
from sanderling.errors import QueryError
from sanderling.plan.planner import Planner
from tests.ask.asking import of_files, rows_of

STREAM = """CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, kind STRING, off BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE off WITH (path = '{path}', lateness = 1, stale_after = 5);
CREATE REGION depot AS RECT (0, 0, 5, 5);
REGISTER QUERY in_depot AS SELECT id, x, y FROM cars INSIDE depot;
"""
# One reading replaces another, one is late, and one says that its car is gone.
READINGS = """id,ts,x,y,kind,off
anna,1,1,1,,
ben,1,9,9,bus,
anna,3,2,2,cab,
anna,3,3,3,cab,
carl,4,4,4,,
carl,7,4,4,,true
anna,5,0,0,late,
ben,8,5,5,bus,
"""


@pytest.fixture
def planner(tmp_path: Path) -> Planner:
    path = tmp_path / "cars.csv"
    path.write_text(READINGS)
    planner = Planner()
    planner.run_script(STREAM.format(path=path))
    return planner


CASES: dict[str, list[tuple[Any, ...]]] = {
    "SELECT id FROM cars": [("anna",), ("ben",)],
    "SELECT id FROM cars ORDER BY id DESC": [("ben",), ("anna",)],
    "SELECT id FROM cars AS OF 4 INSIDE depot": [("anna",), ("carl",)],
    "AT 4 SELECT id FROM in_depot ORDER BY x DESC": [("carl",), ("anna",)],
    "SELECT id FROM in_depot FOR SYSTEM_TIME AS OF '1970-01-01 00:00:04' d WHERE d.x > 3": [("carl",)],
    "SELECT id FROM cars TIMESTAMP AS OF 7": [("anna",)],  # ben is silent, and comes again
    "SELECT id, kind FROM cars AS OF 4 ORDER BY kind NULLS LAST, id": [
        ("ben", "bus"), ("anna", "cab"), ("carl", None),
    ],
    "SELECT id, kind FROM cars AS OF 4 ORDER BY 2 DESC NULLS FIRST, 1 LIMIT 2": [
        ("carl", None), ("anna", "cab"),
    ],
    "SELECT a.id, b.id AS o FROM cars AS OF 4 a, cars AS OF 4 b WHERE DISTANCE(a, b) < 2 AND a.id < b.id": [
        ("anna", "carl")
    ],
    "SELECT COUNT(*) AS n FROM cars AS OF 4 [RANGE 2 SECONDS]": [(2,)],
    "SELECT id, x FROM cars BETWEEN 1 AND 4": [("anna", 1.0), ("anna", 3.0), ("ben", 9.0), ("carl", 4.0)],
    "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS cars FROM cars BETWEEN 1 AND NOW": [(5, 3)],
    "SELECT COUNT(*) AS n FROM cars BETWEEN 20 AND 30": [(0,)],
    "SELECT id, COUNT(*) AS n FROM cars BETWEEN 1 AND 8 INSIDE depot GROUP BY id ORDER BY n DESC, id": [
        ("anna", 2), ("ben", 1), ("carl", 1),
    ],
    "SELECT sign, id FROM in_depot BETWEEN 4 AND NOW ORDER BY tick, sign, id": [
        (1, "carl"), (-1, "carl"), (1, "ben"),
    ],
    "SELECT id FROM in_depot BETWEEN 1 AND NOW WHERE sign > 0 INSIDE (3, 3, 4, 4)": [("anna",), ("carl",)],
    "SELECT id FROM cars AS OF 1 UNION SELECT id FROM cars AS OF 1 WHERE x > 5 ORDER BY id DESC": [
        ("ben",), ("anna",),
    ],
    "WITH w AS (SELECT id, x FROM cars AS OF 4) SELECT id FROM w ORDER BY x DESC LIMIT 1": [("ben",)],
    "SELECT id FROM cars AS OF 0": [],
    "SELECT name, kind FROM LAST QUERIES WHERE sql LIKE '%depot%'": [("in_depot", "query")],
    "SELECT name, x, y FROM LAST QUERIES INSIDE (2, 2, 3, 3)": [("in_depot", 2.5, 2.5)],
    "SELECT name FROM LAST QUERIES INSIDE (3, 3, 9, 9)": [],
    "SELECT name, k FROM LAST QUERIES kNN (1, 0, 0)": [("in_depot", None)],
}  # fmt: skip


@pytest.mark.parametrize("sql", CASES)
def test_is_answered(sql: str, planner: Planner, tmp_path: Path) -> None:
    assert of_files(planner, sql, tmp_path) == CASES[sql]


@pytest.mark.parametrize(
    "sql, code, what",
    [
        ("SELECT cars.id FROM cars AS OF 3, in_depot", "query.different_times", "in_depot"),
        ("SELECT 1 AS n FROM cars AS OF 3 a, cars AS OF 4 b", "query.different_times", "AS OF 4"),
        ("AT 3 SELECT id FROM cars AS OF 4", "query.different_times", "AS OF 4"),
        ("SELECT id FROM cars BETWEEN 4 AND 3", "query.bad_time", "BETWEEN 4 AND 3"),
        ("SELECT id FROM cars AS OF 'noon'", "query.bad_time", "'noon'"),
        ("SELECT id FROM depot BETWEEN 4 AND 5", "query.unknown_stream", "BETWEEN 4 AND 5"),
        ("SELECT DISTINCT kind FROM cars ORDER BY x", "query.unsupported", "SELECT DISTINCT kind FROM cars"),
        ("REGISTER QUERY q AS SELECT id FROM cars AS OF 4", "query.unsupported", "AS"),
        ("SELECT id FROM cars LIMIT 3", "query.missing_clause", "3"),
    ],
)  # fmt: skip
def test_is_refused_where_it_is_wrong(
    sql: str, code: str, what: str, planner: Planner, tmp_path: Path
) -> None:
    with pytest.raises(QueryError) as e:
        of_files(planner, sql, tmp_path)
    assert e.value.code == code and e.value.hint
    place = e.value.place
    assert place is not None and sql[place.column - 1 :].startswith(what[: place.length])


def test_what_a_script_says_behind_a_select_does_not_show_in_it(planner: Planner, tmp_path: Path) -> None:
    asked = Asked(planner)
    planner.run_script("AT 4 SELECT id FROM cars WHERE y > 2; SELECT id FROM in_depot; DROP QUERY in_depot")
    first, later = asked.answers(FilesPast(tmp_path))  # those of a time come behind all others
    assert (rows_of(first), rows_of(later)) == ([("anna",), ("ben",)], [("anna",), ("ben",), ("carl",)])


def test_statements_and_a_select_that_nobody_takes(planner: Planner) -> None:
    with pytest.raises(QueryError) as e:
        planner.run_script("DROP QUERY in_depot; SELECT id FROM cars")
    assert e.value.code == "query.not_alone"
