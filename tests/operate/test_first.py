"""ORDER BY … LIMIT n against a sorted list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.operate.histories import (
    DAY,
    DOUBLE,
    FEW,
    FLAG,
    LONG,
    QUERIES,
    TEXT,
    THOROUGH,
    TIME,
    VALUES,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

COUNT = Expression.of_column("q:p0", LONG)
FUNCTIONS = {'"q:p0"': lambda row, p: p["q:p0"]}


@THOROUGH
@given(st.data(), cut_anyhow())
def test_the_first_rows(data: Any, cut: Any) -> None:
    types = data.draw(
        st.lists(st.sampled_from([LONG, DOUBLE, TEXT, FLAG, TIME, DAY]), min_size=1, max_size=3)
    )
    column = st.integers(0, len(types) - 1)
    orders = data.draw(
        st.lists(st.builds(nodes.Order, column, st.booleans(), st.booleans()), min_size=1, max_size=2)
    )
    by = tuple(data.draw(st.sets(column, max_size=2)))
    root = nodes.First(nodes.Branch(0, tuple(types)), tuple(orders), COUNT, by=by)
    constants = {q: {"q:p0": data.draw(st.sampled_from([0, 1, 2, 3, 5, 100, None]))} for q in QUERIES}
    changes = data.draw(histories(tuple(types), data.draw(st.sampled_from([VALUES, FEW]))))
    run(root, World({0: changes}, {}, {}, constants, FUNCTIONS), *cut)


def rows(tick: int, signs: list[int], values: list[int]) -> dict[int, pa.Table]:
    n = len(signs)
    return {0: pa.table({"query": [1] * n, "tick": [tick] * n, "sign": signs, "c0": pa.array(values)})}


def top(n: int) -> Tree:
    constants = Constants(np.array([1]), pa.table({"q:p0": [n]}))
    return Tree(nodes.First(nodes.Branch(0, (LONG,)), (nodes.Order(0, False, False),), COUNT), constants)


def test_what_is_told_is_by_change_and_not_by_n() -> None:
    engine = top(50)
    engine.apply(rows(0, [1] * 1000, list(range(1000))), {}, NOTHING_BEGUN)
    found = engine.apply(rows(1, [-1], [10]), {}, NOTHING_BEGUN).to_pylist()
    assert [(r["sign"], r["c0"]) for r in found] == [(-1, 10), (1, 50)]
    assert engine.apply(rows(2, [-1], [500]), {}, NOTHING_BEGUN).num_rows == 0
    assert engine.held() == {"1.First": 998}


def test_rows_that_are_gone_are_freed(monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    engine = top(3)
    state: Any = engine.stations[-1].state
    state.ranking.waste.look_at = 10
    engine.apply(rows(0, [1], [0]), {}, NOTHING_BEGUN)
    for tick in range(1, 60):
        found = engine.apply(rows(tick, [1, -1], [tick, tick - 1]), {}, NOTHING_BEGUN).to_pylist()
        assert sorted((r["sign"], r["c0"]) for r in found) == [(-1, tick - 1), (1, tick)]
        assert len(state.ranking.numbered) <= 20
    engine.forget(np.array([1]))
    assert engine.held() == {"1.First": 0}
    found = engine.apply(rows(60, [1], [7]), {}, NOTHING_BEGUN).to_pylist()
    assert [(r["sign"], r["c0"]) for r in found] == [(1, 7)]
