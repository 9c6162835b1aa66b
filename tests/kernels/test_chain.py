"""Which readings count, and which stands before which, against the plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.readings.chain import chain, plain_chain

READINGS = st.lists(st.tuples(st.integers(0, 2), st.integers(-5, 20), st.booleans()), max_size=20)


@given(readings=READINGS, tick_us=st.sampled_from([1, 3, 10]), stale_us=st.sampled_from([-1, 0, 4, 30]))
def test_chain_is_its_plain_twin(readings: list[tuple[int, int, bool]], tick_us: int, stale_us: int) -> None:
    objects, ts = (np.array([r[i] for r in readings], np.int64) for i in (0, 1))
    is_gone = np.array([r[2] for r in readings], np.bool_)
    ordered = np.lexsort((np.arange(len(ts)), ts, objects))
    nobody = np.full(3, -1)
    counts, before = chain(ordered, objects, ts, is_gone, nobody, nobody, 0, tick_us, stale_us)
    wanted = plain_chain(objects, ts, is_gone, tick_us, stale_us)
    assert list(zip(counts.tolist(), before.tolist(), strict=True)) == [(bool(c), int(b)) for c, b in wanted]


def test_the_first_of_a_batch_stands_behind_what_is_known() -> None:
    one = np.array([0]), np.array([0]), np.array([7]), np.array([False])
    known = np.array([4]), np.array([2])
    assert chain(*one, *known, 10, 1, -1)[1].tolist() == [4]
    assert chain(*one, *known, 10, 1, 3)[1].tolist() == [-1]
    assert chain(*one, np.array([-1]), np.array([2]), 10, 1, -1)[1].tolist() == [-1]
