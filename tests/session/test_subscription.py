"""A buffer between a stream that does not wait and a reader that may."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from sanderling.errors import InternalError, SanderlingError, SessionError
from sanderling.session.subscription import Subscription


def rows(*values: int) -> pa.Table:
    return pa.table({"id": pa.array(values, pa.int64())})


def read(subscription: Subscription) -> list[int]:
    return [value for batch in subscription for value in batch.column("id").to_pylist()]


def test_what_was_given_is_read_in_order_and_then_it_ends() -> None:
    subscription = Subscription("q", 10)
    assert subscription.poll(0) is None
    subscription.give(rows(1, 2))
    subscription.give(rows(3))
    subscription.end()
    subscription.give(rows(4))
    assert read(subscription) == [1, 2, 3]
    assert subscription.poll() is None


def test_a_reader_that_waits_is_woken() -> None:
    subscription = Subscription("q", 10)
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.extend(read(subscription)))
    reader.start()
    subscription.give(rows(1))
    subscription.end()
    reader.join(10)
    assert found == [1]


def test_a_reader_that_is_too_slow_is_told_how_much_it_missed() -> None:
    subscription = Subscription("q", 3)
    subscription.give(rows(1, 2))
    subscription.give(rows(3))
    subscription.give(rows(4, 5))
    subscription.give(rows(6))
    with pytest.raises(SessionError) as e:
        subscription.poll()
    assert e.value.code == "session.fell_behind" and " 6 rows" in e.value.message
    subscription.give(rows(7))
    assert subscription.poll(0) is None and subscription.is_over


def test_a_reader_that_reads_in_time_never_falls_behind() -> None:
    subscription = Subscription("q", 2)
    for number in range(20):
        subscription.give(rows(number, number))
        assert subscription.poll(0) is not None


def test_closed_by_its_reader_it_is_empty() -> None:
    with Subscription("q", 10) as subscription:
        subscription.give(rows(1))
    assert subscription.poll() is None and subscription.is_over


def test_what_came_before_a_failure_is_read_first() -> None:
    subscription = Subscription("q", 10)
    subscription.give(rows(1))
    subscription.end(SessionError("session.failed", "no room"))
    assert subscription.poll() is not None
    with pytest.raises(SessionError):
        subscription.poll()


@pytest.mark.parametrize(
    "why", [SessionError("session.stopped", "stopped"), InternalError("internal.spark", "it broke")]
)
def test_a_reader_that_waits_hears_that_the_stream_is_over(why: SanderlingError) -> None:
    subscription = Subscription("q", 10, lambda: why)
    if why.code == "session.stopped":
        assert read(subscription) == []
    else:
        with pytest.raises(InternalError):
            read(subscription)
