"""PERSISTENCY over signed rows, against its plain twin: also where time passes and nothing comes."""

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
    DOUBLE,
    FEW,
    FLAG,
    LONG,
    QUERIES,
    TEXT,
    THOROUGH,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

TYPES = (TEXT, LONG, DOUBLE)
STAY, GRACE = (Expression.of_column(f"q:p{i}", LONG) for i in range(2))
RISES = Expression('"c1" >= "c4"', FLAG, frozenset({"c1", "c4"}))
FUNCTIONS: dict[str, Any] = {
    STAY.sql: lambda row, p: p["q:p0"],
    GRACE.sql: lambda row, p: p["q:p1"],
    RISES.sql: lambda row, p: None if None in (row[1], row[4]) else row[1] >= row[4],
}


def persisting(keys: tuple[int, ...], goes_on: Expression | None = None) -> nodes.Persisting:
    return nodes.Persisting(nodes.Branch(0, TYPES), keys, STAY, GRACE, goes_on, 1)


def world(changes: Any, stays: list[int], graces: list[int]) -> World:
    asked = zip(QUERIES, stays, graces, strict=True)
    return World({0: changes}, {}, {}, {q: {"q:p0": s, "q:p1": g} for q, s, g in asked}, FUNCTIONS)


durations = st.lists(st.integers(0, 3), min_size=len(QUERIES), max_size=len(QUERIES))


@THOROUGH
@given(
    histories(TYPES, FEW), durations, durations, st.sampled_from([(), (0,), (1, 0), (0, 1, 2)]),
    st.booleans(), cut_anyhow(),
)  # fmt: skip
def test_at_every_tick(changes: Any, stays: Any, graces: Any, keys: Any, is_while: bool, cut: Any) -> None:
    run(persisting(keys, RISES if is_while else None), world(changes, stays, graces), *cut)


def engine(stay: int, grace: int, tick_us: int = 1, keys: tuple[int, ...] = (0,)) -> Tree:
    constants = Constants(np.array([1]), pa.table({"q:p0": [stay], "q:p1": [grace]}))
    return Tree(nodes.Persisting(nodes.Branch(0, (TEXT,)), keys, STAY, GRACE, None, tick_us), constants)


def rows(*changes: tuple[int, int, str]) -> dict[int, pa.Table]:
    tick, sign, key = zip(*changes, strict=True) if changes else ((), (), ())
    columns = {"query": pa.array([1] * len(tick), pa.int64()), "tick": pa.array(tick, pa.int64())}
    return {0: pa.table(columns | {"sign": pa.array(sign, pa.int64()), "c0": pa.array(key, pa.string())})}


def told(tree: Tree, came: dict[int, pa.Table], closed_to: int) -> list[tuple[int, int, str]]:
    out = tree.apply(came, {}, NOTHING_BEGUN, closed_to).to_pylist()
    return sorted((row["tick"], row["sign"], row["c0"]) for row in out)


def test_long_after_the_last_row_it_is_told_at_the_tick_it_was_due() -> None:
    tree = engine(stay=4, grace=2)
    assert told(tree, rows((1, 1, "a"), (2, 1, "b")), 3) == []
    assert not tree.is_due(4) and tree.is_due(5)
    assert told(tree, rows(), 1000) == [(5, 1, "a"), (6, 1, "b")]
    assert told(tree, rows((1001, -1, "a")), 1001) == []
    assert told(tree, rows(), 2000) == [(1003, -1, "a")]
    assert not tree.is_due(10**15)


def test_a_whole_answer_is_what_has_stayed() -> None:
    tree = engine(stay=3, grace=2)
    told(tree, rows((1, 1, "a"), (2, 1, "b"), (3, 1, "c")), 5)
    whole = rows((5, 1, "a"), (5, 1, "b"), (5, 1, "c"))
    answer = tree.answering(np.array([1]), 5)
    assert told(answer, whole, 5) == [(5, 1, "a"), (5, 1, "b")]
    assert told(tree.answering(np.array([2]), 5), whole, 5) == []


def test_rows_that_are_gone_are_freed(monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    tree = engine(stay=1, grace=1)
    state: Any = tree.stations[-1].state
    state.waste.look_at = 10
    for tick in range(50):
        came = [(tick, 1, f"text {tick} {i}") for i in range(20)]
        went = [(tick, -1, f"text {tick - 2} {i}") for i in range(20)] if tick > 1 else []
        told(tree, rows(*came, *went), tick)
        assert len(state.rows.numbered) <= 200 and len(state.keys) <= 200
    assert tree.held() == {"1.Persisting": 60}  # two ticks of those that are there, and those in their grace
    tree.forget(np.array([1]))
    assert tree.held() == {"1.Persisting": 0} and len(state.keys) == 0 and not tree.is_due(10**9)
