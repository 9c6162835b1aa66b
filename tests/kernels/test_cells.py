"""Points in cells against a list of them: who is in a box, and where certainly nobody is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.nearest.cells import is_deserted, near, no_cells, put

number = st.one_of(st.floats(-20, 20), st.sampled_from([0.0, 1e9, -1e9, 1e300]))
place = st.one_of(st.tuples(number, number), st.just((np.nan, np.nan)))
moves = st.lists(st.tuples(st.integers(0, 7), place), max_size=60)


@given(moves, number, number, st.floats(0, 30), st.floats(0, 30), st.sampled_from([0.25, 1.0, 10.0]))
def test_a_box_holds_who_is_in_it(
    steps: list[tuple[int, tuple[float, float]]], x: float, y: float, w: float, h: float, size: float
) -> None:
    cells = no_cells(np.array([size]), np.zeros(8, np.int32))
    where = {}
    for point, (a, b) in steps:
        put(cells, point, a, b)
        where[point] = (a, b)
    inside = {p for p, (a, b) in where.items() if x <= a <= x + w and y <= b <= y + h}
    found = np.empty(8, np.int32)
    cell, level, head, next_, _, bucket, places, crowd = cells
    n = near(cell[0], level, head, next_, bucket, places, 0, x, y, x + w, y + h, found)
    assert sorted(found[:n]) == sorted(inside)
    assert crowd.sum() == sum(a == a for a, _ in where.values()) and (crowd >= 0).all()
    if is_deserted(size, crowd, x, y, x + w, y + h):
        assert not inside
