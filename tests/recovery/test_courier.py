"""The courier and its log: what was taken is delivered once, in order, by this run or by the next."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from sanderling.batches import Batch, Kind
from sanderling.deliver.courier import WAITING, Courier
from sanderling.deliver.log import Log
from sanderling.errors import StateError
from sanderling.route.parcels import parcel_of


def blobs(n: int) -> pa.Table:
    parcel = parcel_of(Batch(Kind.COUNTS, pa.table({"n": [n]})))
    return pa.table({"blob": pa.array([parcel], pa.binary())})


def finish(courier: Courier) -> None:
    courier.flush()
    courier.close()


class Delivered:
    """Keeps what it gets; waits where it is told to."""

    def __init__(self, delivered: int = -1) -> None:
        self.delivered = delivered
        self.numbers: list[int] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def deliver(self, number: int, batches: list[Batch]) -> None:
        assert self.may_go_on.wait(10)
        (batch,) = (b for b in batches if b.kind != Kind.SECONDS)
        assert batch.table.column("n").to_pylist() == [number]
        self.numbers.append(number)
        self.delivered = number


def test_batches_arrive_in_order_and_leave_no_file(tmp_path: Path) -> None:
    log, delivered = Log(tmp_path / "said"), Delivered()
    courier = Courier(log, [delivered])
    for n in range(9):
        courier.take(n, blobs(n))
    finish(courier)
    assert delivered.numbers == list(range(9))
    assert log.numbers() == []


def test_a_batch_that_comes_again_is_not_delivered_again(tmp_path: Path) -> None:
    delivered = Delivered(4)
    courier = Courier(Log(tmp_path), [delivered])
    for n in (4, 5, 5, 6):
        courier.take(n, blobs(n))
    finish(courier)
    assert delivered.numbers == [5, 6]


def test_the_next_run_delivers_what_was_taken(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for n in (3, 4, 5):
        log.write(n, blobs(n))
    (tmp_path / "6.new").write_bytes(b"half of a batch")
    delivered = Delivered(3)
    courier = Courier(log, [delivered])  # its file was not removed yet
    assert delivered.numbers == [4, 5]
    courier.take(5, blobs(5))
    courier.take(6, blobs(6))
    finish(courier)
    assert delivered.numbers == [4, 5, 6]
    assert log.numbers() == []


def test_a_hole_in_the_log_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.write(7, blobs(7))
    with pytest.raises(StateError, match="batch 6 is gone"):
        Courier(log, [Delivered(5)])


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0.arrow").write_bytes(b"ARROW1 and then nothing")
    with pytest.raises(StateError) as caught:
        Courier(Log(tmp_path), [Delivered()])
    assert caught.value.code == "state.broken_ledger"


def test_a_failure_ends_the_run_and_keeps_the_batch(tmp_path: Path) -> None:
    class Full(Delivered):
        def deliver(self, number: int, batches: list[Batch]) -> None:
            raise OSError(28, "No space left on device")

    log = Log(tmp_path)
    courier = Courier(log, [Full()])
    with pytest.raises(OSError, match="No space"):
        for n in range(WAITING + 2):
            courier.take(n, blobs(n))
        finish(courier)
    courier.close()
    assert log.numbers()[0] == 0


def test_spark_waits_for_a_slow_delivery(tmp_path: Path) -> None:
    log, delivered = Log(tmp_path), Delivered()
    delivered.may_go_on.clear()
    courier = Courier(log, [delivered])
    taken: list[int] = []

    def take_all() -> None:
        for n in range(WAITING + 4):
            courier.take(n, blobs(n))
            taken.append(n)

    spark = threading.Thread(target=take_all)
    spark.start()
    spark.join(0.5)
    assert spark.is_alive() and len(taken) <= WAITING + 1
    delivered.may_go_on.set()
    spark.join(10)
    finish(courier)
    assert delivered.numbers == list(range(WAITING + 4))


def test_a_closed_courier_leaves_the_rest_for_the_next(tmp_path: Path) -> None:
    log, delivered = Log(tmp_path), Delivered()
    delivered.may_go_on.clear()
    courier = Courier(log, [delivered])
    for n in range(3):
        courier.take(n, blobs(n))
    threading.Timer(0.2, delivered.may_go_on.set).start()
    courier.close()
    assert delivered.numbers == [0]
    assert log.numbers() == [1, 2]


def test_of_two_sinks_each_gets_what_it_has_not_had(tmp_path: Path) -> None:
    log, ahead, behind = Log(tmp_path), Delivered(4), Delivered(2)
    for n in (3, 4, 5):
        log.write(n, blobs(n))
    courier = Courier(log, [ahead, behind])
    courier.take(6, blobs(6))
    finish(courier)
    assert (ahead.numbers, behind.numbers) == ([5, 6], [3, 4, 5, 6])


def test_of_a_log_that_is_kept_only_what_was_delivered_and_is_old_goes(tmp_path: Path) -> None:
    log, delivered = Log(tmp_path), Delivered(3)
    for n in (3, 4, 5):
        log.write(n, blobs(n))
    courier = Courier(log, [delivered], keep_s=0.0)
    assert delivered.numbers == [4, 5] and log.numbers() == [4, 5], "looked at once in a while"
    finish(courier)
    finish(Courier(log, [delivered], keep_s=3600.0))
    assert log.numbers() == [4, 5]
    finish(Courier(log, [delivered], keep_s=0.0))
    assert log.numbers() == [5], "the last one stays"


def test_nobody_waits_for_what_a_closed_courier_has_left(tmp_path: Path) -> None:
    delivered = Delivered()
    delivered.may_go_on.clear()
    courier = Courier(Log(tmp_path), [delivered])
    for n in range(3):
        courier.take(n, blobs(n))
    threading.Timer(0.2, delivered.may_go_on.set).start()
    courier.close()
    courier.flush()
