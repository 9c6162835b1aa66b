"""Fastest ways on a network: for each kind of object, from every node towards every goal.

A two-way edge is two arcs, one for each direction. The way is a table of next arcs, so following it
is a look-up; the tables are made once, by SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from sanderling.arrays import F64, I32, I64
from sanderling.simulate.network import LIMIT_MPS, Network

# Goals are drawn from a pool: each costs a table. The whole is bounded, however large the network is.
MOST_GOALS = 128
LEAST_GOALS = 4
TABLE_ENTRIES = 1 << 24


@dataclass(frozen=True, slots=True)
class Arcs:
    """Both directions of every edge: first all as they were given, then all the other way round."""

    tail: I64
    head: I64
    arc_class: I64
    length_m: F64
    heading: F64  # degrees, clockwise from north

    @classmethod
    def of(cls, network: Network) -> Arcs:
        tail = np.r_[network.from_node, network.to_node]
        head = np.r_[network.to_node, network.from_node]
        east, north = network.x[head] - network.x[tail], network.y[head] - network.y[tail]
        # Rounding can lift a tiny negative angle to 360.
        heading = np.degrees(np.arctan2(east, north)) % 360 % 360
        return cls(tail, head, np.tile(network.edge_class, 2), np.tile(network.length_m, 2), heading)

    def __len__(self) -> int:
        return len(self.tail)


def draw_goals(n_nodes: int, n_kinds: int, rng: np.random.Generator) -> I64:
    """The nodes where ways end."""
    room = max(LEAST_GOALS, min(MOST_GOALS, TABLE_ENTRIES // (n_kinds * n_nodes)))
    return rng.choice(n_nodes, min(room, n_nodes), replace=False).astype(np.int64)


def next_arcs(arcs: Arcs, n_nodes: int, goals: I64, top_mps: float) -> I32:
    """By goal and node: the arc that begins the fastest way there; -1 at the goal itself."""
    seconds = arcs.length_m / np.minimum(top_mps, LIMIT_MPS[arcs.arc_class])
    # Of parallel arcs only the fastest counts. By pair of nodes, the fastest of each pair first:
    pair = arcs.tail * n_nodes + arcs.head
    by_pair = np.lexsort((seconds, pair))
    best = by_pair[np.r_[True, np.diff(pair[by_pair]) > 0]]
    graph = csr_array((seconds[best], (arcs.tail[best], arcs.head[best])), shape=(n_nodes, n_nodes))
    # All edges are two-way: the way from the goal is the way to it, and a predecessor is the next node.
    _, following = dijkstra(graph, indices=goals, return_predecessors=True)
    node = np.arange(n_nodes)
    at = np.searchsorted(pair[best], node * n_nodes + np.maximum(following, 0))
    return np.where(following < 0, -1, best[np.minimum(at, len(best) - 1)]).astype(np.int32)
