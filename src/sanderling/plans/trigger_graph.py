"""The constraint graph of triggers, of the node that solves them and their constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sanderling.clock import show_duration
from sanderling.plans.constraint_graph import Graph, between, free, further, nearer
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Solve

ROUND_US = 1_000

# What a constant is: of one trigger, or an array with one for each of several.
ValueOf = Callable[[Expression], Any]


def stated(node: Solve, value_of: ValueOf, n: int | None = None) -> Graph:
    """What is asked, and not yet what follows; of one trigger, or of n of them."""
    variables = node.variables
    graph = free([v.name for v in variables], n, [v.set_of for v in variables], node.is_globe)
    for time in node.times:
        least, most = (None if b is None else value_of(b) for b in (time.least, time.most))
        between(graph, time.i, time.j, least, most)
    for k, (one, other) in enumerate(pairwise(variables)):
        if one.set_of >= 0 and one.set_of == other.set_of:
            between(graph, k, k + 1, 0)  # a set is told once: in order
    for distance in node.distances:
        state = nearer if distance.op in ("<", "<=") else further
        state(graph, distance.i, distance.j, value_of(distance.radius), distance.op in ("<", ">"))
    constants = np.zeros((len(node.differences),) if n is None else (n, len(node.differences)))
    for k, difference in enumerate(node.differences):
        if difference is not None:
            constants[..., k] = value_of(difference)
    return replace(graph, compares=node.compares, constants=constants)


def circle_in_words(graph: Graph, cycle: Sequence[int]) -> str:
    """Bounds that leave no room: from one variable to the next, and back to the first."""
    return ", ".join(_step(graph, i, j) for i, j in pairwise(cycle))


def _step(graph: Graph, i: int, j: int) -> str:
    """A bound that is one microsecond beside a rounder one was written as less, or more, than that."""
    us, one, other = int(graph.until[i, j]), graph.names[i], graph.names[j]
    if us >= 0 and (us + 1) % ROUND_US == 0:
        return f"{other} comes less than {show_duration(us + 1)} after {one}"
    if us >= 0:
        return f"{other} comes at most {show_duration(us)} after {one}"
    if us == -1:
        return f"{other} comes before {one}"
    if (us + 1) % ROUND_US == 0:
        return f"{other} comes more than {show_duration(-us - 1)} before {one}"
    return f"{other} comes at least {show_duration(-us)} before {one}"
