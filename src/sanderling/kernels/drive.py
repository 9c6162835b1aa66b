"""Objects along their ways: a step of traffic, and what it looks like.

An object is on an arc, some metres from its beginning. Where the arc ends, a table tells the next one.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I8, I32, I64, Bools
from sanderling.kernels.jit import jit


@jit
def pick_goal(seed: int, object_id: int, trip: int, n_goals: int) -> int:
    """Chance by arithmetic (splitmix64): it does not depend on who else is there, nor on the order."""
    z = np.uint64(seed) + np.uint64(object_id) * np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(trip) * np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return int(z % np.uint64(n_goals))


@jit
def pick_goals(seed: int, object_id: I64, start: I64, goal_node: I64) -> I32:
    """The first goals of objects that appear at the nodes `start`; nobody is there already."""
    goal = np.empty(len(object_id), np.int32)
    for i in range(len(object_id)):
        goal[i] = pick_goal(seed, object_id[i], 0, len(goal_node))
        if goal_node[goal[i]] == start[i]:
            goal[i] = (goal[i] + 1) % len(goal_node)
    return goal


@jit
def drive(
    object_id: I64, kind: I8, stays: Bools, arc: I32, at_m: F64, goal: I32, trip: I32,
    head: I64, length_m: F64, limit_mps: F64, top_mps: F64, goal_node: I64, next_arc: I32,
    time_s: F64, seed: int,
) -> Bools:  # fmt: skip
    """Moves everybody for a time of their own, in place; gives who has arrived and does not stay.

    `limit_mps` holds for each arc as crowded as it is now; `next_arc` is by kind, goal and node.
    Who stays chooses another goal where a way ends.
    """
    n = len(arc)
    is_gone = np.zeros(n, np.bool_)
    n_goals = len(goal_node)
    for i in range(n):
        a, at, left_s = arc[i], at_m[i], time_s[i]
        while True:
            speed = min(top_mps[kind[i]], limit_mps[a])
            rest_m = length_m[a] - at
            if speed * left_s < rest_m:
                at += speed * left_s
                break
            left_s = max(left_s - rest_m / speed, 0.0)  # rounding is no way backwards
            node = head[a]
            if node == goal_node[goal[i]]:
                if not stays[i]:
                    at = length_m[a]
                    is_gone[i] = True
                    break
                trip[i] += 1
                goal[i] = pick_goal(seed, object_id[i], trip[i], n_goals)
                if goal_node[goal[i]] == node:
                    goal[i] = (goal[i] + 1) % n_goals
            a, at = next_arc[kind[i], goal[i], node], 0.0
        arc[i], at_m[i] = a, at
    return is_gone


@jit
def look(
    kind: I8, arc: I32, at_m: F64, x: F64, y: F64, tail: I64, head: I64, length_m: F64, arc_heading: F64,
    limit_mps: F64, top_mps: F64,
) -> tuple[F64, F64, F64, F64]:  # fmt: skip
    """Where everybody is, how fast and which way: x, y, speed, heading."""
    n = len(arc)
    at_x, at_y, speed, heading = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        a = arc[i]
        part = at_m[i] / length_m[a]
        x0, y0 = x[tail[a]], y[tail[a]]
        at_x[i] = x0 + part * (x[head[a]] - x0)
        at_y[i] = y0 + part * (y[head[a]] - y0)
        speed[i] = min(top_mps[kind[i]], limit_mps[a])
        heading[i] = arc_heading[a]
    return at_x, at_y, speed, heading
