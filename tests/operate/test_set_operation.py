"""INTERSECT and EXCEPT over signed rows, against their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from tests.operate.histories import (
    DAY,
    DOUBLE,
    FEW,
    FLAG,
    LONG,
    TEXT,
    THOROUGH,
    TIME,
    all_nodes,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.test_simple import NOTHING_BEGUN, none, world
from tests.operate.twin import World, answer

KINDS = st.sampled_from([nodes.INTERSECT, nodes.EXCEPT])


@THOROUGH
@given(st.data(), KINDS, st.booleans(), cut_anyhow())
def test_of_two_branches(data: Any, kind: str, is_all: bool, cut: Any) -> None:
    types = tuple(data.draw(st.lists(st.sampled_from([LONG, DOUBLE, TEXT, FLAG, TIME, DAY]), max_size=2)))
    one, other = (data.draw(histories(types, FEW)) for _ in range(2))
    root = nodes.SetOperation(kind, is_all, nodes.Branch(0, types), nodes.Branch(1, types))
    run(root, world(b0=one, b1=other), *cut)


@THOROUGH
@given(histories((LONG,), FEW), histories((LONG,), FEW), st.lists(KINDS, min_size=3), cut_anyhow())
def test_of_each_other(one: Any, other: Any, kinds: list[str], cut: Any) -> None:
    """Of any depth, and a branch may stand in it several times."""
    branches = nodes.Branch(0, (LONG,)), nodes.Branch(1, (LONG,))
    root: nodes.Node = nodes.Union(branches)
    for number, kind in enumerate(kinds[:5]):
        root = nodes.SetOperation(kind, number % 2 == 0, nodes.Union((root, root)), branches[number % 2])
    run(root, world(b0=one, b1=other), *cut)


@THOROUGH
@given(histories((TEXT,), FEW, (-1,)), histories((TEXT,), FEW, (-1,)), KINDS, st.booleans(), cut_anyhow())
def test_of_two_tables(one: Any, other: Any, kind: str, is_all: bool, cut: Any) -> None:
    sides = [nodes.TableRows(name, ("name",), (TEXT,)) for name in ("t", "u")]
    run(nodes.SetOperation(kind, is_all, *sides), World({}, {"t": one, "u": other}, {}, {}, {}), *cut)


def test_the_twin_knows_what_each_means() -> None:
    left = [(0, times, (1, value)) for times, value in ((3, "a"), (1, "b"), (2, None))]
    right = [(0, times, (1, value)) for times, value in ((1, "a"), (2, "b"), (2, None), (1, "c"))]
    sides = nodes.Branch(0, (TEXT,)), nodes.Branch(1, (TEXT,))

    def told(kind: str, is_all: bool) -> dict[Any, int]:
        found = answer(nodes.SetOperation(kind, is_all, *sides), world(b0=left, b1=right), 0)
        return {value: times for (_, value), times in found.items()}

    assert told(nodes.EXCEPT, True) == {"a": 2}
    assert told(nodes.EXCEPT, False) == {}
    assert told(nodes.INTERSECT, True) == {"a": 1, "b": 1, None: 2}
    assert told(nodes.INTERSECT, False) == {"a": 1, "b": 1, None: 1}


@pytest.mark.parametrize("side", [0, 1])
def test_rows_that_are_gone_from_both_sides_are_freed(side: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    sides = nodes.Branch(0, (TEXT,)), nodes.Branch(1, (TEXT,))
    engine = Tree(nodes.SetOperation(nodes.EXCEPT, False, *sides), none())
    state: Any = engine.stations[-1].state
    state.waste.look_at = 10
    for tick in range(50):
        new = [f"text {tick} {i}" for i in range(20)]
        old = [f"text {tick - 1} {i}" for i in range(20)] if tick else []
        signs = [1] * len(new) + [-1] * len(old)
        rows = pa.table(
            {"query": [1] * len(signs), "tick": [tick] * len(signs), "sign": signs, "c0": new + old}
        )
        told = engine.apply({side: rows}, {}, NOTHING_BEGUN).num_rows
        assert told == (len(signs) if side == 0 else 0)
        assert len(state.numbered) <= 100 and len(state.coder.texts) <= 100
    assert list(engine.held().values()) == [20]
    engine.forget(np.array([1]))
    assert list(engine.held().values()) == [0] and len(state.coder.texts) == 0


def test_a_query_that_is_forgotten_leaves_the_others_alone() -> None:
    sides = nodes.Branch(0, (LONG,)), nodes.Branch(1, (LONG,))
    engine = Tree(nodes.SetOperation(nodes.EXCEPT, True, *sides), none())
    both = pa.table({"query": [1, 2], "tick": [0, 0], "sign": [2, 2], "c0": [7, 7]})
    engine.apply({0: both, 1: both}, {}, NOTHING_BEGUN)
    engine.forget(np.array([1]))
    less = pa.table({"query": [2], "tick": [1], "sign": [-1], "c0": [7]})
    again = pa.table({"query": [1], "tick": [1], "sign": [1], "c0": [7]})
    told = engine.apply({0: again, 1: less}, {}, NOTHING_BEGUN).to_pylist()
    assert sorted(told, key=lambda row: row["query"]) == [
        {"query": 1, "tick": 1, "sign": 1, "c0": 7},
        {"query": 2, "tick": 1, "sign": 1, "c0": 7},
    ]


def test_it_is_numbered_once() -> None:
    """What stands twice in a tree is worked out once."""
    branch = nodes.Branch(0, (LONG,))
    same = nodes.SetOperation(nodes.EXCEPT, False, branch, branch)
    root = nodes.SetOperation(nodes.INTERSECT, False, same, same)
    assert len(all_nodes(root)) == 7 and len(Tree(root, none()).stations) == 3
