"""Trees in shards and in merge partitions tell the same, however readings are cut, placed and interrupted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plan.rules.place import place
from sanderling.plans.plan import Plan
from tests.properties.chance import Chance, made_of
from tests.properties.runs import fences
from tests.properties.test_sql import MANY, Case, case, declarations, updates_of

__all__ = ["fences"]

# By what is left for merge partitions.
FINISHED = [
    "SELECT id, COUNT(*) AS c, MAX(speed) AS m, AVG(n) AS a FROM objects WINDOW 3 seconds GROUP BY id",
    "SELECT id, kind, COUNT(*) AS c FROM objects INSIDE (0, 0, 4, 4) WINDOW 2 ROWS PER KEY GROUP BY kind, id"
    " HAVING COUNT(*) > 1",
    "SELECT DISTINCT id, kind FROM objects WINDOW 4 seconds",
    "SELECT o.id, s.name, s.size FROM objects o JOIN sites s ON o.kind = s.kind",
    "SELECT o.id, s.name FROM objects o LEFT JOIN sites s ON o.kind = s.kind AND s.size > 0",
    "SELECT s.name, o.id FROM sites s JOIN objects o ON DISTANCE(s, o) <= 2",
    "SELECT o.id, s.name FROM objects o, sites s WHERE DISTANCE(o, s) <= s.size",
    "SELECT a.id, a.speed, b.speed AS was FROM objects a"
    " JOIN (SELECT id, speed FROM objects WINDOW 3 seconds) AS b ON a.id = b.id",
    "WITH w AS (SELECT id, kind FROM objects WINDOW 3 seconds) SELECT id, kind FROM w"
    " EXCEPT SELECT id, kind FROM objects WHERE speed > 1",
    "SELECT id FROM objects INTERSECT ALL SELECT id FROM objects WINDOW 5 seconds",
    "SELECT id, speed FROM objects INSIDE (0, 0, 4, 4) PERSISTENCY 2 SECONDS GRACE 1 SECOND",
    "SELECT id, kind, n FROM objects PERSISTENCY 1 SECOND PER (kind, id) WHILE n >= PREVIOUS(n)",
    "SELECT id, kind FROM objects WHERE TICK() - ts > 2",
    "SELECT id, n FROM objects WHERE n > 0 UNION ALL SELECT id, n FROM objects INSIDE (0, 0, 2)",
]
HALF = [
    "SELECT kind, COUNT(*) AS c FROM (SELECT DISTINCT id, kind FROM objects WINDOW 3 seconds) AS a"
    " GROUP BY kind",
    "SELECT kind FROM objects PERSISTENCY 2 SECONDS GRACE 2 SECONDS",
    "SELECT COUNT(*) AS c FROM (SELECT id FROM objects INSIDE (0, 0, 3) PERSISTENCY 2 SECONDS) AS a",
    "SELECT kind, COUNT(*) AS c FROM objects WHERE TICK() >= ts + 2 GROUP BY kind"
    " HAVING TICK() - MAX(ts) < 5",
    "SELECT s.kind FROM objects o JOIN sites s ON o.kind = s.kind",
    "SELECT o.id, a.c FROM objects o, (SELECT COUNT(*) AS c FROM objects WHERE n > 0) AS a WHERE o.n < a.c",
    "SELECT b.id FROM objects a LEFT JOIN (SELECT id FROM objects WHERE speed > 1) AS b ON a.id = b.id",
    "WITH w AS (SELECT id, kind FROM objects) SELECT a.id, b.kind FROM (SELECT DISTINCT id, kind FROM w) AS a"
    " JOIN w AS b ON a.kind = b.kind",
    "SELECT COUNT(*) AS c, SUM(m) AS s"
    " FROM (SELECT id, MAX(n) AS m FROM objects WINDOW 2 seconds GROUP BY id) AS a",
]


def planned(case: Case, asked: list[str], folder: Path, fences: Path, is_placed: bool) -> Plan:
    """The last is registered again later, and dropped meanwhile."""
    planner = Planner(rules=[rule for rule in RULES if is_placed or rule is not place])
    statements = declarations(folder, fences, case.scene)
    statements += [f"REGISTER QUERY q{i} AS {sql}" for i, sql in enumerate(asked)]
    statements += [f"AT 3 DROP QUERY q{len(asked) - 1}", f"AT 4 REGISTER QUERY later AS {asked[-1]}"]
    statements += [f"AT {change.at_s} {change.sql}" for change in case.scene.changes[1:]]
    planner.run_script(";\n".join(statements))
    return planner.plan()


@MANY
@given(chance=made_of(lambda chance: chance))
def test_where_a_tree_runs_does_not_show(chance: Chance, fences: Path, tmp_path: Path) -> None:
    one, asked = case(chance, has_changes=True), chance.some([*FINISHED, *HALF], 1, 3)
    plans = [planned(one, asked, tmp_path, fences, is_placed) for is_placed in (True, False)]
    assert [plan.is_merged for plan in plans] == [any(sql in HALF for sql in asked), True]
    placed, gathered = (updates_of(one, plan, tmp_path) for plan in plans)
    assert placed == gathered
