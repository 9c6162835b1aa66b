"""TICK() over signed rows, against its plain twin; what waits for its tick is no more than has to."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.operate.histories import (
    DOUBLE,
    FEW,
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
from tests.operate.test_persisting import told
from tests.operate.twin import World

TYPES = (TEXT, LONG, DOUBLE, TIME)
BASES = tuple(Expression.of_column(f"c{i}", t) for i, t in enumerate(TYPES))
SHIFTS = tuple(Expression.of_column(f"q:p{i}", LONG) for i in range(2))
FUNCTIONS: dict[str, Any] = {
    **{base.sql: lambda row, p, i=i: row[i] for i, base in enumerate(BASES)},
    **{shift.sql: lambda row, p, i=i: p[f"q:p{i}"] for i, shift in enumerate(SHIFTS)},
}
EPOCH = datetime(1970, 1, 1)
TIMES = VALUES | FEW | {
    LONG: st.sampled_from([0, 0, 1, -1, 2**62, -(2**62)]),
    DOUBLE: st.sampled_from([0.0, 1e-6, 2.5e-6, 3e-6, 1e300, -1e300, float("nan"), float("inf")]),
    TIME: st.integers(-1, 6).map(lambda us: EPOCH + timedelta(microseconds=us)),
}  # fmt: skip

shifts = st.lists(st.integers(-3, 4), min_size=len(QUERIES), max_size=len(QUERIES))
bounds = st.builds(
    nodes.TickBound, st.sampled_from([None, *BASES[1:]]), st.sampled_from(SHIFTS), st.booleans(),
    st.booleans(),
)  # fmt: skip


@THOROUGH
@given(
    histories(TYPES, TIMES), shifts, shifts, st.lists(bounds, min_size=1, max_size=2).map(tuple), cut_anyhow()
)
def test_at_every_tick(changes: Any, one: Any, other: Any, bounds: Any, cut: Any) -> None:
    given = {q: {"q:p0": a, "q:p1": b} for q, a, b in zip(QUERIES, one, other, strict=True)}
    node = nodes.Ticking(nodes.Branch(0, TYPES), bounds, 1)
    run(node, World({0: changes}, {}, {}, given, FUNCTIONS), *cut)


def engine(*bounds: nodes.TickBound) -> Tree:
    constants = Constants(np.array([1]), pa.table({"q:p0": [5], "q:p1": [0]}))
    return Tree(nodes.Ticking(nodes.Branch(0, (TEXT, TIME)), bounds, 1), constants)


def rows(*changes: tuple[int, int, str, int]) -> dict[int, pa.Table]:
    tick, sign, key, at = zip(*changes, strict=True) if changes else ((), (), (), ())
    fixed = {"query": [1] * len(tick), "tick": tick, "sign": sign}
    columns = {name: pa.array(values, pa.int64()) for name, values in fixed.items()}
    return {0: pa.table(columns | {"c0": pa.array(key, pa.string()), "c1": pa.array(at, pa.timestamp("us"))})}


AFTER = nodes.TickBound(Expression.of_column("c1", TIME), SHIFTS[0], False, True)


def test_long_after_the_last_row_it_is_told_at_the_tick_it_was_due() -> None:
    tree = engine(AFTER)
    assert told(tree, rows((1, 1, "a", 1), (2, 1, "b", 2)), 3) == []
    assert not tree.is_due(6) and tree.is_due(7)
    assert told(tree, rows(), 1000) == [(7, 1, "a"), (8, 1, "b")]
    assert not tree.is_due(10**15)
    assert told(tree, rows((1001, -1, "a", 1)), 1001) == [(1001, -1, "a")]


def test_what_is_taken_back_before_its_tick_is_not_held() -> None:
    """Each of a hundred objects reports at every tick, and is silent at none."""
    tree = engine(AFTER)
    for tick in range(1, 200):
        came = [(tick, 1, f"object {i}", tick) for i in range(100)]
        went = [(tick, -1, f"object {i}", tick - 1) for i in range(100)] if tick > 1 else []
        assert told(tree, rows(*came, *went), tick) == []
        assert tree.held()["1.Ticking"] <= 1200
    tree.forget(np.array([1]))
    assert tree.held() == {"1.Ticking": 0} and not tree.is_due(10**9)
