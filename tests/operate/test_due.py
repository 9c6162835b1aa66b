"""An operator that speaks because time passes is heard, and so are those above it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

from sanderling.batches import TURNS
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tree.came import Input
from sanderling.operate.tree.changes import Changes
from sanderling.operate.tree.composed import Composed
from sanderling.operate.tree.tree import Tree
from sanderling.plan.planner import Planner
from sanderling.plans import nodes
from sanderling.plans.nodes import COUNT, Sum
from sanderling.types import TYPES
from tests.operate.test_simple import NOTHING_BEGUN, none

LONG = TYPES["BIGINT"]
AFTER = 3


@dataclass
class Waiting:
    rows: list[Signed] = field(default_factory=list)


class Later:
    """Tells what came some ticks later, and what was taken back before then not at all."""

    def new_state(self, at: None) -> Waiting:
        return Waiting()

    def apply(self, state: Waiting, given: Changes) -> Signed:
        both = put_together([*state.rows, *given.inputs])
        is_due = both.tick + AFTER <= given.closed_to
        state.rows = [both.take(np.flatnonzero(~is_due))]
        told = both.take(np.flatnonzero(is_due))
        return Signed(told.query, told.tick + AFTER, told.sign, told.columns)

    def due(self, state: Waiting) -> int | None:
        ticks = [int(rows.tick.min()) for rows in state.rows if len(rows)]
        return min(ticks) + AFTER if ticks else None


def counted() -> Tree:
    """COUNT(*) over what comes later."""
    later = nodes.Distinct(nodes.Branch(0, (LONG,)))
    return with_later(Tree(nodes.Aggregate(later, (), (Sum(COUNT, None, LONG),)), none()))


def with_later(tree: Tree) -> Tree:
    """In the place of DISTINCT."""
    station = next(s for s in tree.stations if isinstance(s.node, nodes.Distinct))
    station.operator = Later()
    station.state = station.operator.new_state(None)
    return tree


def rows(*ticks: int) -> dict[int, pa.Table]:
    n = len(ticks)
    values = np.arange(n) + 10 * np.array(ticks)
    return {
        0: pa.table(
            {"query": np.ones(n, np.int64), "tick": ticks, "sign": np.ones(n, np.int64), "c0": values}
        )
    }


def told(out: pa.Table) -> list[tuple[int, int, int]]:
    return [
        (r["tick"], r["sign"], r["c0"]) for r in sorted(out.to_pylist(), key=lambda r: (r["tick"], r["sign"]))
    ]


def test_what_becomes_due_is_told_though_nothing_comes() -> None:
    tree = counted()
    assert not tree.is_due(100)
    assert told(tree.apply(rows(1), {}, NOTHING_BEGUN, 1)) == []
    assert not tree.is_due(3) and tree.is_due(4)
    nothing = {0: rows(1)[0].slice(0, 0)}
    assert told(tree.apply(nothing, {}, NOTHING_BEGUN, 9)) == [(4, 1, 1)]
    assert not tree.is_due(100)


@pytest.mark.parametrize("changes", [1, 2, 100])
def test_however_a_batch_is_cut_it_is_told_in_its_ticks(changes: int) -> None:
    tree = counted()
    tree.pieces.changes = changes
    out = tree.apply(rows(1, 2, 3, 8), {}, NOTHING_BEGUN, 12)
    assert told(out) == [(4, 1, 1), (5, -1, 1), (5, 1, 2), (6, -1, 2), (6, 1, 3), (11, -1, 3), (11, 1, 4)]


def test_a_composed_query_looks_when_a_tick_closes_and_nothing_has_come() -> None:
    planner = Planner()
    planner.run_script(
        """CREATE STREAM s (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, n BIGINT)
          KEY id TIME ts LOCATION (x, y);
        REGISTER QUERY q AS SELECT COUNT(*) AS n FROM (SELECT DISTINCT n FROM s) AS d"""
    )
    plan = planner.plan()
    (planned,) = plan.trees
    composed = Composed(plan, planned)
    with_later(composed.tree)
    (query,) = planned.queries
    begun = pa.table(
        {"query": [query], "tick": [1], "sign": [1], "stream": ["s"], "has_past": [False]}, schema=TURNS
    )
    came = rows(1)[0].set_column(0, "query", pa.array([query], pa.int64()))
    first = composed.take(Input({0: came}, begun, {"s": (1, False)}))
    assert told(first) == [(1, 1, 0)]
    assert composed.take(Input(closed={"s": (3, False)})).num_rows == 0
    assert told(composed.take(Input(closed={"s": (7, False)}))) == [(4, -1, 0), (4, 1, 1)]
