"""SELECT, WHERE, UNION ALL and DISTINCT over signed rows, against their plain twins."""

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
    FLAG,
    LONG,
    QUERIES,
    TEXT,
    THOROUGH,
    TIME,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.twin import World

TYPES = (LONG, DOUBLE, TEXT)
NOTHING_BEGUN = pa.table({"query": pa.array([], pa.int32()), "tick": pa.array([], pa.int64())})

FUNCTIONS: dict[str, Any] = {
    '"c0"': lambda row, p: row[0],
    '"c2"': lambda row, p: row[2],
    '"c0" > "q:p0"': lambda row, p: None if row[0] is None else row[0] > p["q:p0"],
    '"c0" % 2 + "q:p0"': lambda row, p: None if row[0] is None else int(np.fmod(row[0], 2)) + p["q:p0"],
    "1.5::DOUBLE": lambda row, p: 1.5,
}
SELECT = nodes.Select(
    nodes.Branch(0, TYPES),
    Expression('"c0" > "q:p0"', FLAG, frozenset({"c0", "q:p0"})),
    (
        Expression.of_column("c2", TEXT),
        Expression('"c0" % 2 + "q:p0"', LONG, frozenset({"c0", "q:p0"})),
        Expression("1.5::DOUBLE", DOUBLE, frozenset()),
    ),
)


def world(**branches: Any) -> World:
    constants = {q: {"q:p0": q % 3 - 1} for q in reversed(QUERIES)}
    numbered_branches = {int(name[1:]): changes for name, changes in branches.items()}
    return World(numbered_branches, {}, {}, constants, FUNCTIONS)


@THOROUGH
@given(histories(TYPES), cut_anyhow())
def test_select_computes_with_constants(changes: Any, cut: Any) -> None:
    run(SELECT, world(b0=changes), *cut)


@THOROUGH
@given(histories((LONG,)), histories((LONG,)), cut_anyhow())
def test_a_union_of_branches(one: Any, other: Any, cut: Any) -> None:
    first, second = nodes.Branch(0, (LONG,)), nodes.Branch(1, (LONG,))
    run(nodes.Union((first, second, first)), world(b0=one, b1=other), *cut)


@THOROUGH
@given(st.data(), cut_anyhow())
def test_distinct(data: Any, cut: Any) -> None:
    types = data.draw(st.lists(st.sampled_from([LONG, DOUBLE, TEXT, FLAG, TIME, DAY]), max_size=3))
    root = nodes.Distinct(nodes.Branch(0, tuple(types)))
    run(root, world(b0=data.draw(histories(tuple(types)))), *cut)


def test_a_computation_that_fails_is_null() -> None:
    wild = [
        Expression('"c0" / 0', DOUBLE, frozenset({"c0"})),
        Expression('CAST("c1" AS BIGINT)', LONG, frozenset({"c1"})),
        Expression('"c0" * -0.0', DOUBLE, frozenset({"c0"})),
    ]
    engine = Tree(nodes.Select(nodes.Branch(0, (DOUBLE, TEXT)), None, tuple(wild)), none())
    rows = pa.table({"query": [1], "tick": [0], "sign": [1], "c0": [1.0], "c1": ["one"]})
    found = engine.apply({0: rows}, {}, NOTHING_BEGUN).to_pylist()
    assert found == [{"query": 1, "tick": 0, "sign": 1, "c0": None, "c1": None, "c2": 0.0}]
    assert str(found[0]["c2"]) == "0.0"


def test_rows_that_are_gone_are_freed(monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    engine = Tree(nodes.Distinct(nodes.Branch(0, (TEXT,))), none())
    state: Any = engine.stations[-1].state
    state.waste.look_at = 10
    for tick in range(50):
        new = [f"text {tick} {i}" for i in range(20)]
        old = [f"text {tick - 1} {i}" for i in range(20)] if tick else []
        signs = [1] * len(new) + [-1] * len(old)
        rows = pa.table(
            {"query": [1] * len(signs), "tick": [tick] * len(signs), "sign": signs, "c0": new + old}
        )
        assert engine.apply({0: rows}, {}, NOTHING_BEGUN).num_rows == len(signs)
        assert len(state.numbered) <= 100 and len(state.coder.texts) <= 100
    assert engine.held() == {"1.Distinct": 20}
    engine.forget(np.array([1]))
    assert engine.held() == {"1.Distinct": 0} and len(state.coder.texts) == 0


def test_what_each_has_done_is_counted() -> None:
    branch = nodes.Branch(0, (LONG,))
    engine = Tree(nodes.Distinct(nodes.Union((branch, branch))), none())
    rows = pa.table({"query": [1, 1], "tick": [0, 0], "sign": [1, 1], "c0": [1, 2]})
    engine.apply({0: rows}, {}, NOTHING_BEGUN)
    counted = [(type(c.node).__name__, c.depth, c.rows_in, c.rows_out, c.held) for c in engine.counted()]
    assert counted == [
        ("Distinct", 0, 4, 2, 2), ("Union", 1, 2 * 2, 4, 0), ("Branch", 2, 0, 2, 0), ("Branch", 2, 0, 2, 0),
    ]  # fmt: skip


def none() -> Constants:
    return Constants(np.empty(0, np.int64), pa.table({}))
