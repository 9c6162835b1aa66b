"""The oracle on SELECT and WHERE: rows that change, rows that are equal, and what NULL does."""

import math
from dataclasses import replace

from . import Box, Everywhere
from .cases import at, inside, of, told
from .oracle import Values


def test_a_changed_column_tells_minus_then_plus_and_an_unchanged_one_nothing():
    query = inside(Everywhere(), select=of("speed"))
    readings = [at("p", 10, 0, 0, speed=1), at("p", 20, 5, 5, speed=1), at("p", 30, 5, 5, speed=None)]
    assert told(readings, [query]) == [(10, "q", 1, (1,)), (30, "q", -1, (1,)), (30, "q", 1, (None,))]


def test_nan_equals_nan_and_rows_order_with_none_last():
    query = inside(Everywhere(), select=of("v"))
    readings = [at(key, 10, 0, 0, v=v) for key, v in enumerate([None, "a", math.nan, 2, float("nan"), -1])]
    again = [replace(reading, ts=20) for reading in readings]
    again[2] = at(2, 20, 0, 0, v=-math.nan)
    rows = [update.row for update in told(readings + again, [query])]
    assert str(rows) == "[(-1,), (2,), (nan,), (nan,), ('a',), (None,)]"


def test_identical_rows_are_counted():
    query = inside(Box(0, 0, 9, 9), select=of("kind"))
    readings = [at("a", 10, 1, 1, kind="bus"), at("b", 10, 2, 2, kind="bus"), at("a", 20, 99, 1, kind="bus")]
    assert told(readings, [query]) == [
        (10, "q", 1, ("bus",)),
        (10, "q", 1, ("bus",)),
        (20, "q", -1, ("bus",)),
    ]


def test_where_null_is_not_satisfied():
    def is_fast(values: Values) -> bool | None:
        return None if values["speed"] is None else values["speed"] > 60

    readings = [at("a", 10, 0, 0, speed=None), at("b", 10, 0, 0, speed=60), at("c", 10, 0, 0, speed=61)]
    assert told(readings, [inside(Everywhere(), where=is_fast)]) == [(10, "q", 1, ("c",))]
