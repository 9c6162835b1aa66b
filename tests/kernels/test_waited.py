"""Who is waited for, against the plain version: whoever moves when, and wherever batches end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.inside.waited import Waiting, hang, meet, plain_meet
from sanderling.space.coverages import BOX, DISC
from sanderling.space.geometry import Geometry

NAN = float("nan")
X = np.array([0.0, 1.0, 2.0, 3.0, NAN])
ROWS = st.integers(-1, len(X) - 1)
moves = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3), ROWS, ROWS), max_size=12)
waiting = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 6), st.integers(0, 8), ROWS), max_size=6
)
GEOMETRY = Geometry(
    np.array([BOX, DISC], np.int8), np.array([0.5, 3.0]), np.array([-1.0, 0.0]), np.array([2.0, 1.0]),
    np.array([1.0, NAN]),
)  # fmt: skip


def waits(drawn: list[tuple[int, ...]]) -> Waiting:
    columns = [np.array(column, np.int64) for column in zip(*drawn, strict=True)] or [
        np.empty(0, np.int64)
    ] * 5
    return Waiting(*columns, np.zeros(len(drawn), np.bool_))


@given(waiting, moves, st.integers(0, 7))
def test_as_the_plain_version(drawn: list[tuple[int, ...]], moved: list[tuple[int, ...]], until: int) -> None:
    fast, plain, y = waits(drawn), waits(drawn), np.zeros(len(X))
    columns = [np.array([move[i] for move in sorted(moved)], np.int64) for i in range(4)]
    head, behind = hang(fast.object, 6)
    met = meet(fast, head, behind, GEOMETRY, *columns, X, y, until)
    found = sorted(zip(*(column.tolist() for column in met), strict=True))
    assert found == sorted(plain_meet(plain, GEOMETRY, *columns, X, y, until))
    for one, other in zip(fast, plain, strict=True):
        assert (one == other).all()
