"""Slots against conditions judged one by one: every way to compare, NULL, NaN, bounds met exactly."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.sightings import listed
from sanderling.operate.comparisons import Numbers, values_of
from sanderling.operate.conditions import Condition, truth
from sanderling.operate.slots import slots_of

NAN, INF = float("nan"), float("inf")
FORMS = (
    '"r:v" BETWEEN "q:p0" AND "q:p1"', '"r:v" > "q:p0"', '"r:v" >= "q:p0" AND "r:v" < "q:p1"',
    '"r:v" = "q:p0"', '"r:v" <= "q:p0"', '"q:p0" < "r:v" AND "r:v" > "q:p1"',
)  # fmt: skip
whole, doubles = st.integers(-3, 3), st.sampled_from([-INF, -1.5, -0.0, 0.0, 0.5, 2.0, INF])
large = st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63 - 1])


TYPES = {
    "int": (st.one_of(whole, large), pa.int64()),
    "small": (whole, pa.int32()),
    "double": (st.one_of(doubles, st.just(NAN)), pa.float64()),
}
CONSTANTS = {"int": (st.one_of(whole, large), pa.int64()), "double": (doubles, pa.float64())}


def conditions(sql: str, pairs: list[tuple[float, float]], type_: pa.DataType) -> list[Condition]:
    reads = tuple(name for name in ("q:p0", "q:p1", "r:v") if name in sql)
    return [
        Condition(sql, reads, {f"q:p{i}": pa.scalar(v, type_) for i, v in enumerate(pair)}) for pair in pairs
    ]


@pytest.mark.parametrize(("column", "constant"), list(product(TYPES, CONSTANTS)))
@given(data=st.data())
def test_a_value_is_taken_by_those_whose_conditions_hold(
    column: str, constant: str, data: st.DataObject
) -> None:
    value, type_ = TYPES[column]
    readings = pa.chunked_array([pa.array(data.draw(st.lists(st.none() | value, max_size=8)), type_)])
    bound, bound_type = CONSTANTS[constant]
    sql, pairs = data.draw(st.sampled_from(FORMS)), data.draw(st.lists(st.tuples(bound, bound), min_size=1))
    asked = conditions(sql, pairs, bound_type)
    which = np.array(data.draw(st.lists(st.integers(0, len(asked) - 1), max_size=6)), np.int64)
    slots = slots_of(asked, which, pa.types.is_integer(type_))
    assert slots is not None
    query = np.arange(len(which), dtype=np.int32) * 3
    is_there = np.arange(len(readings)) % 4 != 3
    holds = truth(asked, len(readings), lambda _: readings)
    wanted = listed(holds, which + 1, query, is_there)
    numbers = values_of(readings)
    assert isinstance(numbers, Numbers)
    *got, passed = slots.listed(numbers, is_there, which, query)
    assert [some.tolist() for some in got] == [some.tolist() for some in wanted]
    assert passed == np.count_nonzero(holds[1:])


@pytest.mark.parametrize(
    ("sql", "pair"),
    [
        ('"r:v" <> "q:p0"', (1.0,)),
        ('"r:v" > "q:p0"', (NAN,)),
        ('"r:v" > "q:p0"', (None,)),
        ('"r:v" > "q:p0" AND "r:w" > "q:p1"', (1.0, 2.0)),
        ('abs("r:v") > "q:p0"', (1.0,)),
    ],
)
def test_what_is_no_stretch_of_values_has_no_slots(sql: str, pair: tuple[float, ...]) -> None:
    assert slots_of(conditions(sql, [pair], pa.float64()), np.zeros(1, np.int64), False) is None
