"""WITH: what is read by a name twice is worked out once."""

from __future__ import annotations

import pytest

from sanderling.operate.tree.tree import Tree
from sanderling.plan.planner import Planner
from sanderling.plans import nodes
from tests.operate.test_simple import none

STREAM = "CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
TWICE = "SELECT a.id FROM {0} AS a JOIN {0} AS b ON a.n = b.n EXCEPT ALL SELECT id FROM {0} AS c"
COUNTED = "SELECT id, COUNT(*) AS n FROM taxi WHERE x > 3 GROUP BY id"


@pytest.mark.parametrize(
    ("query", "so_often"),
    [(f"WITH q AS ({COUNTED}) {TWICE.format('q')}", 1), (TWICE.format(f"({COUNTED})"), 3)],
)
def test_what_has_a_name_is_worked_out_once(query: str, so_often: int) -> None:
    planner = Planner()
    planner.run_script(f"{STREAM};\nREGISTER QUERY all_of_them AS {query}")
    plan = planner.plan()
    stations = [station.node for tree in plan.trees for station in Tree(tree.root, none()).stations]
    assert sum(isinstance(node, nodes.Aggregate) for node in stations) == so_often
    assert len(plan.streams[0].templates) == so_often
    # What is counted by an object's key is counted in its shard, and the rest above it.
    assert [len(tree.branches) for tree in plan.trees] == [so_often, *[1] * so_often]
