"""What follows from a trigger's constraints."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sanderling.plans.constraint_graph import (
    Apart,
    Contradiction,
    Graph,
    Unbounded,
    between,
    complete,
    free,
    further,
    nearer,
)
from sanderling.plans.trigger_graph import circle_in_words


def collision() -> Graph:
    """The example of the paper's figure 1b, in microseconds instead of its instants."""
    graph = free(["V1", "V2", "V3"])
    between(graph, 0, 1, 0, 5)
    between(graph, 1, 2, 1, 5)
    nearer(graph, 0, 1, 1.0, True)
    nearer(graph, 1, 2, 1.0, True)
    return graph


def test_times_that_follow_are_those_of_the_paper() -> None:
    graph = complete(collision())
    assert graph.until.tolist() == [[0, 5, 10], [0, 0, 5], [-1, -1, 0]]
    assert graph.after.tolist() == [[0, 0, 1], [-5, 0, 1], [-10, -5, 0]]
    assert graph.loose.tolist() == [10, 5, 0]


def test_distances_that_follow_are_sums_and_a_little_wider() -> None:
    graph = complete(collision())
    assert 2 < graph.near[0, 2] < 2.00001
    assert graph.stated_near[0, 2] == np.inf
    assert graph.near[0, 1] == graph.stated_near[0, 1] == 1
    assert graph.near_strict[0, 1] and not graph.near_strict[0, 2]


def test_a_distance_whose_square_is_no_number_is_no_bound() -> None:
    for radius in (1e155, 1.7e308):
        graph = free(["a", "b", "c"])
        between(graph, 0, 1, -1, 1)
        between(graph, 1, 2, -1, 1)
        nearer(graph, 0, 1, radius, True)
        nearer(graph, 1, 2, 3.0, True)
        found = complete(graph)
        assert found.near[0, 1] == found.near[0, 2] == np.inf
        assert (found.near[1, 2], found.stated_near[0, 1]) == (3, radius)


def test_what_is_far_from_one_is_far_from_its_neighbours() -> None:
    graph = free(["a", "b", "c"])
    between(graph, 0, 1, -1, 1)
    between(graph, 1, 2, -1, 1)
    nearer(graph, 0, 1, 2.0, False)
    further(graph, 1, 2, 10.0, False)
    far = complete(graph).far
    assert 7.999 < far[0, 2] <= 8
    assert far[0, 2] == far[2, 0]
    assert far[0, 1] == 0


def test_a_tighter_bound_follows_from_the_others() -> None:
    graph = free(["a", "b", "c"])
    between(graph, 0, 1, 0, 2)
    between(graph, 1, 2, 0, 2)
    between(graph, 0, 2, 0, 100)
    assert complete(graph).until[0, 2] == 4


def test_a_circle_below_zero_is_named() -> None:
    graph = free(["a", "b", "c", "d"])
    between(graph, 0, 1, -9, 9)
    between(graph, 1, 2, 5, 6)
    between(graph, 2, 3, 5, 6)
    between(graph, 1, 3, 0, 9)
    with pytest.raises(Contradiction) as caught:
        complete(graph)
    cycle = caught.value.args
    assert cycle[0] == cycle[-1]
    assert set(cycle) == {1, 2, 3}
    assert sum(graph.until[i, j] for i, j in pairwise(cycle)) < 0


def test_a_variable_that_cannot_be_at_its_own_time_is_a_circle() -> None:
    graph = free(["a"])
    between(graph, 0, 0, 1, 5)
    with pytest.raises(Contradiction) as caught:
        complete(graph)
    assert caught.value.args == (0, 0)


def test_a_pair_without_an_end_is_named() -> None:
    graph = free(["a", "b", "c"])
    between(graph, 0, 1, 0, 5)
    between(graph, 1, 2, 0)
    with pytest.raises(Unbounded) as caught:
        complete(graph)
    assert caught.value.args == (0, 2)


def test_nearer_than_apart_is_refused() -> None:
    graph = free(["a", "b", "c"])
    between(graph, 0, 1, 0, 5)
    between(graph, 0, 2, 0, 5)
    nearer(graph, 0, 1, 1, False)
    nearer(graph, 1, 2, 1, False)
    further(graph, 0, 2, 3, False)
    with pytest.raises(Apart) as caught:
        complete(graph)
    assert caught.value.args == (0, 2)


def test_of_two_bounds_the_tighter_holds_and_of_equal_ones_the_strict() -> None:
    graph = free(["a", "b"])
    nearer(graph, 0, 1, 5, True)
    nearer(graph, 0, 1, 3, False)
    further(graph, 1, 0, 1, False)
    further(graph, 1, 0, 1, True)
    assert graph.stated_near[1, 0] == 3 and not graph.near_strict[1, 0]
    assert graph.stated_far[0, 1] == 1 and graph.far_strict[0, 1]


def test_many_triggers_are_completed_at_once() -> None:
    many = free(["a", "b", "c"], 3)
    between(many, 0, 1, 0, np.array([1, 2, 3]))
    between(many, 1, 2, np.array([-4, 0, 4]), 9)
    nearer(many, 0, 1, np.array([1.0, 2.0, 3.0]), True)
    whole = complete(many)
    for n, (most, least) in enumerate(((1, -4), (2, 0), (3, 4))):
        one = free(["a", "b", "c"])
        between(one, 0, 1, 0, most)
        between(one, 1, 2, least, 9)
        nearer(one, 0, 1, n + 1.0, True)
        expected = complete(one)
        for name in ("after", "until", "near", "near_strict", "far"):
            assert np.array_equal(getattr(whole, name)[n], getattr(expected, name))


def test_the_trigger_that_contradicts_itself_is_found_among_many() -> None:
    many = free(["a", "b"], 2)
    between(many, 0, 1, np.array([0, 3]), 2)
    with pytest.raises(Contradiction):
        complete(many)


def test_bounds_that_are_not_there_do_not_add_up() -> None:
    graph = free([f"V{i}" for i in range(5)])
    for i in range(4):
        between(graph, i, i + 1, 0)
    with pytest.raises(Unbounded):
        complete(graph)


def test_a_circle_is_told_in_words() -> None:
    graph = free(["a", "b", "c"])
    between(graph, 0, 1, 5_000_000, 6_000_000)
    between(graph, 1, 2, 1)
    between(graph, 0, 2, None, 4_999_999)
    with pytest.raises(Contradiction) as caught:
        complete(graph)
    words = circle_in_words(graph, caught.value.args)
    assert set(words.split(", ")) == {
        "a comes at least 5 seconds before b", "b comes before c", "c comes less than 5 seconds after a"
    }  # fmt: skip
