"""Rows and their numbers against a dictionary, and neighbours against loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.sql.rows.numbered import Numbered

few = st.tuples(st.integers(0, 1), st.integers(-2, 2), st.integers(-2, 2))
batches = st.lists(st.lists(few, max_size=30), max_size=4)


@given(batches)
def test_equal_rows_share_a_number(pieces: list[list[tuple[int, int, int]]]) -> None:
    numbered, known = Numbered(3), dict[tuple[int, int, int], int]()
    for piece in pieces:
        rows = np.array(piece, np.int64).reshape(-1, 3)
        assert numbered.find(rows).tolist() == [known.get(row, -1) for row in piece]
        for row in piece:
            known.setdefault(row, len(known))
        assert numbered.number(rows).tolist() == [known[row] for row in piece]
        assert [tuple(row) for row in numbered.rows.tolist()] == list(known)


@given(st.lists(few, max_size=20), st.lists(few, max_size=5))
def test_neighbours_are_found(piece: list[tuple[int, int, int]], asked: list[tuple[int, int, int]]) -> None:
    numbered = Numbered(3)
    numbered.number(np.array(piece, np.int64).reshape(-1, 3))
    found = numbered.find_around(np.array(asked, np.int64).reshape(-1, 3), np.ones(len(asked), np.bool_))
    for (a, b, c), numbers in zip(asked, found.tolist(), strict=True):
        near = {(a, b + dx, c + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)} & set(piece)
        assert {tuple(numbered.rows[n].tolist()) for n in numbers if n >= 0} == near
