"""Runs as columns, beside what they are: places, what they reached, and texts that are forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sanderling import arrays
from sanderling.kernels.pattern.runs import WHOLE
from sanderling.operate.pattern.run_columns import RunColumns
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plan.rules.place import place
from sanderling.plans.nodes import Match, match_of
from tests.operate.test_simple import NOTHING_BEGUN

SECOND = 1_000_000
SCRIPT = """
CREATE STREAM p (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);
REGISTER PATTERN q AS
WITH a AS (SELECT id FROM p INSIDE (0, 0, 1, 1)), b AS (SELECT id FROM p INSIDE (5, 0, 6, 1))
SELECT id, b.id AS other FROM a THEN b WITHIN 3 SECONDS
"""


def planned() -> tuple[Match, Tree]:
    planner = Planner(rules=[rule for rule in RULES if rule is not place])
    planner.run_script(SCRIPT)
    (tree,) = planner.plan().trees
    node = match_of(tree.root)
    assert node is not None
    return node, Tree(tree.root, Constants(tree.queries, tree.constants))


def test_a_place_that_is_left_is_taken_again() -> None:
    runs, wanted = RunColumns(planned()[0]), dict[int, str]()
    for round_ in range(20):
        names = [f"object {round_} {i}" for i in range(1 + round_ % 7 * 5)]
        places = runs.begin(np.zeros(len(names), np.int64), np.full(len(names), round_))
        assert not wanted.keys() & set(places.tolist())
        wanted |= dict(zip(places.tolist(), names, strict=True))
        runs.how[places, 0], runs.is_there[places, 0] = WHOLE, True
        runs.keep(0, places, [pa.array(names)])
        gone = [one for one in wanted if (one + round_) % 3]
        runs.leave(np.array(gone, np.int64))
        wanted = {one: name for one, name in wanted.items() if one not in gone}
        assert len(runs) == len(wanted) and set(runs.used.tolist()) == set(wanted)
        assert runs.kept(0, runs.used, 0).to_pylist() == [wanted[one] for one in runs.used.tolist()]
        assert runs.kept(1, runs.used, 0).null_count == len(wanted)


def test_who_is_gone_is_forgotten(monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    _, tree = planned()
    state: Any = next(s.state for s in tree.stations if isinstance(s.node, Match))
    state.runs.waste.look_at = 10
    for own in state.presences:
        own.stays.waste.look_at = 10
    for tick in range(60):
        rows = [(1, f"object {tick} {i}") for i in range(20)]
        rows += [(-1, f"object {tick - 1} {i}") for i in range(20)] if tick else []
        came = {
            "query": pa.array([0] * len(rows), pa.int64()), "tick": pa.array([tick * SECOND] * len(rows)),
            "sign": pa.array([sign for sign, _ in rows]), "c0": pa.array([name for _, name in rows]),
        }  # fmt: skip
        begun = pa.table({"query": [0], "tick": [0]}) if not tick else NOTHING_BEGUN
        tree.apply({0: pa.table(came)}, {}, begun, tick * SECOND)
        tree.pass_time(tick * SECOND)
        assert len(state.runs) <= 80 and state.runs.top <= 100
        assert len(state.runs.coders[0].texts) <= 300
        for own in state.presences:
            assert len(own.stays.keys) <= 120 and len(own.stays.coder.texts) <= 300
    tree.apply({}, {}, NOTHING_BEGUN, 100 * SECOND)
    assert not len(state.runs) and not state.waiting
