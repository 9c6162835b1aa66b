"""JOIN against two loops: equal keys, near places, tables, rows without a partner."""

from __future__ import annotations

import math
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
from tests.operate.histories import (
    DAY,
    DOUBLE,
    FEW,
    LONG,
    QUERIES,
    SMALL,
    TEXT,
    THOROUGH,
    TIME,
    VALUES,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.test_simple import NOTHING_BEGUN, none
from tests.operate.twin import World

RADIUS = Expression.of_column("q:p0", DOUBLE)
FUNCTIONS = {'"q:p0"': lambda row, p: p.get("q:p0")}
RADII = st.sampled_from([0.0, 0.5, 1.0, math.sqrt(2), 1e-200, 1e200, 3.0, -1.0, None])

LEFT, RIGHT = (LONG, TEXT, DOUBLE), (TEXT, SMALL, TIME, DOUBLE)
KEYS = [((0,), (1,)), ((1,), (0,)), ((1, 0), (0, 1)), ((2,), (3,)), ((2,), (1,)), ((), ())]
PLACE = (LONG, DOUBLE, DOUBLE)


def drawn(data: Any, types: Any, queries: Any = QUERIES) -> Any:
    return data.draw(histories(types, data.draw(st.sampled_from([FEW, FEW, VALUES])), queries))


@THOROUGH
@given(st.data(), st.sampled_from(KEYS), st.booleans(), cut_anyhow())
def test_two_branches_by_equal_keys(data: Any, keys: Any, is_left: bool, cut: Any) -> None:
    root = nodes.Join(nodes.Branch(0, LEFT), nodes.Branch(1, RIGHT), *keys, is_left=is_left)
    run(root, World({0: drawn(data, LEFT), 1: drawn(data, RIGHT)}, {}, {}, {}, {}), *cut)


@THOROUGH
@given(st.data(), st.sampled_from(KEYS), st.booleans(), cut_anyhow())
def test_a_branch_and_a_table(data: Any, keys: Any, is_left: bool, cut: Any) -> None:
    table = nodes.TableRows("t", ("a", "b", "c", "d"), RIGHT)
    root = nodes.Join(nodes.Branch(0, LEFT), table, *keys, is_left=is_left)
    run(root, World({0: drawn(data, LEFT)}, {"t": drawn(data, RIGHT, (-1,))}, {}, {}, {}), *cut)


@THOROUGH
@given(st.data(), st.sampled_from(KEYS), cut_anyhow())
def test_a_table_may_stand_to_the_left(data: Any, keys: Any, cut: Any) -> None:
    root = nodes.Join(nodes.TableRows("t", ("a", "b", "c"), LEFT), nodes.Branch(1, RIGHT), *keys)
    run(root, World({1: drawn(data, RIGHT)}, {"t": drawn(data, LEFT, (-1,))}, {}, {}, {}), *cut)


def near(is_open: bool) -> nodes.Near:
    return nodes.Near((1, 2), (1, 2), RADIUS, is_open)


@THOROUGH
@given(st.data(), st.booleans(), st.booleans(), st.booleans(), cut_anyhow())
def test_places_that_are_near(data: Any, has_key: bool, is_left: bool, is_open: bool, cut: Any) -> None:
    keys = ((0,), (0,)) if has_key else ((), ())
    root = nodes.Join(nodes.Branch(0, PLACE), nodes.Branch(1, PLACE), *keys, near(is_open), is_left)
    constants = {q: {"q:p0": data.draw(RADII)} for q in QUERIES}
    branches = {0: drawn(data, PLACE), 1: drawn(data, PLACE)}
    run(root, World(branches, {}, {}, constants, FUNCTIONS), *cut)


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e9])
@pytest.mark.parametrize("radius", [0.0, 0.5, 1.0, math.sqrt(2), 2.3])
def test_a_crowd_finds_all_who_are_near(radius: float, scale: float) -> None:
    chance = np.random.default_rng(5)
    here, there = (chance.integers(-8, 9, (300, 2)) * 0.5 * scale for _ in range(2))
    constants = Constants(np.array([1]), pa.table({"q:p0": [radius * scale]}))
    side = (DOUBLE, DOUBLE)
    close = nodes.Near((0, 1), (0, 1), RADIUS)
    engine = Tree(nodes.Join(nodes.Branch(0, side), nodes.Branch(1, side), (), (), close), constants)

    def places(tick: int, at: Any) -> pa.Table:
        n = len(at)
        fixed = {"query": np.ones(n, np.int32), "tick": np.full(n, tick), "sign": np.ones(n, np.int64)}
        return pa.table({**fixed, "c0": at[:, 0], "c1": at[:, 1]})

    d = here[:, None, :] - there[None, :, :]
    is_near = d[..., 0] * d[..., 0] + d[..., 1] * d[..., 1] <= (radius * scale) * (radius * scale)
    for tick, (left, right) in enumerate(
        [(here[:100], there[:0]), (here[100:200], there), (here[200:], there[:0])]
    ):
        inputs = {0: places(tick, left), 1: places(tick, right)}
        found = engine.apply(inputs, {}, NOTHING_BEGUN)
        expected = is_near[: 100 * tick + 100].sum() - is_near[: 100 * tick].sum() * (tick > 1)
        assert found.column("sign").to_numpy().sum() == (expected if tick else 0)


@THOROUGH
@given(st.data(), st.booleans(), cut_anyhow())
def test_places_of_a_table_that_are_near(data: Any, is_left: bool, cut: Any) -> None:
    table = nodes.TableRows("t", ("k", "x", "y"), PLACE)
    root = nodes.Join(nodes.Branch(0, PLACE), table, (), (), near(False), is_left)
    constants = {q: {"q:p0": data.draw(RADII)} for q in QUERIES}
    world = World({0: drawn(data, PLACE)}, {"t": drawn(data, PLACE, (-1,))}, {}, constants, FUNCTIONS)
    run(root, world, *cut)


@THOROUGH
@given(st.data(), cut_anyhow())
def test_a_branch_with_itself(data: Any, cut: Any) -> None:
    branch = nodes.Branch(0, LEFT)
    run(nodes.Join(branch, branch, (0,), (0,)), World({0: drawn(data, LEFT)}, {}, {}, {}, {}), *cut)


@THOROUGH
@given(st.data(), cut_anyhow())
def test_a_whole_tree(data: Any, cut: Any) -> None:
    """Two streams joined, joined with a table, distinct, counted: figure 9 of PLACE."""
    two = nodes.Join(nodes.Branch(0, (LONG, TEXT)), nodes.Branch(1, (LONG, DAY)), (0,), (0,))
    three = nodes.Join(two, nodes.TableRows("t", ("name", "n"), (TEXT, LONG)), (1,), (0,), is_left=True)
    counted = nodes.Aggregate(nodes.Distinct(three), (1,), (nodes.Sum(nodes.COUNT, 5, LONG),))
    branches = {0: drawn(data, (LONG, TEXT)), 1: drawn(data, (LONG, DAY))}
    tables = {"t": drawn(data, (TEXT, LONG), (-1,))}
    run(counted, World(branches, tables, {}, {}, {}), *cut)


def test_a_whole_number_meets_a_double() -> None:
    root = nodes.Join(nodes.Branch(0, (LONG,)), nodes.Branch(1, (DOUBLE,)), (0,), (0,))
    left = pa.table({"query": [1] * 3, "tick": [0] * 3, "sign": [1] * 3, "c0": [2**53 + 1, 3, 4]})
    right = pa.table({"query": [1] * 2, "tick": [0] * 2, "sign": [1] * 2, "c0": [2.0**53, 3.0]})
    found = Tree(root, none()).apply({0: left, 1: right}, {}, NOTHING_BEGUN).to_pylist()
    assert sorted((row["c0"], row["c1"]) for row in found) == [(3, 3.0), (2**53 + 1, 2.0**53)]


def rows(tick: int, signs: list[int], keys: list[int], names: list[str], query: int = 1) -> pa.Table:
    n = len(signs)
    return pa.table({"query": [query] * n, "tick": [tick] * n, "sign": signs, "c0": keys, "c1": names})


def test_rows_that_are_gone_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    side = (LONG, TEXT)
    engine = Tree(nodes.Join(nodes.Branch(0, side), nodes.Branch(1, side), (0,), (0,), is_left=True), none())
    state: Any = engine.stations[-1].state
    state.waste.look_at = 10
    stays = {1: rows(0, [1], [7], ["stays"], query=2)}
    engine.apply({0: rows(0, [1], [0], ["l 0"])} | stays, {}, NOTHING_BEGUN)
    for tick in range(1, 60):
        left = rows(tick, [1, -1], [tick, tick - 1], [f"l {tick}", f"l {tick - 1}"])
        right = rows(tick, [1, -1][: 1 + (tick > 1)], [tick, tick - 1][: 1 + (tick > 1)],
                     [f"r {tick}", f"r {tick - 1}"][: 1 + (tick > 1)])  # fmt: skip
        found = engine.apply({0: left, 1: right}, {}, NOTHING_BEGUN)
        assert found.num_rows == 2
        assert len(state.left.numbered) + len(state.right.numbered) <= 20
        assert len(state.keys) <= 20 and len(state.left.coder.texts) <= 40
    engine.forget(np.array([1]))
    assert engine.held() == {"2.Join": 1}
    found = engine.apply({0: rows(60, [1], [7], ["new"], query=2)}, {}, NOTHING_BEGUN).to_pylist()
    assert [list(row.values())[2:] for row in found] == [[1, 7, "new", 7, "stays"]]


def test_a_table_to_the_left_has_no_rows_that_stand_alone() -> None:
    root = nodes.Join(
        nodes.TableRows("t", ("a",), (LONG,)), nodes.Branch(0, (LONG,)), (0,), (0,), is_left=True
    )
    with pytest.raises(ValueError):
        Tree(root, none())
