"""Rows that are looked at now and then, against their plain twin: also where nothing comes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.window import Refresh
from tests.operate.histories import DOUBLE, FEW, LONG, TEXT, THOROUGH, cut_anyhow, histories, run
from tests.operate.test_persisting import rows, told
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

TYPES = (TEXT, LONG, DOUBLE)


def sample(every: int, child: nodes.Node | None = None) -> nodes.Sample:
    return nodes.Sample(child or nodes.Branch(0, TYPES), Refresh(every), 1)


@THOROUGH
@given(histories(TYPES, FEW), st.integers(1, 4), st.booleans(), cut_anyhow())
def test_at_every_tick(changes: Any, every: int, is_of_rows: bool, cut: Any) -> None:
    child = nodes.Branch(0, TYPES) if is_of_rows else nodes.Distinct(nodes.Branch(0, TYPES))
    run(sample(every, child), World({0: changes}, {}, {}, {}, {}), *cut)


@THOROUGH
@given(histories(TYPES, FEW), histories(TYPES, FEW), st.integers(1, 4), st.integers(1, 4), cut_anyhow())
def test_what_is_made_of_looks(left: Any, right: Any, every: int, other: int, cut: Any) -> None:
    """Each side at its own times, or both together."""
    one, two = (nodes.Branch(number, TYPES) for number in (0, 1))
    both = nodes.SetOperation(nodes.INTERSECT, True, sample(every, one), sample(other, two))
    run(both, World({0: left, 1: right}, {}, {}, {}, {}), *cut)


def engine(every: int) -> Tree:
    return Tree(sample(every, nodes.Branch(0, (TEXT,))), Constants(np.array([1]), pa.table({"none": [None]})))


def test_what_comes_and_goes_between_two_looks_is_never_told() -> None:
    tree = engine(5)
    assert told(tree, rows((1, 1, "a"), (2, 1, "b"), (3, -1, "a")), 4) == []
    assert tree.held() == {"1.Sample": 1} and not tree.is_due(4) and tree.is_due(5)
    assert told(tree, rows(), 1000) == [(5, 1, "b")]
    assert not tree.is_due(10**15)
    assert told(tree, rows((1000, -1, "b"), (1001, 1, "b")), 1001) == [(1000, -1, "b")]
    assert told(tree, rows(), 1005) == [(1005, 1, "b")]


def test_a_whole_answer_is_that_of_the_last_look() -> None:
    tree = engine(5)
    told(tree, rows((1, 1, "a"), (6, 1, "b"), (6, -1, "a")), 7)
    assert told(tree.answering(np.array([1]), 7), rows((7, 1, "b")), 7) == [(7, 1, "a")]
    assert told(tree.answering(np.array([2]), 7), rows((7, 1, "b")), 7) == []


def test_nothing_is_left_of_what_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    tree = engine(3)
    state: Any = tree.stations[-1].state
    state.seen.waste.look_at = 10
    for tick in range(60):
        came = [(tick, 1, f"text {tick} {i}") for i in range(20)]
        went = [(tick, -1, f"text {tick - 2} {i}") for i in range(20)] if tick > 1 else []
        told(tree, rows(*came, *went), tick)
        assert len(state.seen.numbered) <= 200
    tree.forget(np.array([1]))
    assert tree.held() == {"1.Sample": 0} and not tree.is_due(10**9)
    assert tree.apply({}, {}, NOTHING_BEGUN, 100).num_rows == 0
