"""Keys as columns, against a set."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.pattern.known import Known
from tests.operate.histories import THOROUGH

steps = st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 40)), max_size=200)


@THOROUGH
@given(steps, st.booleans())
def test_it_is_a_set(said: list[tuple[bool, int, int]], is_text: bool) -> None:
    known, wanted = Known(pa.string() if is_text else pa.int32()), set[object]()
    for is_coming, query, value in said:
        key = (query, (f"key {value}" if is_text else value,))
        (known.add if is_coming else known.discard)(key)
        (wanted.add if is_coming else wanted.discard)(key)
    query, values = known.columns()
    found = list(zip(query.tolist(), ((v,) for v in values.to_pylist()), strict=True))
    assert set(found) == wanted == set(known) and len(found) == len(known) == len(wanted)
    assert all(key in known for key in found) and values.type == known.type


@pytest.mark.parametrize("n", [64, 65, 1000])
def test_it_grows(n: int) -> None:
    known = Known(pa.int64())
    known.update((i % 3, (i,)) for i in range(n))
    known.discard((0, (0,)))
    assert sorted(known.columns()[1].to_pylist()) == list(range(1, n))
