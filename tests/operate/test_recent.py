"""A window of what a pattern told, against its definition at every tick: also where nothing comes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from tests.operate.histories import LONG, THOROUGH
from tests.operate.test_simple import NOTHING_BEGUN

TICK, TICKS, QUERY = 2, 14, 3
CONSTANTS = Constants(np.array([QUERY]), pa.table({"none": [None]}))
told = st.lists(st.tuples(st.integers(1, TICKS), st.integers(0, 2)), max_size=12)


def changes(rows: list[tuple[int, int]]) -> pa.Table:
    tick, value = ([], []) if not rows else zip(*rows, strict=True)
    ticks = pa.array([TICK * t for t in tick], pa.int64())
    whole = [pa.array([n] * len(rows), pa.int64()) for n in (QUERY, 1)]
    return pa.table({"query": whole[0], "tick": ticks, "sign": whole[1], "c0": pa.array(value, pa.int64())})


@THOROUGH
@given(told, st.integers(1, 9), st.sets(st.integers(1, TICKS - 1)), st.sets(st.integers(1, TICKS)))
def test_at_every_tick(rows: list[tuple[int, int]], size: int, cuts: set[int], restarts: set[int]) -> None:
    root = nodes.Recent(nodes.Branch(0, (LONG,)), size, TICK)
    tree, held = Tree(root, CONSTANTS), Counter[int]()
    found: dict[int, Counter[int]] = {}
    for first, last in pairwise([0, *sorted(cuts), TICKS]):
        came = changes([row for row in rows if first < row[0] <= last])
        out = tree.apply({0: came} if came.num_rows else {}, {}, NOTHING_BEGUN, TICK * last)
        for row in sorted(out.to_pylist(), key=lambda row: row["tick"]):
            held[row["c0"]] += row["sign"]
            found[row["tick"]] = +held
        if last in restarts:
            saved, tree = tree.saved(), Tree(root, CONSTANTS)
            tree.restore(saved)
        now = tree.answering(np.array([QUERY]), TICK * last).apply({}, {}, NOTHING_BEGUN, TICK * last)
        answer = Counter[int]()
        for row in now.to_pylist():
            answer[row["c0"]] += row["sign"]
        assert answer == +held
    before: Counter[int] = Counter()
    for tick in range(1, TICKS + 1):
        # Of a part of a tick the whole counts.
        wanted = Counter(v for t, v in rows if t <= tick and TICK * (tick - t) < -(-size // TICK) * TICK)
        assert found.get(TICK * tick, before) == wanted
        before = wanted
    tree.apply({}, {}, NOTHING_BEGUN, TICK * 100)
    assert sum(tree.held().values()) == 0 and not tree.is_due(10**12)
