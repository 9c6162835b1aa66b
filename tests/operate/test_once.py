"""REPORT ONCE PER over alerts, against its plain twin; what may be told again is forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.kernels.trigger.once import plain_walk_once, walk_once
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.operate.histories import FEW, LONG, QUERIES, TEXT, THOROUGH, cut_anyhow, histories, run
from tests.operate.test_persisting import rows, told
from tests.operate.twin import World

TYPES = (TEXT, LONG)
EVERY = Expression.of_column("q:p0", LONG)
FUNCTIONS: dict[str, Any] = {EVERY.sql: lambda row, p: p["q:p0"]}

durations = st.lists(st.integers(0, 4), min_size=len(QUERIES), max_size=len(QUERIES))


@THOROUGH
@given(histories(TYPES, FEW), durations, st.sampled_from([(0,), (1,), (1, 0)]), st.booleans(), cut_anyhow())
def test_at_every_tick(changes: Any, every: Any, keys: Any, is_for_ever: bool, cut: Any) -> None:
    alerts = [(tick, times, row) for tick, times, row in changes if times > 0]
    constants = {q: {"q:p0": us} for q, us in zip(QUERIES, every, strict=True)}
    node = nodes.Once(nodes.Branch(0, TYPES), keys, None if is_for_ever else EVERY)
    run(node, World({0: alerts}, {}, {}, constants, FUNCTIONS), *cut)


@THOROUGH
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 9), st.sampled_from([0, 1, 3, NEVER]))))
def test_walked_as_plainly(alerts: list[tuple[int, int, int]]) -> None:
    key, tick, every = (np.array(c, np.int64) for c in zip(*sorted(alerts), strict=True)) if alerts else (
        np.empty(0, np.int64),) * 3  # fmt: skip
    one, other = (np.full(4, NOTHING_YET), np.full(4, NOTHING_YET))
    assert walk_once(key, tick, every, one).tolist() == plain_walk_once(key, tick, every, other).tolist()
    assert one.tolist() == other.tolist()


def test_who_may_be_told_again_is_forgotten(monkeypatch: Any) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    constants = Constants(np.array([1]), pa.table({"q:p0": [5]}))
    tree = Tree(nodes.Once(nodes.Branch(0, (TEXT,)), (0,), EVERY), constants)
    state: Any = tree.stations[-1].state
    state.waste.look_at = 10
    for tick in range(100):
        alerts = [(tick, 1, f"object {tick} {i}") for i in range(10)]
        assert len(told(tree, rows(*alerts), tick)) == 10
        assert len(state.keys) <= 150
    tree.forget(np.array([1]))
    assert tree.held() == {"1.Once": 0}
