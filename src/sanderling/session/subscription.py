"""Whoever reads along: signed rows of one query, in a buffer that is bounded."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType

import pyarrow as pa

from sanderling.errors import SanderlingError, SessionError
from sanderling.session.arguments import seconds
from sanderling.session.pages import counted, of_subscription

SECONDS_BETWEEN_LOOKS = 0.5


class Subscription:
    """An iterator of signed Arrow batches: tick, sign, then the columns of the query.

    It begins with the whole answer as +. A reader that is too slow does not stop the stream: what
    waits for it is dropped, and it is told so by an error; a new subscription begins again.
    """

    def __init__(
        self, name: str, most_rows: int, why_over: Callable[[], SanderlingError | None] = lambda: None
    ):
        """`why_over` tells a reader that waits why there is nothing to wait for."""
        self.name = name
        self.most_rows = most_rows
        self._waiting: deque[pa.RecordBatch] = deque()
        self._rows = 0
        self._missed = 0
        self._is_over = False
        self._failure: BaseException | None = None
        self._why_over = why_over
        self._changed = threading.Condition()

    # ----- for the reader

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        batch = self.poll()
        if batch is None:
            raise StopIteration
        return batch

    def poll(self, timeout: float | None = None) -> pa.RecordBatch | None:
        """The next batch; None when there is none in time, or never will be."""
        until = None if timeout is None else time.monotonic() + seconds("timeout", timeout)
        with self._changed:
            while True:
                if self._missed:
                    missed, self._missed = self._missed, 0
                    self._is_over = True
                    raise SessionError(
                        "session.fell_behind",
                        f'"{self.name}": {missed:,} rows came faster than they were read, and are gone',
                        "subscribe again: it begins with the whole answer",
                    )
                if self._waiting:
                    batch = self._waiting.popleft()
                    self._rows -= batch.num_rows
                    return batch
                if self._failure is not None:
                    raise self._failure
                left = None if until is None else until - time.monotonic()
                if self._is_over or (left is not None and left <= 0):
                    return None
                if not self._changed.wait(
                    SECONDS_BETWEEN_LOOKS if left is None else min(left, SECONDS_BETWEEN_LOOKS)
                ):
                    self._look()

    def _look(self) -> None:
        """A stream that failed, or was stopped before the first answer came, ends nobody's waiting itself."""
        why = self._why_over()
        if why is not None:
            self._is_over = True
            self._failure = None if why.code == "session.stopped" else why

    def close(self) -> None:
        """Reads no more."""
        self.end()
        with self._changed:
            self._waiting.clear()

    def __repr__(self) -> str:
        return f"<Subscription of {self.name!r}: {counted(self._rows)} waiting, {self._state}>"

    def _repr_html_(self) -> str:
        return of_subscription(self.name, self._rows, self._state)

    @property
    def _state(self) -> str:
        return "it fell behind" if self._missed else "it is over" if self._is_over else "it goes on"

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ----- for the session

    @property
    def is_over(self) -> bool:
        return self._is_over

    def begin(self, answer: pa.Table | None) -> None:
        if answer is not None:
            self.give(answer)

    def give(self, rows: pa.Table) -> None:
        """Never waits."""
        with self._changed:
            if self._is_over or self._missed:
                self._missed += rows.num_rows if self._missed else 0
            elif self._rows + rows.num_rows > self.most_rows:
                self._missed = self._rows + rows.num_rows
                self._waiting.clear()
                self._rows = 0
            else:
                self._waiting += rows.combine_chunks().to_batches()
                self._rows += rows.num_rows
            self._changed.notify_all()

    def end(self, failure: BaseException | None = None) -> None:
        """There will be no more; what waits can still be read."""
        with self._changed:
            self._is_over, self._failure = True, failure
            self._changed.notify_all()
