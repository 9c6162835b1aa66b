"""PASS_WITHIN the fast way, against a join by DISTANCE of places that linger, which is what it means."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from sanderling import arrays
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from tests.operate.histories import QUERIES, THOROUGH, TICKS
from tests.operate.test_company import KEYS, RADIUS, SIDE, STAY, ZERO, Rows, at, history, on_globe, told
from tests.properties.chance import Chance, made_of


def meaning(is_self: bool, tick_us: int = 1, is_globe: bool = False) -> nodes.Distinct:
    branches = (nodes.Branch(0, SIDE), nodes.Branch(0 if is_self else 1, SIDE))
    left, right = (
        nodes.Persisting(b, (0, 1, 2), ZERO, STAY, None, tick_us, is_lingering=True) for b in branches
    )
    near = nodes.Near((1, 2), (1, 2), RADIUS, is_globe=is_globe)
    return nodes.Distinct(nodes.Select(nodes.Join(left, right, (), (), near), None, KEYS))


def passing(is_self: bool, tick_us: int = 1, is_globe: bool = False) -> nodes.Passing:
    left, right = nodes.Branch(0, SIDE), nodes.Branch(0 if is_self else 1, SIDE)
    return nodes.Passing(left, right, (0, 0), ((1, 2), (1, 2)), RADIUS, STAY, tick_us, is_globe)


@THOROUGH
@given(chance=made_of(lambda chance: chance))
def test_as_a_join_of_places_that_linger(chance: Chance) -> None:
    is_self, is_globe, tick_us = chance.flip(), chance.choice([False, False, True]), chance.choice([1, 1, 2])
    n = len(QUERIES)
    radius = [chance.choice([1.0, 0.5, 0.0, 2.5, -1.0, float("inf"), None, 1e-200]) for _ in range(n)]
    radius = [r if r is None or not is_globe else r * 111_000 for r in radius]
    # In whole ticks, as the planner gives them.
    stay = [chance.choice([0, 1, 2, 3, 5]) * tick_us for _ in range(n)]
    constants = Constants(np.array(QUERIES), pa.table({"q:p0": pa.array(radius, pa.float64()), "q:p1": stay}))
    branches = {
        b: [(q, t * tick_us, *rest) for q, t, *rest in history(chance.random())]
        for b in range(1 if is_self else 2)
    }
    if is_globe:
        branches = {b: [(*r[:4], *on_globe(*r[4:])) for r in rows] for b, rows in branches.items()}
    slow, fast = (Tree(of(is_self, tick_us, is_globe), constants) for of in (meaning, passing))
    with pytest.MonkeyPatch.context() as patch:
        if chance.flip():
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        fast.pieces.changes = chance.choice([1, 5, 10_000])
        first, last_tick = 0, TICKS + 8
        while first < last_tick:
            end = first + chance.choice([1, 2, 5, TICKS])
            some = {b: [r for r in rows if first <= r[1] // tick_us < end] for b, rows in branches.items()}
            last = (end - 1) * tick_us
            if any(some.values()) or slow.is_due(last):
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
            # What is there now is what was told and not taken back.
            for query in QUERIES:
                whole: dict[int, Rows] = {b: [] for b in branches}
                now = [told(t.answering(np.array([query]), last), whole, last) for t in (fast, slow)]
                assert now[0] == {r for r in now[0] if r[2] == 1}


# ----- time and memory


def engine(radius: float = 1.0, stay: int = 3) -> Tree:
    return Tree(passing(True), Constants(np.array([1]), pa.table({"q:p0": [radius], "q:p1": [stay]})))


def test_who_came_later_has_passed_until_the_place_is_too_long_ago() -> None:
    tree = engine()
    assert told(tree, {0: at(0, 1, ("a", 0.0), ("b", 9.0))}, 1) == {(1, 0, 1, "a", "a"), (1, 0, 1, "b", "b")}
    moved = at(2, -1, ("a", 0.0)) + at(2, 1, ("a", 50.0)) + at(3, -1, ("b", 9.0)) + at(3, 1, ("b", 0.5))
    # a was there up to 1, so it counts up to 4.
    assert told(tree, {0: moved}, 3) == {(1, 3, 1, "a", "b"), (1, 3, 1, "b", "a")}
    assert not tree.is_due(4) and tree.is_due(5)
    assert told(tree, {}, 100) == {(1, 5, -1, "a", "b"), (1, 5, -1, "b", "a")}
    assert not tree.is_due(10**15)


def test_an_hour_of_places_over_a_day_is_all_that_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 100)
    tree, chance = engine(stay=60), np.random.default_rng(3)
    x = chance.random(40) * 300
    told(tree, {0: at(0, 1, *((str(i), float(v)) for i, v in enumerate(x)))}, 0)
    for minute in range(1, 24 * 60, 2):
        who = chance.choice(40, 6, replace=False)
        gone = at(minute, -1, *((str(i), float(x[i])) for i in who))
        x[who] += chance.normal(0, 2, 6)
        told(tree, {0: gone + at(minute, 1, *((str(i), float(x[i])) for i in who))}, minute + 1)
        state = tree.stations[-1].state
        assert tree.held()["1.Passing"] <= 40 + 6 * 31
        assert len(state._one) < 2000 and len(state.told_pairs.one) <= 40 * 41
