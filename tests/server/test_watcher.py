"""One client's look at a query: bounded, and exact however slowly it is asked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn, Template
from sanderling.server.hub.channel import Channel
from sanderling.server.hub.rows import Held, netted, schema_of
from sanderling.server.hub.watcher import Load, Watcher
from sanderling.types import TYPES

TEMPLATE = Template(
    0, "s", None, (OutputColumn("id", Expression.of_column("r:id", TYPES["BIGINT"])),), pa.schema([]), True
)
SCHEMA = schema_of(TEMPLATE)


def rows(tick: int, *changes: tuple[int, int]) -> pa.Table:
    """Of one tick: sign and id."""
    ordered = sorted(changes)
    columns = [[tick] * len(ordered), [sign for sign, _ in ordered], [id_ for _, id_ in ordered]]
    return pa.Table.from_arrays(
        [pa.array(c, pa.int64()).cast(f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def channel() -> Channel:
    made = Channel("q", 0, TEMPLATE, (), ("s",), is_told_only=False)
    made.begin(None, 0)
    return made


def add(total: Counter[int], table: pa.Table) -> None:
    for sign, id_ in zip(table.column("sign").to_pylist(), table.column("c0").to_pylist(), strict=True):
        total[id_] += sign


changes = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True), min_size=1, max_size=12)


@given(changes, st.lists(st.booleans(), min_size=12, max_size=12), st.integers(1, 400))
def test_what_is_told_adds_up_to_the_answer(
    toggled: list[list[int]], reads: list[bool], most: int
) -> None:  # fmt: skip
    """However seldom it is asked, and however little may wait."""
    made, there = channel(), set[int]()
    watcher = Watcher(made, Load(), lambda: None, most)
    made.watchers.append(watcher)
    watcher.begin(made.whole())
    total: Counter[int] = Counter()

    def read() -> None:
        while (step := watcher.step()) is not None:
            if step.piece is not None:
                if step.piece.is_whole:
                    total.clear()
                add(total, step.piece.rows)

    for tick, ids in enumerate(toggled, 1):
        if ids:
            made.give(rows(tick, *((-1, i) if i in there else (1, i) for i in ids)))
            there ^= set(ids)
        if reads[tick - 1]:
            read()
    read()
    assert +total == Counter(there) and min(total.values(), default=0) >= 0
    assert watcher.waiting == 0


def test_a_slow_client_is_told_the_difference_and_then_all() -> None:
    made, load = channel(), Load()
    watcher = Watcher(made, load, lambda: None, most=400)
    made.watchers.append(watcher)
    for tick in range(1, 40):  # the same object, in and out
        made.give(rows(tick, (1 if tick % 2 else -1, 7)))
    step = watcher.step()
    assert step is not None and step.piece is not None and step.reset is None
    assert step.piece.merged is not None and step.piece.merged[0] == 1
    made.give(rows(40, *((1, n) for n in range(100, 200))))
    made.give(rows(41, *((1, n) for n in range(200, 300))))
    step = watcher.step()
    assert step is not None and step.reset == "it fell behind"
    assert step.piece is not None and step.piece.is_whole and step.piece.rows.num_rows == 201
    assert load.waiting == 0


def test_what_waits_is_bounded_over_all_that_a_client_looks_at() -> None:
    load = Load(most=1_000)
    looks = []
    for _ in range(10):
        made = channel()
        watcher = Watcher(made, load, lambda: None)
        made.watchers.append(watcher)
        looks.append(made)
    for tick in range(1, 20):
        for made in looks:
            made.give(rows(tick, *((1, tick * 10 + n) for n in range(5))))
    biggest = int(rows(1, *((1, n) for n in range(5))).nbytes)
    assert load.waiting <= 1_000 + 10 * biggest


@given(st.lists(st.tuples(st.sampled_from([-1, 1]), st.integers(0, 3)), max_size=30))
def test_netting_is_a_sum(said: list[tuple[int, int]]) -> None:
    total: Counter[int] = Counter()
    table = rows(1, *said)
    add(total, table)
    found: Counter[int] = Counter()
    net = netted([table, table.slice(0, 0)], 9)
    add(found, net)
    assert {k: v for k, v in total.items() if v} == {k: v for k, v in found.items() if v}
    assert net.num_rows == sum(map(abs, total.values()))
    signs = net.column("sign").to_numpy()
    assert (np.diff(signs) >= 0).all(), "− before +"


def test_what_is_held_is_added_up_now_and_then() -> None:
    held = Held(rows(0))
    for tick in range(1, 3000):
        held.change(rows(tick, (1, tick), *([(-1, tick - 1)] if tick > 1 else [])))
    assert held.size == 1 and held.rows(9).column("c0").to_pylist() == [2999]
