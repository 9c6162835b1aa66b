"""The oracle on time: ticks, what is late, who is gone, and who is silent for too long."""

import pytest

from . import Box, Everywhere, MovingBox, run, run_fast
from .cases import TICK, at, inside, of, told
from .held import is_cut
from .oracle import is_present, tick_end
from .past import Stream


@pytest.mark.parametrize(
    ("ts", "end"), [(0, 0), (1, 10), (10, 10), (11, 20), (-1, 0), (-10, -10), (-11, -10)]
)
def test_a_tick_holds_its_end_but_not_its_beginning(ts, end):
    assert tick_end(ts, TICK) == end


def test_ticks_are_exact_far_from_the_epoch():
    assert tick_end(2**62 + 1, 1_000_000) == (2**62 // 1_000_000 + 1) * 1_000_000


def test_only_the_last_reading_of_a_tick_counts():
    readings = [at("p", 1, 5, 5), at("p", 2, 50, 5), at("p", 9, 6, 5)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(10, "q", 1, ("p",))]


def test_of_two_readings_with_the_same_time_the_later_arrival_wins():
    readings = [at("p", 5, 5, 5, v="first"), at("p", 5, 5, 5, v="second")]
    assert told(readings, [inside(Everywhere(), select=of("v"))]) == [(10, "q", 1, ("second",))]


def test_an_older_reading_that_arrives_later_does_not_win():
    readings = [at("p", 7, 5, 5, v="new"), at("p", 5, 5, 5, v="old")]
    assert told(readings, [inside(Everywhere(), select=of("v"))]) == [(10, "q", 1, ("new",))]


def test_a_reading_is_late_only_once_the_clock_is_past_its_tick():
    readings = [at("a", 20, 0, 0), at("b", 11, 0, 0), at("c", 10, 0, 0), at("d", 21, 0, 0), at("e", 20, 0, 0)]
    result = run(readings, [inside(Everywhere())], TICK)
    assert result.late == [2, 4]
    assert [update.row for update in result.updates] == [("a",), ("b",), ("d",)]
    assert result == run_fast(readings, [inside(Everywhere())], TICK)


def test_lateness_holds_ticks_open():
    readings = [at("a", 10, 0, 0), at("a", 25, 50, 0), at("b", 3, 0, 0), at("b", 26, 0, 0), at("c", 10, 0, 0)]
    result = run(readings, [inside(Box(0, 0, 10, 10))], TICK, lateness_us=15)
    assert result.late == [4]
    assert result.updates == [(10, "q", 1, ("a",)), (10, "q", 1, ("b",)), (30, "q", -1, ("a",))]


@pytest.mark.parametrize(
    ("highest", "lateness", "closed_to"), [(30, 0, 20), (31, 0, 30), (36, 5, 30), (35, 5, 20)]
)
def test_without_an_end_a_tick_needs_a_later_reading_to_close(highest, lateness, closed_to):
    readings = [at("a", 20, 0, 0), at("b", 30, 0, 0), at("c", highest, 0, 0)]
    query = inside(Everywhere())
    result = run(readings, [query], TICK, lateness, ended=False)
    assert result == run_fast(readings, [query], TICK, lateness, ended=False)
    assert result.closed_to == closed_to
    whole = run(readings, [query], TICK, lateness)
    assert whole.closed_to == tick_end(highest, TICK)
    assert result.updates == [update for update in whole.updates if update.tick <= closed_to]


def test_nothing_comes_of_nothing():
    result = run([], [inside(Everywhere(), begin=10)], TICK)
    assert result == run_fast([], [inside(Everywhere(), begin=10)], TICK)
    assert (result.updates, result.late, result.closed_to) == ([], [], None)


def test_an_object_that_is_gone_leaves_and_may_come_back():
    readings = [at("p", 10, 5, 5), at("p", 20, 5, 5, gone=True), at("p", 30, 5, 5)]
    assert told(readings, [inside(Everywhere())]) == [
        (10, "q", 1, ("p",)),
        (20, "q", -1, ("p",)),
        (30, "q", 1, ("p",)),
    ]


def test_a_silent_object_leaves_in_a_tick_nobody_reported_in():
    readings = [at("p", 8, 5, 5), at("other", 100, 50, 50)]
    query = inside(Box(0, 0, 10, 10))
    # Silent for 22 at 30, which is not longer than 22; for 32 at 40, which is.
    assert told(readings, [query], stale_after_us=22) == [(10, "q", 1, ("p",)), (40, "q", -1, ("p",))]
    assert told(readings, [query], stale_after_us=21) == [(10, "q", 1, ("p",)), (30, "q", -1, ("p",))]
    assert told(readings, [query], stale_after_us=1) == []


def test_a_silent_focal_object_empties_its_query():
    readings = [at("f", 10, 0, 0), at("p", 30, 1, 1), at("p", 100, 1, 1)]
    assert told(readings, [inside(MovingBox("f", 2, 2))], stale_after_us=70) == [
        (30, "q", 1, ("p",)),
        (90, "q", -1, ("p",)),
    ]


@pytest.mark.parametrize("stale", [0, 3, 9, 10, 11, 25])
@pytest.mark.parametrize("begin", [1, 5, 9, 10])
def test_between_two_readings_an_object_was_silent_if_it_was_stale_at_the_end_of_a_tick(begin, stale):
    """Just below, at and above what is allowed, within a tick and across ticks; for both ways to say it."""
    for gap in range(1, 50):
        one, following = at("p", begin, 0, 0), at("p", begin + gap, 0, 0)
        ends = range(tick_end(one.ts, TICK), tick_end(following.ts, TICK), TICK)
        is_parted = any(not is_present(one, end, stale) for end in ends)
        assert is_cut(one, following, TICK, stale) == is_parted
        stream = Stream([one, following], TICK, stale_after_us=stale)
        assert stream.is_parted(one, following) == is_parted
        assert (stream.previous(following) is None) == is_parted
