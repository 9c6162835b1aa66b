"""A step of traffic, against a walk that takes one object at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from sanderling.kernels.drive import drive, look, pick_goal, pick_goals
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import TOP_MPS, Traffic

TOWN = make_city(3, radius_m=500)


def plain_goal(seed: int, object_id: int, trip: int, n_goals: int) -> int:
    whole = 2**64
    z = (seed + object_id * 0x9E3779B97F4A7C15 + trip * 0xD1B54A32D192ED03) % whole
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % whole
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % whole
    return (z ^ (z >> 31)) % n_goals


def plain_drive(traffic: Traffic, i: int, seconds: float) -> tuple[int, float, int, bool]:
    """Arc, metres on it, goal, and whether the object is gone."""
    o, arcs, goals = traffic.there, traffic.arcs, traffic.goal_node.tolist()
    kind, arc, at, goal, trip = (
        int(o.kind[i]),
        int(o.arc[i]),
        float(o.at_m[i]),
        int(o.goal[i]),
        int(o.trip[i]),
    )
    while True:
        speed = min(float(TOP_MPS[kind]), float(traffic.limit_mps[arc]))
        length = float(arcs.length_m[arc])
        if at + speed * seconds < length:
            return arc, at + speed * seconds, goal, False
        seconds -= (length - at) / speed
        node = int(arcs.head[arc])
        if node == goals[goal]:
            if not o.stays[i]:
                return arc, length, goal, True
            trip += 1
            goal = plain_goal(traffic.settings.seed, int(o.object_id[i]), trip, len(goals))
            if goals[goal] == node:
                goal = (goal + 1) % len(goals)
        arc, at = int(traffic.next_arc[kind, goal, node]), 0.0


@hypothesis_settings(max_examples=25)
@given(st.integers(0, 2**63 - 1), st.sampled_from([0.1, 1.0, 30.0, 400.0]), st.booleans())
def test_everybody_gets_where_a_plain_walk_gets(seed: int, seconds: float, keeps_going: bool) -> None:
    traffic = Traffic(TOWN, TrafficSettings(objects=60, new=0, seed=seed, keeps_going=keeps_going))
    o, arcs = traffic.there, traffic.arcs
    plain = [plain_drive(traffic, i, seconds) for i in range(60)]
    is_gone = drive(
        o.object_id, o.kind, o.stays, o.arc, o.at_m, o.goal, o.trip, arcs.head, arcs.length_m,
        traffic.limit_mps, TOP_MPS, traffic.goal_node, traffic.next_arc, np.full(60, seconds), seed,
    )  # fmt: skip
    assert is_gone.tolist() == [p[3] for p in plain]
    assert o.arc.tolist() == [p[0] for p in plain] and o.goal.tolist() == [p[2] for p in plain]
    assert o.at_m == pytest.approx([p[1] for p in plain])


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**40), st.integers(0, 1000), st.integers(1, 300))
def test_goals_are_picked_by_plain_arithmetic(seed: int, object_id: int, trip: int, n_goals: int) -> None:
    assert pick_goal(seed, object_id, trip, n_goals) == plain_goal(seed, object_id, trip, n_goals)


def test_nobody_starts_at_its_goal() -> None:
    goal_node = np.array([4, 9, 2])
    for start in (4, 9, 2, 7):
        goal = pick_goals(1, np.arange(50), np.full(50, start), goal_node)
        assert (goal_node[goal] != start).all() and set(goal.tolist()) >= {0, 1, 2} - set(
            np.flatnonzero(goal_node == start).tolist()
        )


def test_a_look_is_a_place_on_the_arc() -> None:
    x, y = np.array([0.0, 30.0]), np.array([0.0, 40.0])
    seen = look(
        np.array([0, 1], np.int8), np.array([0, 0], np.int32), np.array([0.0, 25.0]), x, y, np.array([0]),
        np.array([1]), np.array([50.0]), np.array([36.9]), np.array([10.0]), np.array([30.0, 6.0]),
    )  # fmt: skip
    assert [column.tolist() for column in seen] == [[0, 15], [0, 20], [10, 6], [36.9, 36.9]]


def test_no_objects_no_traffic() -> None:
    traffic = Traffic(TOWN, TrafficSettings(objects=1, new=0))
    traffic.there = traffic.there.keep(np.zeros(1, np.bool_))
    assert traffic.step().num_rows == traffic.step().num_rows == 0
