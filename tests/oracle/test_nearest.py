"""The oracle on NEAREST: the first k by distance, then by key."""

from . import Box, Everywhere, Nearest
from .cases import at, inside, told


def test_the_k_nearest_are_told_and_ties_go_to_the_smaller_key():
    query = inside(Everywhere(), nearest=Nearest(2, 0, 0))
    readings = [at("c", 10, 1, 0), at("b", 10, 0, 1), at("a", 20, 0, -1), at("a", 30, 9, 9)]
    assert told(readings, [query]) == [
        (10, "q", 1, ("b",)), (10, "q", 1, ("c",)), (20, "q", -1, ("c",)), (20, "q", 1, ("a",)),
        (30, "q", -1, ("a",)), (30, "q", 1, ("c",)),
    ]  # fmt: skip


def test_the_nearest_are_those_among_the_inside_that_satisfy_the_condition():
    query = inside(Box(0, 0, 9, 9), nearest=Nearest(1, 0, 0), where=lambda values: values["x"] > 1)
    readings = [at("a", 10, 1, 1), at("b", 10, 5, 5), at("c", 10, -3, 0), at("d", 20, 2, 2)]
    assert told(readings, [query]) == [(10, "q", 1, ("b",)), (20, "q", -1, ("b",)), (20, "q", 1, ("d",))]


def test_a_focal_object_is_not_its_own_neighbour_and_takes_them_along_when_it_is_gone():
    query = inside(Everywhere(), nearest=Nearest(1, focal="f"))
    readings = [at("p", 10, 3, 4), at("f", 20, 0, 0), at("f", 30, 1, 0, gone=True), at("f", 40, 0, 0)]
    assert told(readings, [query]) == [(20, "q", 1, ("p",)), (30, "q", -1, ("p",)), (40, "q", 1, ("p",))]
