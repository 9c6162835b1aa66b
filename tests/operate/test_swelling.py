"""Rows within a distance that changes with time, against the plain twin at every tick."""

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
from tests.operate.histories import DOUBLE, TEXT, THOROUGH, cut_anyhow, histories, run
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

BRANCH = nodes.Branch(0, (TEXT, DOUBLE))
# Distances that are near those of some step, to the last bit.
VALUES = {
    TEXT: st.sampled_from(["a", "b"]),
    DOUBLE: st.sampled_from([0.0, 0.3, 0.09, 0.30000000000000004, 1.0, 2.25, 4.0]),
}


def swelling(
    growth: float, every: int = 1, begin: int = 0, until: int = 4, is_square: bool = True
) -> nodes.Swelling:
    return nodes.Swelling(BRANCH, 1, is_square, 1.0, growth, every, begin, until, 1)


@THOROUGH
@given(data=st.data(), cut=cut_anyhow(), is_tidy=st.booleans())
def test_as_its_twin_at_every_tick(data: Any, cut: Any, is_tidy: bool) -> None:
    node = swelling(
        data.draw(st.sampled_from([-0.7, -0.25, -0.5, 0.0, 0.1, 0.5, 1.0])),
        data.draw(st.sampled_from([1, 2])),
        data.draw(st.integers(-2, 3)), data.draw(st.sampled_from([4, 5, 9])), data.draw(st.booleans()),
    )  # fmt: skip
    changes = data.draw(histories(BRANCH.types, VALUES))
    with pytest.MonkeyPatch.context() as patch:
        if is_tidy:
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        run(node, World({0: changes}, {}, {}, {}, {}), *cut)


def engine(node: nodes.Swelling) -> Tree:
    return Tree(node, Constants(np.array([1]), pa.table({})))


def told(
    tree: Tree, tick: int, sign: int, apart: list[float], closed_to: int
) -> list[tuple[int, int, float]]:
    n = len(apart)
    fixed = {"query": np.ones(n, np.int32), "tick": np.full(n, tick), "sign": np.full(n, sign)}
    columns = {"c0": pa.array(["a"] * n, pa.string()), "c1": pa.array(apart, pa.float64())}
    out = tree.apply({0: pa.table(fixed | columns)}, {}, NOTHING_BEGUN, closed_to)
    return [(r["tick"], r["sign"], r["c1"]) for r in out.to_pylist()]


def test_it_speaks_at_the_tick_of_a_step_though_nothing_comes() -> None:
    tree = engine(swelling(-0.25, every=10, begin=100, until=1000, is_square=False))
    assert told(tree, 50, 1, [0.6, 0.9], 60) == [(50, 1, 0.6), (50, 1, 0.9)]
    assert not tree.is_due(109) and tree.is_due(110)
    assert told(tree, 500, 1, [], 115) == [(110, -1, 0.9)]
    assert told(tree, 500, 1, [], 10**6) == [(120, -1, 0.6)]
    assert not tree.is_due(10**15)


def test_who_is_gone_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    tree = engine(swelling(0.5, until=500))
    for tick in range(200):
        told(tree, tick, 1, [float(tick)], tick)
        told(tree, tick, -1, [float(tick - 3)], tick) if tick > 2 else None
        assert tree.held() == {"1.Swelling": min(tick + 1, 3)} and len(tree.stations[-1].state.numbered) < 40
