"""Patterns over signed rows, against the oracle: every outcome, however it is cut, saved and restored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.operate.histories import FLAG, LONG, TEXT, THOROUGH, TIME
from tests.operate.test_simple import NOTHING_BEGUN
from tests.oracle import patterns as oracle
from tests.oracle.oracle import Row
from tests.oracle.persistency import Persistency

QUERY, TICK, TICKS = 7, 2, 12
TYPES = (TEXT, LONG)
RISES = Expression('"c1" >= "c3"', FLAG, frozenset({"c1", "c3"}))

lasting = st.integers(0, 5)
rows = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2)), max_size=2)
answers = st.lists(rows, min_size=TICKS, max_size=TICKS)


@dataclass(frozen=True)
class Drawn:
    """A pattern as the oracle has it; by step the branch, so that the tree can be made of it."""

    pattern: oracle.Pattern
    branches: tuple[oracle.Answers, ...]


@st.composite
def drawn_patterns(draw: Any) -> Drawn:
    worlds = [{TICK * (tick + 1): rows for tick, rows in enumerate(draw(answers))} for _ in range(3)]
    names = iter("abcdefghijkl")

    def step(**how: Any) -> oracle.Step:
        name = next(names)
        goes_on = (lambda before, row: row[1] >= before[1]) if draw(st.integers(0, 5)) == 0 else None
        asked = Persistency(draw(lasting), (0,), draw(st.sampled_from([0, 0, 0, 2, 3])), goes_on)
        is_leaving = name != "a" and draw(st.integers(0, 4)) == 0
        how |= {"is_leaving": True} if is_leaving else {"is_entering": draw(st.booleans())}
        of = () if name == "a" else (("a", 0),)
        times = 1 if name == "a" else draw(st.sampled_from([1, 1, 1, 2]))
        return oracle.Step(name, draw(st.sampled_from(worlds)), asked, of, times=times, **how)

    first, positions, reached = step(), [], ["a"]
    for _ in range(draw(st.integers(0, 3))):
        nots = tuple(step() for _ in range(draw(st.sampled_from([0, 0, 1, 2]))))
        count = draw(st.sampled_from([1, 1, 1, 2]))
        within, of = draw(st.integers(0, 14)), draw(st.sampled_from(["", *reached]))
        steps = tuple(step() for _ in range(count))
        reached += [steps[0].name] if count == 1 else []
        positions.append(oracle.Position(steps, draw(st.booleans()), nots, within, of))
    if positions and positions[-1].nots and draw(st.booleans()):
        positions[-1] = replace(positions[-1], steps=())
    if len(positions) > 1 and positions[-1].of == "a":
        positions[0] = replace(positions[0], within_us=None, of="")
    found = oracle.Pattern(
        first, tuple(positions), TICK, draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    )
    if draw(st.integers(0, 2)) == 0:
        found = replace(found, where=lambda run: run.reached["a"].row[1] % 2 == 0)
    return Drawn(found, tuple(worlds))


class Made:
    """The node of a pattern that was drawn, and its constants."""

    def __init__(self, drawn: Drawn):
        self.pattern, self.branches = drawn.pattern, drawn.branches
        self.constants: dict[str, list[int]] = {}
        self.numbers = {"a": 0}
        self.steps = [drawn.pattern.first]
        for position in drawn.pattern.positions:
            for step in (*position.steps, *position.nots):
                self.numbers[step.name] = len(self.steps)
                self.steps.append(step)

    def duration(self, us: int) -> Expression:
        name = f"q:p{len(self.constants)}"
        self.constants[name] = [us]
        return Expression.of_column(name, LONG)

    def presence(self, step: oracle.Step) -> nodes.Persisting:
        branch = next(i for i, world in enumerate(self.branches) if world is step.answers)
        is_counted = not step.is_leaving
        grace = self.duration(step.asked.grace_us if is_counted else 0)
        goes_on = RISES if step.asked.goes_on is not None and is_counted else None
        stay = self.duration(step.asked.stay_us if step.name == "a" else 0)
        return nodes.Persisting(nodes.Branch(branch, TYPES), (0,), stay, grace, goes_on, TICK)

    def bounds(self, number: int) -> tuple[nodes.PatternBound, ...]:
        positions, found = self.pattern.positions, []
        position_of = {"a": 0} | {p.steps[0].name: i for i, p in enumerate(positions, 1) if len(p.steps) == 1}
        for later, position in enumerate(positions[number:], number):
            of = position_of[position.of] if position.of else later
            if position.within_us is not None and of <= number:
                found.append(nodes.PatternBound(self.duration(position.within_us), of))
        return tuple(found)

    def node(self) -> nodes.Match:
        steps = tuple(
            nodes.PatternStep(
                i, self.duration(s.asked.stay_us), () if i == 0 else ((0, 0),), s.is_entering, s.is_leaving,
                s.times, s.name,
            )
            for i, s in enumerate(self.steps)
        )  # fmt: skip
        positions = tuple(
            nodes.Position(
                tuple(self.numbers[s.name] for s in p.steps), p.is_all,
                tuple(self.numbers[s.name] for s in p.nots), self.bounds(i),
            )
            for i, p in enumerate(self.pattern.positions)
        )  # fmt: skip
        shown = [nodes.ShownOfRun(0, nodes.COLUMN, 0, TEXT), nodes.ShownOfRun(0, nodes.COLUMN, 1, LONG)]
        shown.insert(0, nodes.ShownOfRun(0, nodes.OUTCOME, -1, TEXT))
        for i in range(len(steps)):
            shown += [nodes.ShownOfRun(i, what, -1, TIME) for what in (nodes.REACHED, nodes.ENTERED)]
            shown.append(nodes.ShownOfRun(i, nodes.COLUMN, 1, LONG))
        where = Expression('"c2" % 2 = 0', FLAG, frozenset({"c2"})) if self.has_where else None
        pattern = self.pattern
        return nodes.Match(
            tuple(map(self.presence, self.steps)), ((0, 1),) * len(steps), steps, positions, tuple(shown),
            where, pattern.is_first, pattern.has_timeouts, pattern.is_skipping, TICK,
        )  # fmt: skip

    @property
    def has_where(self) -> bool:
        return "<lambda>" in self.pattern.where.__qualname__ and "drawn" in self.pattern.where.__qualname__


def wanted(made: Made) -> list[tuple[object, ...]]:
    found = []
    for run in oracle.told(made.pattern):
        row: list[object] = [run.tick, run.outcome, *(run.reached["a"].row or ())]
        for step in made.steps:
            reached = run.reached.get(step.name)
            row += (
                [None] * 3
                if reached is None
                else [reached.tick, reached.since, (reached.row or (0, None))[1]]
            )
        found.append(tuple(row))
    return sorted(found, key=str)


def changes(world: oracle.Answers, after: int, until: int) -> pa.Table:
    told: list[tuple[int, int, Row]] = []
    for tick in sorted(world):
        if after < tick <= until:
            told += [(tick, -1, row) for row in world.get(tick - TICK, [])]
            told += [(tick, 1, row) for row in world[tick]]
    return pa.table(
        {
            "query": pa.array([QUERY] * len(told), pa.int64()),
            "tick": pa.array([tick for tick, *_ in told], pa.int64()),
            "sign": pa.array([sign for _, sign, _ in told], pa.int64()),
            "c0": pa.array([row[0] for *_, row in told], pa.string()),
            "c1": pa.array([row[1] for *_, row in told], pa.int64()),
        }
    )


def shown(out: pa.Table) -> list[tuple[object, ...]]:
    times = [f for f in out.schema if pa.types.is_timestamp(f.type)]
    for field in times:
        out = out.set_column(
            out.column_names.index(field.name), field.name, out.column(field.name).cast("int64")
        )
    return [tuple(list(row.values())[1:2] + list(row.values())[3:]) for row in out.to_pylist()]


BEGUN = pa.table({"query": np.array([QUERY]), "tick": np.array([TICK])})


@THOROUGH
@given(drawn_patterns(), st.sets(st.integers(1, TICKS - 1)), st.sets(st.integers(1, TICKS)))
def test_all_that_is_told(drawn: Drawn, cuts: set[int], restarts: set[int]) -> None:
    made = Made(drawn)
    node = made.node()
    constants = Constants(np.array([QUERY]), pa.table(made.constants))
    tree, told = Tree(node, constants), list[tuple[object, ...]]()
    for first, last in pairwise([0, *sorted(cuts), TICKS]):
        came = {i: changes(world, TICK * first, TICK * last) for i, world in enumerate(drawn.branches)}
        out = tree.apply(came, {}, BEGUN if first == 0 else NOTHING_BEGUN, TICK * last)
        assert (out.column("sign").to_numpy() == 1).all()
        told += shown(out)
        tree.pass_time(TICK * last)
        if last in restarts:
            saved, tree = tree.saved(), Tree(node, constants)
            tree.restore(saved)
    assert sorted(told, key=str) == wanted(made)


@THOROUGH
@given(drawn_patterns())
def test_runs_are_those_that_wait(drawn: Drawn) -> None:
    """So many as the oracle has runs that have not ended; after the longest wait none, whoever is there."""
    made = Made(replace(drawn, pattern=replace(drawn.pattern, is_skipping=False)))
    tree = Tree(made.node(), Constants(np.array([QUERY]), pa.table(made.constants)))
    came = {i: changes(world, 0, TICK * TICKS) for i, world in enumerate(drawn.branches)}
    tree.apply(came, {}, BEGUN, TICK * TICKS)
    state: Any = tree.stations[-1].state
    assert len(state.runs) == sum(not run.outcome for run in oracle.runs(made.pattern))
    tree.apply({}, {}, NOTHING_BEGUN, TICK * TICKS + 1000)
    assert not state.runs and not state.waiting
    tree.forget(np.array([QUERY]))
    assert not any(own.here for own in state.presences) and not tree.is_due(10**12)
