"""Plain comparisons hold as DuckDB has them."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.where import conditions
from sanderling.operate.where.comparisons import is_compared, judged_pairs, values_of
from sanderling.operate.where.comparisons import judged as judged_plainly
from sanderling.plans.expression import Comparison
from tests.engine.conditions import condition

NUMBERS = [0, 1, -1, 2, 2**53, 2**53 + 1, -(2**62), 2**62]
DOUBLES = [0.0, -0.0, 1.0, 0.5, -1.5, math.nan, math.inf, -math.inf, 2.0**53, 1e300]
KINDS = {
    "n": (pa.int64(), NUMBERS), "i": (pa.int32(), [0, 1, -1, 7]), "d": (pa.float64(), DOUBLES),
    "k": (pa.string(), ["", "a", "b", "B", "ä"]),
}  # fmt: skip
CONSTANTS = {
    "n": [*NUMBERS, 0.5, 1.0],
    "i": [0, 1, 0.5],
    "d": [0, 1, 2**53 + 1, 0.5, 1e300],
    "k": ["", "a", "ä"],
}


@given(data=st.data())
def test_they_hold_as_in_duckdb(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    columns = {}
    for name in dict.fromkeys(names):
        type_, values = KINDS[name]
        some = data.draw(st.lists(st.sampled_from([None, *values]), min_size=8, max_size=8))
        columns[f"r:{name}"] = pa.chunked_array([pa.array(some, type_)])
    parts, scalars = [], {}
    for number, name in enumerate(names):
        value = data.draw(st.sampled_from(CONSTANTS[name]))
        scalars[f"q:p{number}"] = pa.scalar(value)
        op = data.draw(st.sampled_from(["=", "<>"] if name == "k" else ["=", "<>", "<", "<=", ">", ">="]))
        turned = data.draw(st.booleans())
        parts.append(f'"q:p{number}" {op} "r:{name}"' if turned else f'"r:{name}" {op} "q:p{number}"')
    sql = " AND ".join(parts)
    found = condition(sql).comparisons
    assert found is not None
    got = judged_plainly(found, scalars, lambda name: values_of(columns[f"r:{name}"]))
    assert got is not None
    whole = columns | {name: pa.repeat(scalar, 8) for name, scalar in scalars.items()}
    assert got.tolist() == conditions.judged(condition(sql), whole, 8).tolist()


@given(data=st.data())
def test_so_they_do_where_each_reading_has_its_own_constants(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    columns, constants, parts = {}, {}, []
    for number, name in enumerate(names):
        type_, values = KINDS[name]
        some = data.draw(st.lists(st.sampled_from([None, *values]), min_size=8, max_size=8))
        columns[f"r:{name}"] = pa.chunked_array([pa.array(some, type_)])
        kinds = [[c for c in CONSTANTS[name] if isinstance(c, kind)] for kind in (int, float, str)]
        offered = data.draw(st.sampled_from([kind for kind in kinds if kind]))
        own = data.draw(st.lists(st.sampled_from(offered), min_size=8, max_size=8))
        constants[f"q:p{number}"] = pa.chunked_array([pa.array(own)])
        op = data.draw(st.sampled_from(["=", "<>"] if name == "k" else ["=", "<>", "<", "<=", ">", ">="]))
        parts.append(f'"r:{name}" {op} "q:p{number}"')
    sql = " AND ".join(parts)
    found = condition(sql).comparisons
    assert found is not None
    types = {name: column.type for name, column in (columns | constants).items()}
    assert all(is_compared(comparison, types) for comparison in found)
    got = judged_pairs(
        found, lambda name: values_of(columns[f"r:{name}"]), lambda name: values_of(constants[name])
    )
    assert got is not None
    assert got.tolist() == conditions.judged(condition(sql), columns | constants, 8).tolist()


@pytest.mark.parametrize(
    ("values", "constants", "op"),
    [
        ([1.0], [math.nan], "<"), ([1.0], [None], "<"), (["a"], [None], "="), (["a"], ["b"], "<"),
        ([1], ["b"], "="),
    ],
)  # fmt: skip
def test_constants_of_their_own_that_are_left_to_duckdb(values: list, constants: list, op: str) -> None:
    column = pa.chunked_array([pa.array(values)])
    own = pa.chunked_array([pa.array(constants, column.type if constants == [None] else None)])
    found = (Comparison("a", op, "q:p0"),)
    assert judged_pairs(found, lambda _: values_of(column), lambda _: values_of(own)) is None


def test_between_is_two() -> None:
    sql = '"r:a" BETWEEN "q:p0" AND "q:p1" AND "q:p2" < "r:b"'
    assert condition(sql).comparisons == (
        Comparison("a", ">=", "q:p0"), Comparison("a", "<=", "q:p1"), Comparison("b", ">", "q:p2")
    )  # fmt: skip


@pytest.mark.parametrize(
    "sql",
    [
        '"r:a" + 1 > "q:p0"', '"r:a" > "q:p0" OR "r:b" > "q:p1"', 'NOT "r:a" > "q:p0"', '"r:a" > "r:b"',
        '("r:a" > "q:p0")', '"r:a" > "q:p0" AND "r:b"', '"r:a" IN ("q:p0", "q:p1")', '"r:a" > "t:speed"',
        "TRUE", '"r:a" BETWEEN SYMMETRIC "q:p0" AND "q:p1"', '"r:a" BETWEEN "q:p0" AND 5', '"q:p0" > "q:p1"',
        '"r:a" > "q:p0" AND ("r:b" > "q:p1" AND "r:b" < "q:p2")', '"c0" > "q:p0"', '"n:a" > "q:p0"',
        '"r:a"', '"r:a" > 5',
    ],
)  # fmt: skip
def test_all_else_is_not_plain(sql: str) -> None:
    assert condition(sql).comparisons is None


def test_what_is_compared_otherwise_is_left_to_duckdb() -> None:
    times = pa.chunked_array([pa.array([1, 2], pa.timestamp("us"))])
    narrow = pa.chunked_array([pa.array([1, 2], pa.float32())])
    found = (Comparison("a", "<", "q:p0"),)
    for column in (times, narrow):
        assert judged_plainly(found, {"q:p0": pa.scalar(2)}, lambda _, c=column: values_of(c)) is None  # type: ignore[misc]
    texts = pa.chunked_array([["a"]])
    assert judged_plainly(found, {"q:p0": pa.scalar("b")}, lambda _: values_of(texts)) is None
    assert np.array_equal(
        judged_plainly((Comparison("a", "=", "q:p0"),), {"q:p0": pa.scalar("a")}, lambda _: values_of(texts)),
        [True],
    )
