"""Who is ahead and who is late, for any clock before, against the plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.clock import Rise, Rises
from sanderling.kernels.readings.ahead import clocks_asked, plain_ahead

TIMES = st.lists(st.integers(0, 30), max_size=25)


@given(times=TIMES, ahead=st.sampled_from([0, 1, 3, 10, 50]), lateness=st.integers(0, 5))
def test_what_is_asked_of_the_clock_is_what_the_plain_twin_finds(
    times: list[int], ahead: int, lateness: int
) -> None:
    ts = np.array(times, np.int64)
    late_at = ts + lateness + 1
    ahead_below, late_from, furthest = clocks_asked(ts, late_at, ahead)
    rises = Rises(0, [Rise(int(ahead_below[i]), times[i], "", int(i)) for i in furthest])
    for clock in range(-60, 40):
        is_ahead, is_late, after = plain_ahead(ts, late_at, ahead, clock)
        assert (clock < ahead_below).tolist() == is_ahead.tolist()
        assert (clock >= late_from).tolist() == is_late.tolist()
        moved = rises.moves(clock)
        assert (clock if moved is None else moved.ts) == after
        assert moved is None or (times[moved.row] == after and not is_ahead[moved.row])


def test_what_is_in_order_asks_one_thing_of_the_clock() -> None:
    ts = np.arange(1000)
    ahead_below, _, furthest = clocks_asked(ts, ts + 1, 10)
    assert set(ahead_below.tolist()) == {-10} and furthest.tolist() == [999]


def test_times_in_any_order_and_no_room_ahead_end() -> None:
    ts = np.random.default_rng(7).permutation(20_000)
    ahead_below, _, furthest = clocks_asked(ts, ts + 1, 0)
    assert ahead_below.tolist() == ts.tolist() and ts[furthest].tolist() == list(range(20_000))
