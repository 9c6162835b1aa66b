"""STAY_WITHIN the fast way, against PERSISTENCY over a join by DISTANCE, which is what it means."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from sanderling import arrays
from sanderling.operate.sql.constants import Constants
from sanderling.operate.trajectory import held
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.operate.histories import DOUBLE, LONG, QUERIES, TEXT, THOROUGH, TICKS
from tests.operate.test_simple import NOTHING_BEGUN
from tests.properties.chance import Chance, made_of

SIDE = (TEXT, DOUBLE, DOUBLE)
RADIUS, STAY = Expression.of_column("q:p0", DOUBLE), Expression.of_column("q:p1", LONG)
ZERO = Expression("0", LONG, frozenset())
KEYS = (Expression.of_column("c0", TEXT), Expression.of_column("c3", TEXT))


def meaning(is_self: bool, tick_us: int = 1, is_globe: bool = False) -> nodes.Persisting:
    left, right = nodes.Branch(0, SIDE), nodes.Branch(0 if is_self else 1, SIDE)
    near = nodes.Near((1, 2), (1, 2), RADIUS, is_globe=is_globe)
    pairs = nodes.Select(nodes.Join(left, right, (), (), near), None, KEYS)
    return nodes.Persisting(pairs, (0, 1), STAY, ZERO, None, tick_us)


def company(is_self: bool, tick_us: int = 1, is_globe: bool = False) -> nodes.Company:
    left, right = nodes.Branch(0, SIDE), nodes.Branch(0 if is_self else 1, SIDE)
    return nodes.Company(left, right, (0, 0), ((1, 2), (1, 2)), RADIUS, STAY, tick_us, is_globe)


# ----- random worlds


Place = tuple[float | None, float | None]
Rows = list[tuple[int, int, int, str, float | None, float | None]]  # query, tick, sign, key, x, y
SPOTS: list[float | None] = [0.0, 0.5, 1.0, 1.25, 2.0, 3.0, 7.0, None, float("nan"), float("inf"), -1e300]


def history(chance: Random) -> Rows:
    """Objects that jump, creep, stand, and come and go."""
    rows: Rows = []
    for query in QUERIES:
        for key in chance.choice(["ab", "abcd", "abcdefgh"]):
            at: Place | None = None
            for tick in range(TICKS):
                to = after(chance, at)
                rows += [] if at is None or to == at else [(query, tick, -1, key, *at)]
                rows += [] if to is None or to == at else [(query, tick, 1, key, *to)]
                at = to
    return rows


def after(chance: Random, at: Place | None) -> Place | None:
    how = chance.choice(["stand", "stand", "creep", "creep", "jump", "go"])
    if how == "stand" or (how == "creep" and (at is None or None in at)):
        return at
    if how == "go":
        return None
    if how == "creep":
        x, y = at  # type: ignore[misc]
        return x + chance.choice([0.1, -0.1, 0.25]), y + chance.choice([0.0, 0.1])  # type: ignore[operator]
    return chance.choice(SPOTS), chance.choice([0.0, 0.0, 1.0])


def table(rows: Rows) -> pa.Table:
    query, tick, sign, *columns = zip(*rows, strict=True) if rows else [()] * 6
    fixed = {
        name: pa.array(c, pa.int64())
        for name, c in zip(("query", "tick", "sign"), (query, tick, sign), strict=True)
    }
    types = (pa.string(), pa.float64(), pa.float64())
    own = {f"c{i}": pa.array(c, t) for i, (c, t) in enumerate(zip(columns, types, strict=True))}
    return pa.table({**fixed, **own})


def told(tree: Tree, branches: dict[int, Rows], closed_to: int) -> set[Any]:
    came = {number: table(rows) for number, rows in branches.items()}
    out = tree.apply(came, {}, NOTHING_BEGUN, closed_to).to_pylist()
    found = [(r["query"], r["tick"], r["sign"], r["c0"], r["c1"]) for r in out]
    assert len(set(found)) == len(found)
    return set(found)


@THOROUGH
@given(chance=made_of(lambda chance: chance))
def test_as_persistency_over_a_join(chance: Chance) -> None:
    is_self, is_globe, tick_us = chance.flip(), chance.choice([False, False, True]), chance.choice([1, 1, 2])
    n = len(QUERIES)
    radius = [chance.choice([1.0, 0.5, 0.0, 2.5, -1.0, float("inf"), None, 1e-200]) for _ in range(n)]
    radius = [r if r is None or not is_globe else r * 111_000 for r in radius]
    stay = [chance.choice([0, 1, 2, 3, 5]) for _ in range(n)]
    constants = Constants(np.array(QUERIES), pa.table({"q:p0": pa.array(radius, pa.float64()), "q:p1": stay}))
    branches = {
        b: [(q, t * tick_us, *rest) for q, t, *rest in history(chance.random())]
        for b in range(1 if is_self else 2)
    }
    if is_globe:
        branches = {b: [(*r[:4], *on_globe(*r[4:])) for r in rows] for b, rows in branches.items()}
    slow, fast = (Tree(of(is_self, tick_us, is_globe), constants) for of in (meaning, company))
    with pytest.MonkeyPatch.context() as patch:
        if chance.flip():
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        if chance.flip():
            patch.setattr(held, "STILL", chance.choice([0.01, 2.0]))
        fast.pieces.changes = chance.choice([1, 5, 10_000])
        first = 0
        while first < TICKS:
            end = first + chance.choice([1, 2, 5, TICKS])
            some = {b: [r for r in rows if first <= r[1] // tick_us < end] for b, rows in branches.items()}
            if any(some.values()) or slow.is_due((end - 1) * tick_us):
                last = (end - 1) * tick_us
                assert told(fast, some, last) == told(slow, some, last)
            first = end
            match chance.choice(["", "", "save", "forget"]):
                case "save":
                    saved, fast = fast.saved(), Tree(fast.root, constants)
                    fast.restore(saved)
                case "forget" if first >= TICKS // 2:
                    gone = [chance.choice(QUERIES)]
                    for tree in (slow, fast):
                        tree.forget(np.array(gone))
                    branches = {b: [r for r in rows if r[0] not in gone] for b, rows in branches.items()}
        for query in QUERIES:
            whole = {b: [r for r in rows if r[0] == query] for b, rows in branches.items()}
            one, other = (tree.answering(np.array([query]), TICKS) for tree in (fast, slow))
            assert told(one, whole, TICKS) == told(other, whole, TICKS)


def on_globe(x: float | None, y: float | None) -> Place:
    """About a degree, beside the 180th meridian."""
    if x is None or y is None or not abs(x) < 10:
        return None, y
    return (x + 178.5 + 180) % 360 - 180, y


# ----- time, memory and cost


def engine(radius: float = 1.0, stay: int = 3, is_self: bool = True) -> Tree:
    constants = Constants(np.array([1]), pa.table({"q:p0": [radius], "q:p1": [stay]}))
    return Tree(company(is_self), constants)


def at(tick: int, sign: int, *where: tuple[str, float]) -> Rows:
    return [(1, tick, sign, key, x, 0.0) for key, x in where]


def test_long_after_the_last_row_it_is_told_at_the_tick_it_was_due() -> None:
    tree = engine()
    assert told(tree, {0: at(1, 1, ("a", 0.0), ("b", 0.5), ("c", 9.0))}, 3) == set()
    assert not tree.is_due(3) and tree.is_due(4)
    pairs = {(1, 4, 1, a, b) for a, b in ("aa", "bb", "cc", "ab", "ba")}
    assert told(tree, {}, 1000) == pairs
    assert not tree.is_due(10**15)
    assert tree.held() == {"1.Company": 4}


def test_who_is_gone_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    tree = engine(stay=2)
    tree.stations[-1].state.waste.look_at = 10
    for tick in range(60):
        came = at(tick, 1, *((f"{tick} {i}", 3.0 * (i // 2)) for i in range(20)))
        went = at(tick, -1, *((f"{tick - 3} {i}", 3.0 * (i // 2)) for i in range(20))) if tick > 2 else []
        told(tree, {0: came + went}, tick)
        state = tree.stations[-1].state
        assert len(state.objects) <= 200 and len(state.lists[0]) < 4000 and len(state.line[0]) < 500
    # 60 are there: each with itself, with the one beside it, and with those of other ticks who are there.
    assert tree.held() == {"1.Company": 60 + 30 + 120}
    tree.forget(np.array([1]))
    assert tree.held() == {"1.Company": 0} and not tree.is_due(10**9)


def test_an_hour_of_company_over_a_day_holds_what_is_near() -> None:
    """State is bounded by who is near and by what came within the hour, not by the day."""
    tree, chance = engine(radius=1.0, stay=60), np.random.default_rng(3)
    x = chance.random(50) * 30
    told(tree, {0: at(0, 1, *((str(i), float(v)) for i, v in enumerate(x)))}, 0)
    for minute in range(1, 24 * 60, 4):
        who = chance.choice(50, 5, replace=False)
        gone = at(minute, -1, *((str(i), float(x[i])) for i in who))
        x[who] += chance.normal(0, 1.5, 5)
        told(tree, {0: gone + at(minute, 1, *((str(i), float(x[i])) for i in who))}, minute + 3)
    state = tree.stations[-1].state
    near = (np.abs(x[:, None] - x) <= 1.0).sum()
    assert tree.held() == {"1.Company": (near + 50) // 2}
    assert int(state.partners().span[:, 1].sum()) < 50 * 20 and len(state.line[0]) < 1000


def test_what_moves_far_away_is_not_looked_at() -> None:
    """Cost: company that lasts is touched only when one of the two moves; who moves a little looks at few."""
    n, chance = 2000, np.random.default_rng(1)
    x = chance.random(n) * n
    tree = engine(radius=1.0)
    told(tree, {0: at(0, 1, *((str(i), float(v)) for i, v in enumerate(x)))}, 0)
    before = tree.stations[-1].state.looked
    rows = at(1, -1, ("7", float(x[7]))) + at(1, 1, ("7", float(x[7]) + 0.01))
    told(tree, {0: rows}, 1)
    assert tree.stations[-1].state.looked - before < 30
