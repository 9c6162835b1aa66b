"""Triggers routed by space: a solution is told once, at the home of the event that completes it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.kernels.trigger.solve import GUEST, How
from sanderling.kernels.trigger.solve_plain import PlainSolver
from sanderling.operate.inside import meet
from sanderling.operate.tree.composed import Composed
from sanderling.operate.trigger.triggers import GRID, LISTS, LOOSE, TIGHT
from sanderling.operate.where import slots, slotted
from sanderling.plans import selection, trigger_space
from sanderling.plans.constraint_graph import SLACK
from sanderling.plans.nodes import solve_of
from sanderling.plans.trigger_space import LEAST, side_of
from sanderling.route.by_space import Tracts
from tests.long import drawn
from tests.properties import test_trigger, trigger_tales, trigger_worlds
from tests.properties.chance import made_of
from tests.properties.runs import RELAXED, Cut, cuts
from tests.properties.test_trigger_sql import check

PARTITIONS = st.sampled_from([2, 3, 7, 1])
# A world on seven merge partitions takes a while.
FEW = settings(RELAXED, max_examples=drawn(8, 5000))
NAN, INF = float("nan"), float("inf")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracts as narrow as can be, what is not needed is forgotten all the time, and few is many already."""
    monkeypatch.setattr(trigger_space, "SPAN", 2.0)
    monkeypatch.setattr(trigger_space, "FEW", 1)  # so triggers of one shape are routed both ways
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 0)
    # A delta always has what triggers remember, never what came.
    monkeypatch.setattr(Composed, "weight", lambda _: -1)
    monkeypatch.setattr(selection, "MOST_EVERYWHERE", 0)
    monkeypatch.setattr(slots, "MOST_TAKERS", 2)
    for module in (slotted, meet):
        monkeypatch.setattr(module, "MOST_PAIRS", 3)


@FEW
@given(world=made_of(trigger_tales.near_worlds), cut=cuts, partitions=PARTITIONS)
def test_alerts_are_the_combinations_that_satisfy_all_conditions(
    world: trigger_tales.World, cut: Cut, partitions: int, narrow: None, tmp_path: Path
) -> None:
    run = check(world, cut, tmp_path, partitions)
    for tree in run.plan.trees if run else ():
        node, sql = solve_of(tree.root), run.plan.queries[int(tree.queries[0])].sql
        assert node is not None and bool(node.halos) == ("'query'" not in sql)


@FEW
@given(world=made_of(trigger_tales.globe_worlds), cut=cuts, partitions=PARTITIONS)
def test_on_the_globe_too(
    world: trigger_tales.World, cut: Cut, partitions: int, narrow: None, tmp_path: Path
) -> None:
    check(world, cut, tmp_path, partitions)


# ----- where events go


sides = st.sampled_from([1.0, 0.5, 3.0, 0.0, 1e-3, 1e-160, 7e5, 1e100, 1 / 3])
steps = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1 - 1e-9, 1 + 1e-9, 0.999999, -0.70710678, 1e-170])
starts = st.sampled_from([0.0, -0.0, 1.0, -8.0, 16.0, 0.1, -1e-300, 5e-324, 1e15, -9e15, 4.5e15, -1e300])


@RELAXED
@given(near=sides, start=starts, dx=steps, dy=steps, times=st.integers(-3, 3), partitions=PARTITIONS)
def test_an_event_is_sent_to_the_home_of_any_other_within_its_halo(
    near: float, start: float, dx: float, dy: float, times: int, partitions: int
) -> None:
    """On edges, and where numbers are too large or too small to tell places apart."""
    halo = np.array([[near * (1 + SLACK) + LEAST, 0.0]])
    tracts = Tracts(np.array([5]), halo, side_of(halo.max(axis=1)))
    place = start + times * tracts.side[0]
    step = near or 1e-170
    x, y = np.array([place, place + dx * step]), np.array([place, place + dy * step])
    query = np.full(2, 5)
    home = tracts.home(query, x, y, partitions)
    assert ((home >= 0) & (home < partitions)).all()
    reached = tracts.reached(0, query, x, y, partitions)
    assert (reached == home[:, None]).any(axis=1).all()
    assert (tracts.reached(1, query, x, y, partitions) == home[:, None]).all(), "without a halo only home"
    d2 = (x[0] - x[1]) * (x[0] - x[1]) + (y[0] - y[1]) * (y[0] - y[1])
    if d2 <= near * near:
        assert home[1] in reached[0] and home[0] in reached[1]


def test_what_is_no_place_has_a_home_too() -> None:
    tracts = Tracts(np.array([0]), np.array([[2.0]]), np.array([16.0]))
    x, y = np.array(list(itertools.product((NAN, INF, -INF, 1e308, 0.0), repeat=2))).T
    query = np.zeros(len(x), np.int64)
    home = tracts.home(query, x, y, 7)
    assert (tracts.reached(0, query, x, y, 7) == home[:, None]).any(axis=1).all()


def test_many_triggers_share_out_what_happens_in_one_tract() -> None:
    tracts = Tracts(np.arange(12), np.ones((12, 1)), np.full(12, 16.0))
    home = tracts.home(np.arange(12), np.full(12, 3.0), np.full(12, 3.0), 4)
    assert np.bincount(home).tolist() == [3, 3, 3, 3]


def test_one_trigger_is_shared_out_evenly_and_few_events_go_to_two() -> None:
    place = np.random.default_rng(1).uniform(-1000, 1000, (2, 20_000))
    halo = np.array([[5.0]])
    tracts = Tracts(np.array([3]), halo, side_of(halo.max(axis=1)))
    query = np.full(20_000, 3)
    home = np.bincount(tracts.home(query, *place, 4), minlength=4)
    assert (abs(home / 5000 - 1) < 0.15).all(), home
    reached = np.sort(tracts.reached(0, query, *place, 4), axis=1)
    copies = 1 + (np.diff(reached, axis=1) != 0).sum(axis=1)
    assert copies.mean() < 1.4


# ----- guests


@FEW
@given(world=made_of(trigger_worlds.world), bits=st.integers(0, 2**60 - 1))
def test_guests_complete_nothing_and_are_kept_like_others(world: trigger_worlds.World, bits: int) -> None:
    events = trigger_worlds.columns(world)
    trigger, order = (
        np.repeat(np.arange(len(world.events)), np.diff(events.start)),
        events.order[events.event],
    )
    is_guest = (bits >> (order * 3 + trigger) % 60 & 1).astype(np.bool_)
    guests = set(zip(trigger[is_guest].tolist(), order[is_guest].tolist(), strict=True))
    hosted = events._replace(is_of=events.is_of | (is_guest.astype(np.uint64) << np.uint64(GUEST)))
    for way, index, is_first in itertools.product((LOOSE, TIGHT), (GRID, LISTS), (False, True)):
        solver = test_trigger.solver_of(world, way, index, is_first)
        plain = PlainSolver(solver.rules, How(is_first, way == TIGHT, 0))
        told = trigger_worlds.told([solver.advance(hosted)])
        every = test_trigger.expected(world, is_first)
        assert told == [s for s in every if (s[0], max(s[1:])) not in guests]
        assert [s[1:] for s in plain.advance(hosted)] == told
        everyone = test_trigger.solver_of(world, way, index, is_first)
        everyone.advance(events)
        assert everyone.state().equals(solver.state())
