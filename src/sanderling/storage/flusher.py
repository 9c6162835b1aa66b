"""Archives while a stream runs: a sink of the courier that hands over, and a thread that writes.

courier ──batches──► Flusher ──a flush of whole ticks──► thread: append ─► tend ─► done_to
                        └── batches behind done_to stay in the log: after a kill they come again
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.batches import TS, Batch, Kind
from sanderling.clock import NOTHING_YET
from sanderling.state import crash
from sanderling.storage import queries
from sanderling.storage.archive import Archive
from sanderling.storage.last import LastStore
from sanderling.storage.late import LateReadings
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer

# So many bytes of readings wait for their flush to be full; then they are written as they are.
MOST_BYTES = 64 << 20


@dataclass(slots=True, eq=False)
class Flush:
    """What is written by one commit."""

    tables: list[pa.Table]
    up_to: int
    batch: int  # the last that is in it as a whole
    late: list[tuple[int, pa.Table]]


@dataclass(slots=True)
class Waiting:
    """Readings whose flush is not full."""

    tables: list[tuple[int, pa.Table]] = field(default_factory=list)  # with the batch they came with
    bytes: int = 0

    def add(self, batch: int, table: pa.Table) -> None:
        self.tables.append((batch, table))
        self.bytes += table.nbytes

    def take(self, up_to: int) -> list[pa.Table]:
        """Those up to a time; the others go on waiting."""
        taken, left = [], []
        for batch, table in self.tables:
            is_in = int64_of(table, TS) <= up_to
            taken.append(table if is_in.all() else table.filter(pa.array(is_in)))
            if not is_in.all():
                left.append((batch, table.filter(pa.array(~is_in))))
        self.tables, self.bytes = left, sum(table.nbytes for _, table in left)
        return taken


class Flusher:
    """Of one archive.

    Promises (tests/storage/test_flusher.py, tests/recovery/test_archive_crash.py):
      once     what was told is in the archive once, whenever we are killed
      whole    the archive ends with a tick that has closed
      bounded  one flush is written while the next one fills; then the courier waits
      now      `archive` has all that was delivered, in files or not
    """

    def __init__(self, writer: Writer, run: str, step_back: Callable[[], None] = lambda: None):
        """`run` is the name of what goes on after a kill: batches are numbered in it."""
        self.writer, self._run = writer, run
        self._step_back = step_back
        self.stream = writer.about.stream
        self.delivered = writer.told(run)
        self._last, self._late = LastStore(writer), LateReadings(writer, run)
        self.done_to = self.delivered  # what the log need not keep for us
        to = writer.archived_to
        self._closed_to, self._flushed_to = NOTHING_YET, NOTHING_YET if to is None else to
        self._waiting = Waiting()
        self._turn = threading.Lock()  # of those who look at what waits
        self._writing: list[Flush] = []  # handed over, and not in files yet
        # Those that read the stream, as rows: asked for by the thread that writes, when there are others.
        self.queries: Callable[[], pa.Table] | None = None
        self._kept_queries: Callable[[], pa.Table] | None = None
        self._queue: queue.Queue[Flush | None] = queue.Queue(1)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._write_all, name="archive", daemon=True)
        self._thread.start()

    # ----- from the courier's thread

    def deliver(self, number: int, batches: list[Batch]) -> None:
        mine = [b for b in batches if b.stream == self.stream.name]
        with self._turn:
            for batch in (b for b in mine if b.kind == Kind.ARCHIVED):
                self._waiting.add(number, batch.table)
            closed = (b.closed_to for b in mine if b.kind == Kind.COUNTS)
            self._closed_to = max([self._closed_to, *closed])
            self.delivered = number
        for batch in (b for b in mine if b.kind == Kind.LATE_READINGS):
            self._late.add(number, batch.table)
        if self._closed_to != NOTHING_YET:
            flush_us = self.writer.about.archiving.flush_us
            is_much = self._waiting.bytes > MOST_BYTES
            self._flush(self._closed_to if is_much else self._closed_to // flush_us * flush_us)

    def _flush(self, up_to: int, is_end: bool = False) -> None:
        """Everything up to a tick, if that is further than before."""
        if up_to <= self._flushed_to and not (is_end and self._late.are_waiting):
            return
        self._flushed_to = up_to
        with self._turn:
            taken = self._waiting.take(up_to)
            left = min((batch for batch, _ in self._waiting.tables), default=self.delivered + 1)
            flush = Flush(taken, up_to, left - 1, self._late.take(left - 1))
            self._writing.append(flush)
        self._put(flush)

    # ----- for who asks, from any thread

    def archive(self) -> Archive:
        """All that was delivered so far."""
        with self._turn:
            tables = [t for flush in self._writing for t in flush.tables]
            tables += [table for _, table in self._waiting.tables]
            closed_to = self._closed_to
        # Later than what waits: what has been written meanwhile is in both, and counts once.
        archive = Archive(self.writer.folder, self.writer.about)
        return archive if closed_to == NOTHING_YET else archive.going_on(tables, closed_to)

    def _put(self, flush: Flush | None) -> None:
        while self._failure is None:
            with suppress(queue.Full):
                return self._queue.put(flush, timeout=0.1)
        raise self._failure

    # ----- the end

    def finish(self) -> None:
        """Writes what has closed, though its flush is not full, and returns when it is safe."""
        if self._closed_to != NOTHING_YET:
            self._flush(self._closed_to, is_end=True)
        self._queue.join()
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Writes no more; what is in the log is for the next run."""
        self._queue.put(None)
        self._thread.join()

    # ----- the thread

    def _write_all(self) -> None:
        self._step_back()
        tending = Tending(self.writer)
        while (flush := self._queue.get()) is not None:
            try:
                if self._failure is None:
                    with self.writer.turn:
                        self._write(flush)
                        with self._turn:
                            self._writing.remove(flush)
                        tending.tend()
            except BaseException as e:  # whoever delivers the next batch, or waits for the end, is told
                self._failure = e
            self._queue.task_done()

    def _write(self, flush: Flush) -> None:
        self._late.write(flush.late, flush.batch)
        archived = self.writer.append(flush.tables, flush.up_to, {self._run: flush.batch})
        self._last.add([archived], flush.up_to)
        self._keep_queries()
        crash.point("archive-before-forget")
        self.done_to = flush.batch

    def _keep_queries(self) -> None:
        """Where they have changed since the last flush."""
        asked = self.queries
        if asked is not None and asked is not self._kept_queries:
            queries.write(self.writer.folder, asked())
            self._kept_queries = asked
