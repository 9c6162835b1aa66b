"""Delivers beside Spark: while a batch is brought to its files, the next one is computed."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa

from sanderling.batches import Batch
from sanderling.deliver.changes import step_back
from sanderling.deliver.log import Log
from sanderling.deliver.sinks.sink import Holds, Sink
from sanderling.errors import StateError
from sanderling.figures.laps import Laps
from sanderling.route.controls import told_seconds

# Batches that may wait for their delivery; when there are more, Spark waits.
WAITING = 2
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_BETWEEN_PRUNINGS = 10.0


class Courier:
    """A batch is taken when it is in the log, and delivered by a thread, in order.

    Promises (tests/recovery): what was taken is delivered once, by this run or by the next.
    """

    def __init__(
        self, log: Log, sinks: Sequence[Sink], keep_s: float | None = None, is_awaited: bool = False
    ):
        """`keep_s`: others read the log, too, and a batch stays in it for so many seconds.

        `is_awaited`: somebody waits for each update, and it does not step back behind the next batch.
        """
        self._is_awaited = is_awaited
        self.log, self.sinks, self.keep_s = log, sinks, keep_s
        self.taken = min(sink.delivered for sink in sinks)
        self._pruned_at = 0.0
        self._waiting: queue.Queue[tuple[int, list[Batch]] | None] = queue.Queue(WAITING)
        self._failure: BaseException | None = None
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)
        self._catch_up()
        self._thread.start()

    def _catch_up(self) -> None:
        """What a killed run had taken and not delivered."""
        for number in self.log.numbers():
            if number > self.taken:
                if number != self.taken + 1:
                    raise StateError(
                        "state.broken_ledger",
                        f"batch {number} has been computed, but batch {self.taken + 1} is gone",
                        "use a new checkpoint",
                    )
                self._deliver(number, self.log.read(number))
                self.taken = number
            self._forget(number)

    def take(self, number: int, blobs: pa.Table) -> None:
        """Returns when the batch is safe. A failure to deliver an earlier one is raised here."""
        if number <= self.taken:
            if not self.log.has(number):
                self.log.remove_parts(blobs)  # written again, and not needed
            return
        laps = Laps()
        self.log.write(number, blobs)
        laps.end("sink")
        self.taken = number
        self._put((number, [*self.log.batches_of(blobs), told_seconds(laps.seconds)]))

    def flush(self) -> None:
        """Returns when what was taken so far has been delivered."""
        self.settle()
        if self._failure is not None:
            raise self._failure

    def settle(self) -> None:
        """The same, whether or not it could be."""
        if self._failure is None:
            self._waiting.join()

    @property
    def failure(self) -> BaseException | None:
        return self._failure

    def close(self) -> None:
        """Delivers no more; what is in the log is for the next run."""
        self._is_closed.set()
        with suppress(queue.Full):
            self._waiting.put_nowait(None)  # who waits for work wakes up
        self._thread.join()
        self._give_up()

    def _put(self, item: tuple[int, list[Batch]]) -> None:
        while self._failure is None:
            try:
                return self._waiting.put(item, timeout=SECONDS_BETWEEN_LOOKS)
            except queue.Full:
                continue
        raise self._failure

    def _run(self) -> None:
        if not self._is_awaited:
            step_back()
        while not self._is_closed.is_set():
            try:
                item = self._waiting.get(timeout=SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                continue
            if item is None:
                self._waiting.task_done()
                return
            number, batches = item
            try:
                self._deliver(number, batches)
            except BaseException as e:
                self._failure = e
                self._waiting.task_done()
                self._give_up()
                return
            self._forget(number)
            self._waiting.task_done()

    def _give_up(self) -> None:
        """Nobody has to wait for what will not be delivered."""
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()
                self._waiting.task_done()

    def _deliver(self, number: int, batches: list[Batch]) -> None:
        for sink in self.sinks:
            if number > sink.delivered:
                sink.deliver(number, batches)

    def _forget(self, number: int) -> None:
        """Batches up to this one that no sink needs, once they are old enough; the last one stays."""
        now = time.time()
        number = min([number, *(sink.done_to for sink in self.sinks if isinstance(sink, Holds))])
        if self.keep_s is None:
            for old in self.log.numbers():
                if old <= number:
                    self.log.remove(old)
        elif now - self._pruned_at > SECONDS_BETWEEN_PRUNINGS:
            self._pruned_at = now
            for old in self.log.numbers()[:-1]:
                if old > number or now - self.log.written_at(old) < self.keep_s:
                    return
                self.log.remove(old)
