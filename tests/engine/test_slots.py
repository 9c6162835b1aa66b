"""Slots against conditions judged one by one: every way to compare, NULL, NaN, bounds met exactly."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.trigger.sightings import listed
from sanderling.operate.where import slots as slots_module
from sanderling.operate.where import slotted
from sanderling.operate.where.comparisons import Numbers, values_of
from sanderling.operate.where.conditions import Condition, truth
from sanderling.operate.where.slots import slots_of
from sanderling.plans.plan import Template
from tests.engine.conditions import condition

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
    where = condition(sql)
    return [Condition(where, {f"q:p{i}": pa.scalar(v, type_) for i, v in enumerate(pair)}) for pair in pairs]


def constants(some: list[tuple[float, ...]], type_: pa.DataType) -> pa.Table:
    columns = zip(*some, strict=True)
    return pa.table({f"q:p{i}": pa.array(values, type_) for i, values in enumerate(columns)})


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
    rows = np.array(data.draw(st.lists(st.integers(0, len(asked) - 1), max_size=6)), np.int64)
    slots = slots_of(condition(sql), constants(pairs, bound_type), {"r:v": type_})
    assert slots is not None and slots.is_exact
    is_there = np.arange(len(readings)) % 4 != 3
    holds = truth(asked, len(readings), lambda _: readings)
    wanted = listed(holds, rows + 1, np.arange(len(rows), dtype=np.int32), is_there)
    numbers = values_of(readings)
    assert isinstance(numbers, Numbers)
    *got, passed = slots.listed(numbers, is_there, slots.taken(rows))
    assert [some.tolist() for some in got] == [some.tolist() for some in wanted]
    some_of_each = np.unique(slots.which, return_index=True)[1]
    assert passed == np.count_nonzero(holds[1 + some_of_each])


@pytest.mark.parametrize(
    ("sql", "pair"),
    [
        ('"r:v" <> "q:p0"', (1.0,)),
        ('"r:v" > "q:p0"', (NAN,)),
        ('"r:v" > "q:p0"', (None,)),
        ('"r:w" = "q:p0"', (1.0,)),
        ('abs("r:v") > "q:p0"', (1.0,)),
    ],
)
def test_what_is_no_stretch_of_values_has_no_slots(sql: str, pair: tuple[float, ...]) -> None:
    types = {"r:v": pa.float64(), "r:w": pa.string()}
    assert slots_of(condition(sql), constants([pair], pa.float64()), types) is None


# ----- where slots do not say it all


MORE_FORMS = (
    *FORMS, '"r:v" > "q:p0" AND "r:w" > "q:p1"', '"r:w" BETWEEN "q:p0" AND "q:p1" AND "r:v" <> "q:p2"',
    '"r:v" = "q:p0" AND "r:w" = "q:p1" AND "r:v" < "q:p2"',
)  # fmt: skip


@pytest.mark.parametrize("most", [1, 5, 1000])
@given(data=st.data())
def test_the_rest_is_judged_by_the_pair(most: int, data: st.DataObject) -> None:
    """With fewer slots than there are bounds, of two columns, and in several turns."""
    sql = data.draw(st.sampled_from(MORE_FORMS))
    value = st.none() | doubles | st.just(NAN)
    readings = data.draw(st.lists(st.tuples(value, value), max_size=8))
    columns = dict(zip("vw", zip(*readings, strict=True), strict=False)) if readings else {"v": [], "w": []}
    table = {name: pa.chunked_array([pa.array(some, pa.float64())]) for name, some in columns.items()}
    triples = data.draw(st.lists(st.tuples(doubles, doubles, doubles), min_size=1))
    asked = conditions(sql, triples, pa.float64())
    rows = np.array(data.draw(st.lists(st.integers(0, len(asked) - 1), max_size=6)), np.int64)
    is_there = np.arange(len(readings)) % 4 != 3
    wanted = listed(
        truth(asked, len(readings), lambda name: table[name]), rows + 1, np.arange(len(rows), dtype=np.int32),
        is_there,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots_module, "MOST_TAKERS", most)
        patch.setattr(slotted, "MOST_PAIRS", 2 * most)
        own = constants(triples, pa.float64())
        slots = slots_of(condition(sql), own, {"r:v": pa.float64(), "r:w": pa.float64()})
        assert slots is not None
        found = slotted.Slotted(slots, template(sql), own).listed(
            is_there, lambda some: lambda name: table[name].take(pa.array(some)), rows
        )
    assert [some.tolist() for some in found[:3]] == [some.tolist() for some in wanted]


def template(sql: str) -> Template:
    where = condition(sql)
    return Template(0, "e", where, (), pa.schema([(n, pa.float64()) for n in sorted(where.of_query)]), True)
