"""The oracle on REGISTER and DROP: when a query begins, when it ends, and who may bear its name."""

from dataclasses import replace

import pytest

from . import Box, Everywhere, run
from .cases import TICK, at, inside, of, told


def test_a_query_begins_with_its_whole_answer_and_ends_in_silence():
    readings = [at("p", 10, 5, 5), at("p", 60, 6, 6), at("p", 70, 7, 7), at("p", 90, 50, 50)]
    query = inside(Box(0, 0, 10, 10), select=of("id", "x"), begin=30, end=70)
    assert told(readings, [query]) == [
        (30, "q", 1, ("p", 5)),
        (60, "q", -1, ("p", 5)),
        (60, "q", 1, ("p", 6)),
    ]
    assert told(readings, [replace(query, begin=100)]) == []


def test_a_name_may_be_used_again_but_not_twice_at_once():
    readings = [at("p", 10, 5, 5), at("p", 60, 6, 6)]
    first = inside(Everywhere(), end=30)
    second = inside(Everywhere(), begin=30)
    assert told(readings, [first, second]) == [(10, "q", 1, ("p",)), (30, "q", 1, ("p",))]
    for overlapping in (inside(Everywhere()), replace(first, end=31), replace(second, begin=20)):
        with pytest.raises(ValueError, match="two queries"):
            run(readings, [overlapping, first, second], TICK)
