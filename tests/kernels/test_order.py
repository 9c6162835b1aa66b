"""The order of rows against Python's own sort: every type, NULL, extremes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.deliver.order import sort_order
from sanderling.kernels.order import ordered_by

whole = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
values = {
    pa.int64(): whole,
    pa.int8(): st.integers(-128, 127),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(alphabet="aBé𝄞", max_size=3),
    pa.float64(): st.one_of(st.sampled_from([0.0, -0.0, 1.5]), st.floats(allow_nan=False)),
    pa.float32(): st.floats(allow_nan=False, width=32),
    pa.timestamp("us"): st.datetimes(),
    pa.date32(): st.dates(),
}


@given(st.lists(whole, max_size=50))
def test_a_kernel_that_sorts_like_python(keys: list[int]) -> None:
    column = np.array(keys, np.int64)
    found = ordered_by(np.arange(len(keys)), column).tolist()
    assert found == sorted(range(len(keys)), key=lambda i: keys[i])


@given(st.data())
def test_rows_are_ordered_by_their_columns(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 12))
    columns = []
    for type_ in data.draw(st.lists(st.sampled_from(list(values)), min_size=1, max_size=3)):
        value = st.one_of(st.none(), values[type_])
        columns.append(pa.chunked_array([pa.array([data.draw(value) for _ in range(n)], type_)]))
    rows = list(zip(*(c.to_pylist() for c in columns), strict=True))
    found = sort_order(columns).tolist()
    assert found == sorted(range(n), key=lambda i: [_comparable(v) for v in rows[i]])


def _comparable(value: object) -> tuple[bool, object]:
    """NULL last; texts by their bytes."""
    if value is None:
        return (True, 0)
    return (False, value.encode() if isinstance(value, str) else value)
