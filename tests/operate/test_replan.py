"""Durations that become others while a tree runs: before that tick the old ones, from it on the new ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from tests.operate.histories import THOROUGH
from tests.operate.test_match import (
    BEGUN,
    QUERY,
    RISES,
    TICK,
    TICKS,
    TYPES,
    Drawn,
    Made,
    answers,
    changes,
    drawn_patterns,
    lasting,
    shown,
)
from tests.operate.test_persisting import GRACE, STAY
from tests.operate.test_simple import NOTHING_BEGUN
from tests.oracle import patterns as oracle
from tests.oracle import replaced
from tests.oracle.persistency import Persistency, persistent


@st.composite
def others(draw: Any, pattern: oracle.Pattern) -> oracle.Pattern:
    """The same with other stays and bounds."""

    def step(one: oracle.Step) -> oracle.Step:
        return replace(one, asked=replace(one.asked, stay_us=draw(lasting)))

    def position(one: oracle.Position) -> oracle.Position:
        within = None if one.within_us is None else draw(st.integers(0, 14))
        steps, nots = tuple(map(step, one.steps)), tuple(map(step, one.nots))
        return replace(one, steps=steps, nots=nots, within_us=within)

    return replace(pattern, first=step(pattern.first), positions=tuple(map(position, pattern.positions)))


@st.composite
def two_of_one_shape(draw: Any) -> tuple[Drawn, Drawn]:
    drawn = draw(drawn_patterns())
    is_same = draw(st.integers(0, 5)) == 0
    return drawn, drawn if is_same else replace(drawn, pattern=draw(others(drawn.pattern)))


def told_by(made: Made, other: Made, at: int, cuts: set[int], restarts: set[int]) -> list[tuple[object, ...]]:
    node, constants = made.node(), Constants(np.array([QUERY]), pa.table(made.constants))
    other.node()
    tree, told = Tree(node, constants), list[tuple[object, ...]]()
    for first, last in pairwise(sorted({0, at - 1, *cuts, TICKS})):
        if first == at - 1:
            constants.replace(np.array([QUERY]), pa.table(other.constants))
            tree.replan(np.array([QUERY]), TICK * at)
        came = {i: changes(world, TICK * first, TICK * last) for i, world in enumerate(made.branches)}
        told += shown(tree.apply(came, {}, BEGUN if first == 0 else NOTHING_BEGUN, TICK * last))
        tree.pass_time(TICK * last)
        if last in restarts:
            saved, tree = tree.saved(), Tree(node, constants)
            tree.restore(saved)
    return told


@THOROUGH
@given(
    two_of_one_shape(),
    st.integers(2, TICKS),
    st.sets(st.integers(1, TICKS - 1)),
    st.sets(st.integers(1, TICKS)),
)
def test_runs_go_on_with_other_eyes(two: Any, at: int, cuts: set[int], restarts: set[int]) -> None:
    one, other = Made(two[0]), Made(two[1])
    told = told_by(one, other, at, cuts, restarts)
    wanted = []
    for run in replaced.told(replaced.Eyes(one.pattern, other.pattern, TICK * at)):
        row: list[object] = [run.tick, run.outcome, *(run.reached["a"].row or ())]
        for step in one.steps:
            reached = run.reached.get(step.name)
            row += (
                [None] * 3
                if reached is None
                else [reached.tick, reached.since, (reached.row or (0, None))[1]]
            )
        wanted.append(tuple(row))
    assert sorted(told, key=str) == sorted(wanted, key=str)


@THOROUGH
@given(
    answers, lasting, lasting, st.sampled_from([0, 0, 2, 4]), st.booleans(), st.integers(2, TICKS),
    st.sets(st.integers(1, TICKS - 1)),
)  # fmt: skip
def test_who_has_stayed_has_stayed(
    drawn: Any, stay: int, later: int, grace: int, is_while: bool, at: int, cuts: set[int]
) -> None:
    world = {TICK * (tick + 1): rows for tick, rows in enumerate(drawn)}
    goes_on = (lambda before, row: row[1] >= before[1]) if is_while else None
    node = nodes.Persisting(nodes.Branch(0, TYPES), (0,), STAY, GRACE, RISES if is_while else None, TICK)
    constants = Constants(np.array([QUERY]), pa.table({"q:p0": [stay], "q:p1": [grace]}))
    tree, held, bag = Tree(node, constants), dict[int, Counter[Any]](), Counter[Any]()
    told: list[tuple[Any, ...]] = []
    for first, last in pairwise(sorted({0, at - 1, *cuts, TICKS})):
        if first == at - 1:
            constants.replace(np.array([QUERY]), pa.table({"q:p0": [later], "q:p1": [grace]}))
            tree.replan(np.array([QUERY]), TICK * at)
        out = tree.apply({0: changes(world, TICK * first, TICK * last)}, {}, NOTHING_BEGUN, TICK * last)
        told += [tuple(row.values())[1:] for row in out.to_pylist()]
    for tick in world:
        for when, sign, *row in told:
            if when == tick:
                bag[tuple(row)] += sign
        held[tick] = +bag
        asked = Persistency(later if tick >= TICK * at else stay, (0,), grace, goes_on)
        seen = {t: rows for t, rows in world.items() if t <= tick}
        assert held[tick] == Counter(persistent(asked, seen, TICK)), tick
