"""The ways are the fastest, held against a plain search."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import pytest

from sanderling.simulate.network import LIMIT_MPS, Network
from sanderling.simulate.read_network import read_network
from sanderling.simulate.routes import Arcs, draw_goals, next_arcs
from tests.conftest import DATA


def plain_seconds(network: Network, goal: int, top_mps: float) -> list[float]:
    """From every node to the goal, by the book."""
    roads: dict[int, list[tuple[int, float]]] = {}
    for a, b, c, length in zip(
        network.from_node, network.to_node, network.edge_class, network.length_m, strict=True
    ):
        seconds = length / min(top_mps, LIMIT_MPS[c])
        roads.setdefault(int(a), []).append((int(b), seconds))
        roads.setdefault(int(b), []).append((int(a), seconds))
    best, ahead = [np.inf] * len(network.x), [(0.0, goal)]
    while ahead:
        so_far, node = heapq.heappop(ahead)
        if so_far < best[node]:
            best[node] = so_far
            for neighbour, seconds in roads[node]:
                heapq.heappush(ahead, (so_far + seconds, neighbour))
    return best


def followed_seconds(network: Network, goals: np.ndarray, top_mps: float) -> np.ndarray:  # type: ignore[type-arg]
    """The same by following the table, for every goal and node at once."""
    arcs = Arcs.of(network)
    table = next_arcs(arcs, len(network.x), goals, top_mps)
    seconds = arcs.length_m / np.minimum(top_mps, LIMIT_MPS[arcs.arc_class])
    node = np.tile(np.arange(len(network.x)), (len(goals), 1))
    total = np.zeros(node.shape)
    for _ in range(len(network.x)):
        arc = np.take_along_axis(table, node, axis=1)
        is_on = arc >= 0
        if not is_on.any():
            break
        assert np.array_equal(arcs.tail[arc][is_on], node[is_on]), "a way goes on where it is"
        total += np.where(is_on, seconds[arc], 0)
        node = np.where(is_on, arcs.head[arc], node)
    assert np.array_equal(node, np.tile(goals[:, None], (1, node.shape[1]))), "every way ends at its goal"
    return total


@pytest.mark.parametrize("top_mps", [38.0, 6.0])
def test_ways_are_the_fastest_in_a_town(town: Network, top_mps: float) -> None:
    goals = np.array([0, 5, len(town.x) - 1])
    for goal, total in zip(goals, followed_seconds(town, goals, top_mps), strict=True):
        assert np.allclose(total, plain_seconds(town, int(goal), top_mps))


@pytest.mark.skipif(not (DATA / "oldenburg").exists(), reason="the shared data are not here")
def test_ways_are_the_fastest_in_oldenburg() -> None:
    folder: Path = DATA / "oldenburg"
    network = read_network(folder / "nodes.csv", folder / "edges.csv")
    assert (len(network.x), len(network.length_m)) == (6105, 7035)
    assert len(network.largest_part().x) == 6105
    goals = np.array([3, 4000])
    for goal, total in zip(goals, followed_seconds(network, goals, 16.0), strict=True):
        assert np.allclose(total, plain_seconds(network, int(goal), 16.0))


def test_of_parallel_roads_the_faster_is_taken() -> None:
    length_m, edge_class = np.array([50.0, 20.0, 90.0]), np.array([6, 0, 0])
    ends = np.array([0, 0, 0]), np.array([1, 1, 1])
    network = Network(np.array([0.0, 10.0]), np.zeros(2), *ends, edge_class, length_m)
    assert followed_seconds(network, np.array([1]), 40.0).tolist() == [[20 / 33, 0]]


def test_goals_are_different_nodes_and_their_tables_bounded() -> None:
    rng = np.random.default_rng(1)
    assert sorted(draw_goals(3, 4, rng)) == [0, 1, 2]
    assert len(set(draw_goals(10_000, 4, rng).tolist())) == 128
    assert len(draw_goals(2_000_000, 4, rng)) == 4
