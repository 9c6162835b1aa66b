"""Triggers against every combination of events: exact, however they are cut, kept, found and interrupted."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.trigger.solve import Events, How
from sanderling.kernels.trigger.solve_plain import PlainSolver
from sanderling.operate.trigger import triggers
from sanderling.operate.trigger.triggers import GRID, LISTS, LOOSE, TIGHT, Solutions, Solver
from sanderling.plans.constraint_graph import between, complete, free
from tests.oracle.triggers import Distance, Event, Time, Trigger, solutions, solutions_early
from tests.properties.chance import made_of
from tests.properties.runs import RELAXED
from tests.properties.trigger_worlds import World, columns, cut, globe_world, graph_of, part, told, world

WAYS = [(e, i, f) for e in (LOOSE, TIGHT) for i in (GRID, LISTS) for f in (False, True)]
cuts = st.lists(st.integers(0, 60), max_size=4)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is made all the time, and lists have cells as soon as they have room for four."""
    monkeypatch.setattr(triggers, "FEW", 2)
    monkeypatch.setattr(triggers, "LEAST_ROOM", 1)
    monkeypatch.setattr(triggers, "SOLUTIONS", 1)


def expected(world: World, is_first: bool) -> list[tuple[int, ...]]:
    found = []
    for t, (trigger, own) in enumerate(zip(world.triggers, world.events, strict=True)):
        orders = [order for order, _ in own]
        events = [e for _, e in own]
        some = solutions(trigger, events, is_first)
        assert solutions_early(trigger, events, is_first) == some, "brute force has two ways"
        found += [(t, *(orders[e] for e in s)) for s in some]
    return sorted(found, key=lambda s: (max(s[1:]), s))


def solver_of(world: World, way: str, index: str, is_first: bool) -> Solver:
    return Solver(10 + np.arange(len(world.triggers)), world.graph(), is_first, way, index)


@RELAXED
@given(world=made_of(world), at=cuts)
def test_every_solution_is_found_once_whatever_the_way(world: World, at: list[int]) -> None:
    """Cut anywhere, and saved and restored at each cut."""
    for way, index, is_first in WAYS:
        solver, some = solver_of(world, way, index, is_first), []
        for piece in cut(columns(world), at):
            some.append(solver.advance(piece))
            saved, solver = solver.state(), solver_of(world, way, index, is_first)
            solver.restore(saved)
            assert solver.state().equals(saved)
        assert told(some) == expected(world, is_first), (way, index, is_first)


@RELAXED
@given(world=made_of(globe_world), at=cuts)
def test_on_the_globe_too(world: World, at: list[int]) -> None:
    """The plain twin, and the kernel cut anywhere."""
    events = columns(world)
    for way, index, is_first in WAYS:
        solver, some = solver_of(world, way, index, is_first), []
        plain = PlainSolver(solver.rules, How(is_first, way == TIGHT, 0))
        for piece in cut(events, at):
            some.append(solver.advance(piece))
            saved, solver = solver.state(), solver_of(world, way, index, is_first)
            solver.restore(saved)
        assert told(some) == [s[1:] for s in plain.advance(events)] == expected(world, is_first)


@RELAXED
@given(world=made_of(world))
def test_what_is_kept_is_what_the_plain_twin_keeps_and_tight_never_keeps_more(world: World) -> None:
    events = columns(world)
    live: dict[str, list[set[tuple[int, int, int]]]] = {LOOSE: [], TIGHT: []}
    for way, index in itertools.product((LOOSE, TIGHT), (GRID, LISTS)):
        solver = solver_of(world, way, index, False)
        plain = PlainSolver(solver.rules, How(False, way == TIGHT, 0))
        kept = []
        for row in range(len(events.ts)):
            one = part(events, row, row + 1)
            assert told([solver.advance(one)]) == [s[1:] for s in plain.advance(one)]
            state = solver.state().select(["trigger", "order", "kind"]).to_pydict()
            kept.append(set(zip(*state.values(), strict=True)))
            theirs = {(10 + e.trigger, e.order, e.kind) for some in plain.live.values() for e in some}
            assert kept[-1] == theirs
            assert (solver.entries, solver.events) == (len(theirs), len({order for _, order, _ in theirs}))
        assert not live[way] or live[way] == kept
        live[way] = kept
    assert all(tight <= loose for tight, loose in zip(live[TIGHT], live[LOOSE], strict=True))


@RELAXED
@given(world=made_of(world), at=st.integers(0, 60))
def test_triggers_come_and_go(world: World, at: int) -> None:
    """The last comes late, the first goes at the same moment; the others notice nothing."""
    n, events = len(world.triggers), columns(world)
    ids, whole = 10 + np.arange(n), world.graph()

    def some_of(which: slice):
        arrays = {k: getattr(whole, k)[which] for k in ("after", "until", "near", "near_strict", "far")}
        more = {k: getattr(whole, k)[which] for k in ("far_strict", "stated_near", "stated_far", "constants")}
        return replace(whole, **arrays, **more)

    if n == 1:
        return
    early, late = slice(0, n - 1), slice(1, n)
    solver = Solver(ids[early], some_of(early))
    edge = at % (len(events.ts) + 1)
    some = [solver.advance(of_triggers(part(events, 0, edge), early))]
    solver.turn_to(ids[late], some_of(late))
    some.append(solver.advance(of_triggers(part(events, edge, len(events.ts)), late)))
    last = int(events.order[edge]) if edge < len(events.ts) else 99
    first_one = tuple((o, e) for o, e in world.events[0] if o < last)
    last_one = tuple((o, e) for o, e in world.events[-1] if o >= last)
    seen = (first_one, *world.events[1:-1], last_one)
    assert told(some) == expected(replace(world, events=seen), False)


def of_triggers(events: Events, which: slice) -> Events:
    """What some of the triggers take."""
    start = events.start[which.start : which.stop + 1]
    rows = slice(start[0], start[-1])
    return events._replace(start=start - start[0], event=events.event[rows], is_of=events.is_of[rows])


@RELAXED
@given(world=made_of(world))
def test_what_the_kernel_cannot_compare_is_judged_of_what_it_found(world: World) -> None:
    """Of a condition on the first two variables' events."""

    def judge(found: Solutions) -> np.ndarray:
        return (found.order[:, 0] + found.order[:, 1]) % 3 != 0

    for is_first in (False, True):
        solver = Solver(10 + np.arange(len(world.triggers)), world.graph(), is_first, judge=judge)
        every = [s for s in expected(world, False) if (s[1] + s[2]) % 3 != 0]
        if is_first:
            last = {(s[0], max(s[1:])): s for s in reversed(every)}
            every = [s for s in every if s in last.values()]
        assert told([solver.advance(columns(world))]) == every


# ----- the paper's example


A, B, C = (frozenset({v}) for v in range(3))
COLLISION = Trigger(
    3, (Distance(0, 1, "<", 1.0), Time(0, 1, 0, 5), Distance(1, 2, "<", 1.0), Time(1, 2, 1, 5))
)  # fmt: skip
STREAM = [
    Event(1, 0.0, 0.0, A), Event(2, 5.0, 5.0, B), Event(3, 0.5, 0.0, B), Event(3, 0.9, 0.0, C),
    Event(6, 1.0, 0.0, C),
]  # fmt: skip
A1, B1, B2, C1, C2 = range(5)


def expiries(solver: Solver) -> dict[int, int]:
    state = solver.state()
    return dict(zip(state.column("order").to_pylist(), state.column("expiry").to_pylist(), strict=True))


@pytest.mark.parametrize("index", [GRID, LISTS])
@pytest.mark.parametrize("way", [LOOSE, TIGHT])
def test_figure_2(way: str, index: str) -> None:
    solver = Solver(np.array([10]), graph_of((COLLISION,)), expiry=way, index=index)
    some = World((COLLISION,), (tuple(enumerate(STREAM)),))
    one = [part(columns(some), n, n + 1) for n in range(5)]
    assert not told([solver.advance(one[A1])])
    assert expiries(solver) == {A1: 11 if way == LOOSE else 6}
    assert not told([solver.advance(one[B1])])
    solver.close(2)
    assert expiries(solver) == {A1: 11 if way == LOOSE else 6}, "b1 is dropped"
    assert not told([solver.advance(one[2])])
    assert expiries(solver) == {A1: 11 if way == LOOSE else 8, 2: 8}
    assert not told([solver.advance(one[3])])
    assert set(expiries(solver)) == {A1, 2}, "c1 is dropped"
    found = solver.advance(one[4])
    assert told([found]) == [(0, A1, 2, 4)] and found.ts.tolist() == [6]
    assert set(expiries(solver)) == {A1, 2}, "c2 has no future"
    solver.close(8)
    assert expiries(solver) == ({A1: 11} if way == LOOSE else {})
    solver.close(11)
    assert solver.entries == solver.events == 0


def test_a_solver_whose_last_trigger_is_gone_goes_on_with_none() -> None:
    graph = free(["a", "b"], 1)
    between(graph, 0, 1, 0, 5)
    none = free(["a", "b"], 0)
    solver = Solver(np.array([7]), complete(graph))
    solver.turn_to(np.empty(0, np.int64), complete(none))
    assert solver.state().num_rows == 0


def test_room_is_given_back_after_a_time_with_many_events() -> None:
    trigger = Trigger(2, (Time(0, 1, 0, 5),))
    some = World((trigger,), (tuple((n, Event(n // 300, 0.0, 0.0, A)) for n in range(1500)),))
    solver = Solver(np.array([10]), graph_of((trigger,)))
    solver.advance(columns(some))
    assert solver.entries == 1500 and len(solver.live.span) >= 1500
    solver.close(5)
    assert solver.entries == 1200
    for now in (12, 20):
        solver.close(now)
    assert solver.entries == 0 and len(solver.live.span) < 150
