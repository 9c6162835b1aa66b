"""Random histories of multisets, and how a tree is held against its plain twin."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.nodes import children_of
from sanderling.types import TYPES, SqlType
from tests.long import drawn
from tests.operate.twin import Bag, Row, World, answer, plain

LONG, DOUBLE, TEXT, FLAG = (TYPES[n] for n in ("BIGINT", "DOUBLE", "STRING", "BOOLEAN"))
TIME, DAY, SMALL = TYPES["TIMESTAMP"], TYPES["DATE"], TYPES["INT"]
TICKS = 6
# The first example compiles the kernels.
THOROUGH = settings(max_examples=drawn(12, 1000), deadline=None)
QUERIES = (3, 4, 900)

VALUES: dict[SqlType, Any] = {
    LONG: st.one_of(st.integers(-2, 2), st.sampled_from([2**63 - 1, -(2**63), 2**62, 2**53 + 1])),
    SMALL: st.integers(-2, 2),
    DOUBLE: st.one_of(
        st.sampled_from(
            [0.0, -0.0, 1.5, -1.5, 0.1, 1e308, -1e308, 5e-324, 2.0**-1060, 1e16, -1e200, math.nan]
        ),
        st.floats(allow_nan=True, allow_infinity=True),
    ),
    TEXT: st.sampled_from(["", "a", "b", "ab", "é", "z" * 20]),
    FLAG: st.booleans(),
    TIME: st.sampled_from([datetime(2008, 5, 23), datetime(2008, 5, 23, 1, 2, 3, 4), datetime(1950, 1, 1)]),
    DAY: st.sampled_from([date(2008, 5, 23), date(1950, 1, 1)]),
}
# Few values, which meet each other.
FEW: dict[SqlType, Any] = VALUES | {
    LONG: st.integers(-1, 2),
    DOUBLE: st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 1.5, 3.0]),
    TEXT: st.sampled_from(["a", "b"]),
}

Change = tuple[int, int, Row]


@st.composite
def histories(
    draw: Any, types: tuple[SqlType, ...], values: Any = VALUES, queries: Any = QUERIES
) -> list[Change]:
    """(tick, sign, row): at no tick is any row there less than not at all."""
    rows = st.tuples(st.sampled_from(queries), *(st.one_of(st.none(), values[t]) for t in types))
    held: list[Row] = []
    changes: list[Change] = []
    for tick in range(TICKS):
        for row in draw(st.lists(rows, max_size=4)):
            times = draw(st.sampled_from([1, 1, 1, 2, 3]))
            changes.append((tick, times, row))
            held += [row] * times
        for _ in range(draw(st.integers(0, 3)) if held else 0):
            if held:
                changes.append((tick, -1, held.pop(draw(st.integers(0, len(held) - 1)))))
    return changes


def run(root: nodes.Node, world: World, cuts: list[int], restarts: list[bool], seed: int = 0) -> Tree:
    """Feeds a world to a tree in batches that end before these ticks; checks each tick against the twin."""
    constants = constants_of(world)
    engine = Tree(root, constants)
    engine.pieces.changes = 1 + 2 * seed
    told: dict[int, Bag] = {}
    edges = sorted({0, *cuts, TICKS})
    shuffle = np.random.default_rng(seed)
    for (low, high), is_restarted in zip(itertools.pairwise(edges), restarts, strict=False):
        branches, tables, begun = batch_of(root, world, low, high, shuffle)
        out = engine.apply(branches, tables, begun, high - 1)
        for tick, sign, row in changes_in(out):
            bag = told.setdefault(tick, Counter())
            assert row not in bag and sign, "not consolidated"
            bag[row] = sign
        if is_restarted:
            saved = engine.saved()
            engine = Tree(root, constants)
            engine.restore(saved)
    before: Bag = Counter()
    for tick in range(TICKS):
        now = answer(root, world, tick)
        expected = {row: now[row] - before[row] for row in {*now, *before} if now[row] != before[row]}
        assert dict(told.get(tick, {})) == expected, f"at tick {tick}"
        before = now
    return engine


def constants_of(world: World) -> Constants:
    queries = np.array(list(world.constants), np.int64)
    names = sorted({name for row in world.constants.values() for name in row})
    columns = {name: pa.array([row[name] for row in world.constants.values()]) for name in names}
    return Constants(queries, pa.table(columns))


def batch_of(root: nodes.Node, world: World, low: int, high: int, shuffle: Any) -> tuple[Any, Any, pa.Table]:
    branches, tables = {}, {}
    for node in all_nodes(root):
        if isinstance(node, nodes.Branch):
            names = [f"c{i}" for i in range(len(node.types))]
            branches[node.number] = table_of(
                world.branches[node.number], names, node.types, low, high, shuffle
            )
        elif isinstance(node, nodes.TableRows):
            changes = world.tables[node.table]
            tables[node.table] = table_of(changes, node.columns, node.types, low, high, shuffle)
    mine = {q: t for q, t in world.begun.items() if low <= t < high}
    begun = pa.table({"query": pa.array(mine, pa.int32()), "tick": pa.array(mine.values(), pa.int64())})
    return branches, tables, begun


def all_nodes(node: nodes.Node) -> list[nodes.Node]:
    return [node, *(n for child in children_of(node) for n in all_nodes(child))]


def table_of(changes: list[Change], names: Any, types: Any, low: int, high: int, shuffle: Any) -> pa.Table:
    """Those of the ticks from low to below high, in any order."""
    mine = [c for c in changes if low <= c[0] < high]
    mine = [mine[i] for i in shuffle.permutation(len(mine))]
    columns = {
        "query": pa.array([row[0] for _, _, row in mine], pa.int32()),
        "tick": pa.array([tick for tick, _, _ in mine], pa.int64()),
        "sign": pa.array([sign for _, sign, _ in mine], pa.int64()),
    }
    for i, (name, type_) in enumerate(zip(names, types, strict=True)):
        columns[name] = pa.array([row[1 + i] for _, _, row in mine], type_.arrow)
    return pa.table(columns)


def changes_in(out: pa.Table) -> list[Change]:
    columns = [c.to_pylist() for c in out.columns]
    return [
        (tick, sign, (query, *(plain(v) for v in values)))
        for query, tick, sign, *values in zip(*columns, strict=True)
    ]


def cut_anyhow() -> Any:
    """Where batches end, after which of them there is a restart, and how rows are shuffled."""
    return st.tuples(
        st.lists(st.integers(1, TICKS - 1), max_size=4),
        st.lists(st.booleans(), min_size=TICKS, max_size=TICKS),
        st.integers(0, 3),
    )
