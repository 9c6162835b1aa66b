"""GROUP BY and aggregates against their plain twin: exact fractions, sorted lists."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.nodes import (
    AVG,
    COUNT,
    FIRST_BY,
    LAST_BY,
    MAX,
    MIN,
    PERCENTILE,
    STDDEV,
    SUM,
    Sum,
)
from tests.operate.histories import (
    DAY,
    DOUBLE,
    FEW,
    FLAG,
    LONG,
    QUERIES,
    SMALL,
    TEXT,
    THOROUGH,
    TICKS,
    TIME,
    VALUES,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.test_simple import NOTHING_BEGUN, none
from tests.operate.twin import World

TYPES = (LONG, DOUBLE, TEXT, FLAG, TIME, DAY, SMALL)


@st.composite
def aggregates(draw: Any) -> Sum:
    if draw(st.integers(0, 5)) == 0:
        return Sum(COUNT, None, LONG)
    column = draw(st.integers(0, len(TYPES) - 1))
    if draw(st.integers(0, 3)) == 0:
        return Sum(PERCENTILE, 1, DOUBLE, part=draw(st.sampled_from([0.5, 0.0, 1.0, 0.25, 0.9])))
    if draw(st.integers(0, 3)) == 0:
        kind, by = draw(st.sampled_from([FIRST_BY, LAST_BY])), draw(st.integers(0, len(TYPES) - 1))
        return Sum(kind, column, TYPES[column], by=by)
    kinds = [COUNT, MIN, MAX, *([SUM, AVG, STDDEV] if TYPES[column].is_number else [])]
    kind, is_distinct = draw(st.sampled_from(kinds)), draw(st.booleans())
    type_ = {COUNT: LONG, AVG: DOUBLE, STDDEV: DOUBLE, MIN: TYPES[column], MAX: TYPES[column]}.get(
        kind, DOUBLE if TYPES[column] is DOUBLE else LONG
    )
    return Sum(kind, column, type_, is_distinct)


def world(changes: Any, begun: dict[int, int]) -> World:
    return World({0: changes}, {}, begun, {}, {})


@THOROUGH
@given(st.data(), cut_anyhow())
def test_groups_and_their_aggregates(data: Any, cut: Any) -> None:
    groups = data.draw(st.lists(st.integers(0, len(TYPES) - 1), min_size=1, max_size=2))
    sums = data.draw(st.lists(aggregates(), max_size=5))
    values = data.draw(st.sampled_from([VALUES, FEW]))
    root = nodes.Aggregate(nodes.Branch(0, TYPES), tuple(groups), tuple(sums))
    run(root, world(data.draw(histories(TYPES, values)), {}), *cut)


@THOROUGH
@given(st.data(), cut_anyhow())
def test_without_groups_there_is_a_row_from_the_beginning(data: Any, cut: Any) -> None:
    begins = st.integers(0, TICKS - 1)
    begun = {q: data.draw(begins) for q in data.draw(st.sets(st.sampled_from(QUERIES)))}
    sums = (Sum(COUNT, None, LONG), *data.draw(st.lists(aggregates(), max_size=4)))
    changes = [c for c in data.draw(histories(TYPES)) if c[2][0] in begun]
    changes = [(max(tick, begun[row[0]]), sign, row) for tick, sign, row in changes]
    run(nodes.Aggregate(nodes.Branch(0, TYPES), (), sums), world(changes, begun), *cut)


def rows(tick: int, signs: Any, values: Any, groups: Any = None) -> dict[int, pa.Table]:
    n = len(signs)
    columns = {"query": np.ones(n, np.int32), "tick": np.full(n, tick), "sign": signs}
    return {0: pa.table({**columns, "c0": np.zeros(n, np.int64) if groups is None else groups, "c1": values})}


ALL = tuple(Sum(kind, 1, DOUBLE) for kind in (SUM, AVG, STDDEV, MIN, MAX))


def test_after_a_million_changes_the_sum_of_an_empty_group_is_exactly_gone() -> None:
    engine = Tree(nodes.Aggregate(nodes.Branch(0, (LONG, DOUBLE)), (0,), ALL), none())
    chance = np.random.default_rng(7)
    values = chance.standard_normal(500_000) * 10.0 ** chance.integers(-300, 300, 500_000)
    one = np.array([0.1])
    engine.apply(rows(0, [1], one), {}, NOTHING_BEGUN)
    for tick, part in enumerate(np.array_split(values, 5), start=1):
        engine.apply(rows(tick, np.ones(len(part), np.int64), part), {}, NOTHING_BEGUN)
    for tick, part in enumerate(np.array_split(chance.permutation(values), 5), start=6):
        last = engine.apply(rows(tick, -np.ones(len(part), np.int64), part), {}, NOTHING_BEGUN)
    found = [row for row in last.to_pylist() if row["sign"] == 1]
    assert [list(row.values())[4:] for row in found] == [[0.1, 0.1, None, 0.1, 0.1]]
    gone = engine.apply(rows(11, [-1], one), {}, NOTHING_BEGUN)
    assert gone.num_rows == 1 and engine.held() == {"1.Aggregate": 0}
    assert all(t.num_rows == 0 for t in engine.saved().values())


def test_a_sum_is_rounded_once() -> None:
    engine = Tree(nodes.Aggregate(nodes.Branch(0, (LONG, DOUBLE)), (0,), ALL[:1]), none())
    values = [1.0, 2.0**-53, 2.0**-80]  # a tie but for the last
    found = engine.apply(rows(0, [1, 1, 1], values), {}, NOTHING_BEGUN).to_pylist()
    assert found[0]["c1"] == 1.0 + 2.0**-52
    found = engine.apply(rows(1, [-1], values[2:]), {}, NOTHING_BEGUN).to_pylist()
    assert {row["sign"]: row["c1"] for row in found} == {-1: 1.0 + 2.0**-52, 1: 1.0}


def test_whole_numbers_beyond_64_bits() -> None:
    node = nodes.Aggregate(nodes.Branch(0, (LONG, LONG)), (0,), (Sum(SUM, 1, LONG), Sum(AVG, 1, DOUBLE)))
    engine = Tree(node, none())
    top = 2**63 - 1
    engine.apply(rows(0, [1], [top]), {}, NOTHING_BEGUN)
    found = engine.apply(rows(1, [1, 10**12], [1, top]), {}, NOTHING_BEGUN).to_pylist()
    assert [row["c1"] for row in found if row["sign"] == 1] == [None]
    assert [row["c2"] for row in found if row["sign"] == 1] == [float(top * (10**12 + 1) + 1) / (10**12 + 2)]
    found = engine.apply(rows(2, [-(10**12)], [top]), {}, NOTHING_BEGUN).to_pylist()
    assert [row["c1"] for row in found if row["sign"] == 1] == [None]
    found = engine.apply(rows(3, [-1], [1]), {}, NOTHING_BEGUN).to_pylist()
    assert [row["c1"] for row in found if row["sign"] == 1] == [top]


def test_groups_that_are_empty_are_freed(monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    sums = (Sum(MIN, 1, TEXT), Sum(COUNT, 1, LONG, is_distinct=True), Sum(COUNT, None, LONG))
    engine = Tree(nodes.Aggregate(nodes.Branch(0, (LONG, TEXT)), (0,), sums), none())
    state: Any = engine.stations[-1].state
    state.waste.look_at = 10
    chance = random.Random(3)
    for tick in range(40):
        signs = [1] * 20 + ([-1] * 20 if tick else [])
        groups = [tick + i for i in range(20)] + ([tick - 1 + i for i in range(20)] if tick else [])
        values = [f"{tick} {i}" for i in range(20)] + ([f"{tick - 1} {i}" for i in range(20)] if tick else [])
        order = chance.sample(range(len(signs)), len(signs))
        signs, values, groups = ([column[i] for i in order] for column in (signs, values, groups))
        engine.apply(rows(tick, signs, values, groups), {}, NOTHING_BEGUN)
        assert len(state.groups) <= 100
        for measured in state.measured.values():
            assert all(len(v.numbered) <= 20_000 for v in measured._multisets().values())
    assert engine.held() == {"1.Aggregate": 20 * 3}
    engine.forget(np.array([1]))
    assert engine.held() == {"1.Aggregate": 0} and len(state.groups) == 0
