"""EVERY: the ticks at which a window is looked at, against those of the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.plans.window import Refresh
from tests.oracle.brackets import Refresh as Plain


@given(
    tick_us=st.sampled_from([1, 2, 5, 10]), every=st.integers(1, 40), start=st.integers(-60, 60),
    ticks=st.lists(st.integers(-30, 30), min_size=1, max_size=8),
)  # fmt: skip
def test_what_happens_is_told_at_the_next_look(
    tick_us: int, every: int, start: int, ticks: list[int]
) -> None:
    """That is the first tick that is a look of its own, and not before."""
    at = np.array(ticks, np.int64) * tick_us
    plain = Plain(every, start)
    for tick, told in zip(at, Refresh(every, start).ticks(at, tick_us), strict=True):
        looks = [t for t in range(int(tick), int(tick) + 2 * every + 2 * tick_us, tick_us)
                 if plain.last(t, tick_us) == t]  # fmt: skip
        assert told == looks[0]
