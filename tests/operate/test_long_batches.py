"""However many ticks come at once, operators look at, tell and hold what they would tick by tick.

The same changes in one batch, in ten, and a tick a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.join.join import JoinState
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.long import so_many
from tests.operate.histories import DOUBLE, LONG, TEXT
from tests.operate.test_simple import NOTHING_BEGUN

TICKS, OBJECTS = so_many(300, 1000), 20
SIDE = (LONG, DOUBLE, DOUBLE, TEXT)
RADIUS = Expression.of_column("q:p0", DOUBLE)
NEAR = nodes.Near((1, 2), (1, 2), RADIUS)
LEFT, RIGHT = nodes.Branch(0, SIDE), nodes.Branch(1, SIDE)
TABLE = nodes.TableRows("t", ("c0", "c1", "c2", "c3"), SIDE)
SUMS = (
    nodes.Sum(nodes.COUNT, None, LONG),
    nodes.Sum(nodes.SUM, 1, DOUBLE),
    nodes.Sum(nodes.MIN, 1, DOUBLE),
    nodes.Sum(nodes.STDDEV, 2, DOUBLE),
    nodes.Sum(nodes.COUNT, 3, LONG, True),
)
SHOWN = Expression.of_column("c0", LONG)
TYPE = Expression.of_column("c3", TEXT)
ROOTS = {
    "near": nodes.Join(LEFT, RIGHT, (), (), NEAR),
    "near, or alone": nodes.Join(LEFT, RIGHT, (), (), NEAR, is_left=True),
    "near to itself": nodes.Join(LEFT, LEFT, (), (), NEAR),
    "equal": nodes.Join(LEFT, RIGHT, (3,), (3,)),
    "equal, or alone": nodes.Join(LEFT, RIGHT, (0, 3), (0, 3), is_left=True),
    "all with all": nodes.Join(LEFT, RIGHT, (), ()),
    "near to a table": nodes.Join(LEFT, TABLE, (), (), NEAR),
    "equal to a table": nodes.Join(LEFT, TABLE, (3,), (3,), is_left=True),
    "groups": nodes.Aggregate(LEFT, (3,), SUMS),
    "in all": nodes.Aggregate(LEFT, (), SUMS),
    "distinct": nodes.Distinct(LEFT),
    "first": nodes.First(
        LEFT, (nodes.Order(1, False, False),), Expression("3", LONG, frozenset())
    ),
    "union": nodes.Union((LEFT, RIGHT)),
    "in both": nodes.SetOperation(
        nodes.INTERSECT, True, nodes.Select(LEFT, None, (TYPE,)), nodes.Select(RIGHT, None, (TYPE,))
    ),
    "in one": nodes.SetOperation(nodes.EXCEPT, False, LEFT, RIGHT),
    "select": nodes.Select(LEFT, None, (SHOWN,)),
}  # fmt: skip


@dataclass(frozen=True)
class Work:
    """What a tree did: of each operator the rows it told, pairs looked at, what is held, and peak memory."""

    told: list[int]
    looked: list[int]
    held: dict[str, int]
    updates: int
    peak: int


def changes(seed: int) -> pa.Table:
    """Objects that jump: at each tick every one leaves its place and comes to another."""
    chance = np.random.default_rng(seed)
    x, y = (chance.uniform(0, 100, (TICKS, OBJECTS)) for _ in range(2))
    ids = np.tile(np.arange(OBJECTS), TICKS)
    tick = np.repeat(np.arange(TICKS), OBJECTS)
    came = {"tick": tick, "sign": np.ones(len(ids), np.int64), "c0": ids, "c1": x.ravel(), "c2": y.ravel()}
    went = {name: column[:-OBJECTS] for name, column in came.items()}
    went |= {"tick": went["tick"] + 1, "sign": -went["sign"]}
    both = {name: np.concatenate([came[name], went[name]]) for name in came}
    types = pa.array([f"type {i % 3}" for i in both["c0"]])
    return pa.table({"query": np.ones(len(types), np.int32)} | both | {"c3": types})


def some_rows_of_a_table() -> pa.Table:
    rows = changes(7)
    rows = rows.filter(pa.array(rows.column("tick").to_numpy() == 0))
    return rows.set_column(0, "query", pa.array(np.full(len(rows), -1, np.int32)))


def memory(what: str) -> int:
    """VmRSS, what is there now, or VmHWM, the most there has been; in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) // 1024


def worked(root: nodes.Node, batches: int) -> Work:
    engine = Tree(root, Constants(np.array([1]), pa.table({"q:p0": [10.0]})))
    inputs = {0: changes(1), 1: changes(2)}
    ticks = {branch: rows.column("tick").to_numpy() for branch, rows in inputs.items()}
    updates = 0
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    for number in range(batches):
        low, high = (TICKS * n // batches for n in (number, number + 1))
        now = {b: rows.filter(pa.array((low <= ticks[b]) & (ticks[b] < high))) for b, rows in inputs.items()}
        tables = {"t": some_rows_of_a_table()} if number == 0 else {}
        updates += engine.apply(now, tables, NOTHING_BEGUN).num_rows
    states = [s.state for s in engine.stations]
    return Work(
        [s.rows_out for s in engine.stations], [s.looked for s in states if isinstance(s, JoinState)],
        engine.held(), updates, memory("VmHWM") - before,
    )  # fmt: skip


@pytest.mark.parametrize("name", ROOTS)
def test_work_and_memory_follow_what_is_there_at_a_tick(name: str) -> None:
    worked(ROOTS[name], 10)  # compiles
    whole, cut, tick_by_tick = (worked(ROOTS[name], batches) for batches in (1, 10, TICKS))
    for work in (whole, cut):
        assert work.told == tick_by_tick.told
        assert work.looked == tick_by_tick.looked
        assert work.held == tick_by_tick.held
        assert work.updates == tick_by_tick.updates
    # At most 40,000 changes a side; a million updates of eight columns are some 80 MB.
    assert whole.peak < 64 + 100 * whole.updates // 1_000_000, "megabytes"


def test_those_who_are_near_are_few_among_those_who_ever_were() -> None:
    """A batch of a thousand ticks has a thousand times as many rows as a tick: they do not meet."""
    work = worked(ROOTS["near to itself"], 1)
    changes_of_both = 4 * OBJECTS * TICKS
    # Of 20 objects one in 11 is in the cells around a place.
    assert work.looked[0] < 3 * changes_of_both


def test_one_object_alone_meets_itself_once_a_tick() -> None:
    """Two thousand ticks of it were once two million pairs."""
    side: Any = (LONG, DOUBLE, DOUBLE)
    branch = nodes.Branch(0, side)
    engine = Tree(
        nodes.Join(branch, branch, (), (), NEAR), Constants(np.array([1]), pa.table({"q:p0": [10.0]}))
    )
    n = 2000
    tick = np.concatenate([np.arange(n), np.arange(1, n)])
    sign = np.where(np.arange(2 * n - 1) < n, 1, -1)
    x = (tick - (sign < 0)) * 1e-3
    rows = {"query": np.ones(len(tick), np.int32), "tick": tick, "sign": sign}
    out = engine.apply({0: pa.table(rows | {"c0": tick * 0, "c1": x, "c2": x})}, {}, NOTHING_BEGUN)
    assert out.num_rows == 2 * n - 1
    state = engine.stations[-1].state
    assert isinstance(state, JoinState) and state.looked < 2 * n
