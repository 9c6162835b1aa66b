"""Rows that come and never leave: told as over all of them, and no more is held than the answer."""

from __future__ import annotations

from collections import Counter
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
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import COUNT, MAX, MIN, SUM
from tests.operate.histories import LONG, QUERIES, TEXT, THOROUGH, TICKS, Change, cut_anyhow, histories, run
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

TYPES = (TEXT, LONG)
TWO = Expression.of_column("q:p0", LONG)
SUMS = (
    nodes.Sum(COUNT, None, LONG), nodes.Sum(MIN, 1, LONG), nodes.Sum(MAX, 1, LONG), nodes.Sum(SUM, 1, LONG),
    nodes.Sum(MIN, 0, TEXT), nodes.Sum(COUNT, 1, LONG, is_distinct=True),
)  # fmt: skip
BRANCH = nodes.Branch(0, TYPES)
ROOTS: dict[str, nodes.Node] = {
    "groups": nodes.Aggregate(BRANCH, (0,), SUMS, is_growing=True),
    "total": nodes.Aggregate(BRANCH, (), SUMS, is_growing=True),
    "rows once": nodes.Distinct(BRANCH, is_growing=True),
    "the first": nodes.First(BRANCH, (nodes.Order(1, True, False),), TWO, is_growing=True),
}


@pytest.mark.parametrize("name", ROOTS)
@THOROUGH
@given(data=st.data(), cut=cut_anyhow(), is_tidy=st.booleans())
def test_as_over_all_that_came(name: str, data: Any, cut: Any, is_tidy: bool) -> None:
    came = [(tick, sign, row) for tick, sign, row in data.draw(histories(TYPES)) if sign > 0]
    constants = {q: {"q:p0": data.draw(st.sampled_from([1, 2, 3]))} for q in QUERIES}
    begun = dict.fromkeys(QUERIES, 1)
    came = [(tick, sign, row) for tick, sign, row in came if tick >= 1]
    world = World({0: came}, {}, begun, constants, {'"q:p0"': lambda row, p: p["q:p0"]})
    with pytest.MonkeyPatch.context() as patch:
        if is_tidy:
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        engine = run(ROOTS[name], world, *cut)
    # What is there is asked of it alone: its branch knows of the last tick only.
    present = engine.answering(np.array(QUERIES), TICKS).apply({}, {}, NOTHING_BEGUN, TICKS)
    assert Counter(held(present)) == told(ROOTS[name], world)


def held(rows: pa.Table) -> list[tuple[Any, ...]]:
    columns = [c.to_pylist() for n, c in zip(rows.column_names, rows.columns, strict=True) if n != "tick"]
    return [(q, *row) for q, sign, *row in zip(*columns, strict=True) for _ in range(sign)]


def told(root: nodes.Node, world: World) -> Counter[tuple[Any, ...]]:
    """All that a tree that has just begun tells of all rows at once."""
    plain = Tree(
        root, Constants(np.array(QUERIES), pa.table({"q:p0": [world.constants[q]["q:p0"] for q in QUERIES]}))
    )
    rows: list[Change] = world.branches[0]
    columns = {f"c{i}": pa.array([row[1 + i] for _, _, row in rows], t.arrow) for i, t in enumerate(TYPES)}
    n = len(rows)
    fixed = {
        "query": pa.array([row[0] for _, _, row in rows], pa.int32()),
        "tick": pa.array([1] * n, pa.int64()),
    }
    fixed["sign"] = pa.array([sign for _, sign, _ in rows], pa.int64())
    begun = pa.table(
        {"query": pa.array(QUERIES, pa.int32()), "tick": pa.array([1] * len(QUERIES), pa.int64())}
    )
    return Counter(held(plain.apply({0: pa.table(fixed | columns)}, {}, begun, TICKS)))


@pytest.mark.parametrize("name", ["groups", "total", "the first"])
def test_what_is_held_does_not_grow_with_what_came(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 50)
    few = tuple(s for s in SUMS if not s.is_distinct)
    root = {
        "groups": nodes.Aggregate(BRANCH, (0,), few, is_growing=True),
        "total": nodes.Aggregate(BRANCH, (), few, is_growing=True),
    }
    engine = Tree(root.get(name, ROOTS[name]), Constants(np.array([1]), pa.table({"q:p0": [2]})))
    chance = np.random.default_rng(1)
    for tick in range(200):
        values = pa.array(chance.integers(0, 10**9, 40))
        keys = pa.array(chance.choice(["a", "b", "c"], 40))
        fixed = {"query": np.ones(40, np.int32), "tick": np.full(40, tick), "sign": np.ones(40, np.int64)}
        engine.apply({0: pa.table(fixed | {"c0": keys, "c1": values})}, {}, NOTHING_BEGUN, tick)
        assert sum(engine.held().values()) < 400, tick
