"""Keys and their numbers: equal keys share one, different keys never do, even when their hashes agree."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.route import keys as module
from sanderling.route.keys import Keys

batches = st.lists(st.lists(st.text(alphabet="ab", max_size=4), max_size=12), max_size=6)


def check(pieces: list[list[str]]) -> None:
    keys, known = Keys(pa.array([], pa.string())), dict[str, int]()
    for piece in pieces:
        expected = [known.get(k, -1) for k in piece]
        assert keys.find(pa.array(piece, pa.string())).tolist() == expected
        for key, number in zip(piece, keys.number(pa.array(piece, pa.string())).tolist(), strict=True):
            assert known.setdefault(key, number) == number
        assert sorted(known.values()) == list(range(len(known))) and len(keys) == len(known)
        assert [known[k] for k in keys.all.to_pylist()] == list(range(len(known)))


@given(batches)
def test_equal_keys_share_a_number(pieces: list[list[str]]) -> None:
    check(pieces)


@pytest.mark.parametrize("hashes", [1, 3])
def test_keys_with_the_same_hash_stay_apart(hashes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def poor_hash(keys: pa.Array) -> np.ndarray:  # type: ignore[type-arg]
        return np.array([len(k) % hashes for k in keys.to_pylist()], np.uint64)

    monkeypatch.setattr(module, "hash_keys", poor_hash)
    check([["a", "b", "a"], ["ab", "b", "ba", "bb"], ["bb", "aaa", "a", "c"]])


def test_integers_and_lasting_keys() -> None:
    keys = Keys(pa.array([7, -1], pa.int64()))
    assert keys.number(pa.array([-1, 5, 7, 5], pa.int64())).tolist() == [1, 2, 0, 2]
    assert keys.find(pa.array([6, 5], pa.int64())).tolist() == [-1, 2]
