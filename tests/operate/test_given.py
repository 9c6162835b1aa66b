"""Numbers that are given back are given again, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.arrays import I64
from sanderling.kernels.jit import jit
from sanderling.kernels.persistency.numbers import Numbers, give_back
from sanderling.operate.persistency.numbers import Given
from tests.operate.histories import THOROUGH

rows = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, -1, 2**62])), max_size=12)


@jit
def give_all_back(numbers: Numbers, some: I64) -> None:
    for k in some:
        give_back(numbers, k)


@THOROUGH
@given(st.lists(st.tuples(rows, st.lists(st.integers(0, 30), max_size=8)), max_size=12))
def test_it_is_a_dictionary(said: list[tuple[list[tuple[int, int]], list[int]]]) -> None:
    known, wanted, most = Given(2), dict[tuple[int, int], int](), 0
    for came, went in said:
        codes = np.array(came, np.int64).reshape(-1, 2)
        for row, number in zip(came, known.number(codes).tolist(), strict=True):
            assert wanted.setdefault(row, number) == number
        assert len(set(wanted.values())) == len(wanted) == len(known)
        most = max(most, len(known))
        assert known.top <= most
        gone = {row: number for row, number in wanted.items() if number in went}
        give_all_back(known.columns, np.array(list(gone.values()), np.int64))
        wanted = {row: number for row, number in wanted.items() if row not in gone}
        assert sorted(known.used.tolist()) == sorted(wanted.values())
        every = [(a, b) for a in range(4) for b in (0, 1, -1, 2**62)]
        found = known.find(np.array(every, np.int64)).tolist()
        assert found == [wanted.get(row, -1) for row in every]
        assert [tuple(row) for row in known.codes[list(wanted.values())].tolist()] == list(wanted)


def test_there_is_room_for_many() -> None:
    known, n = Given(1), 10_000
    codes = np.arange(n)[:, None]
    assert (known.number(codes) == np.arange(n)).all() and (known.find(codes) == np.arange(n)).all()
    give_all_back(known.columns, np.arange(0, n, 2))
    assert len(known) == n // 2 and known.find(codes[::2]).max() == -1
    assert (known.find(codes[1::2]) == np.arange(1, n, 2)).all()
    assert sorted(known.number(codes[::2] + n).tolist()) == list(range(0, n, 2))
