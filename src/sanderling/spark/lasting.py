"""A streaming query that begins again where Spark had no time to start a Python worker.

Spark gives each worker that it starts on the driver ten seconds to report, and that cannot be set. A
machine that is busy needs longer now and then, and the query fails though nothing is wrong. Begun
again it goes on from its checkpoint, as after any crash: what was told is not told again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

# What Spark says then.
NO_WORKER = "failed to connect back"
# So often in so many seconds: if it fails more often, the machine will not do it at all.
ATTEMPTS = 8
WITHIN_S = 900.0

Found = TypeVar("Found")


def is_for_want_of_a_worker(e: BaseException | None) -> bool:
    return e is not None and NO_WORKER in str(e)


class LastingQuery:
    """As a StreamingQuery, as far as we use one. May be asked from several threads.

    Promise (tests/spark/test_slow_workers.py): workers that are slow to start cost time, and change nothing.
    """

    def __init__(self, start: Callable[[], StreamingQuery]):
        self._start = start
        self._lock = threading.RLock()
        self._again_at: list[float] = []
        self._is_stopped = False
        self._query = start()

    @property
    def isActive(self) -> bool:  # as Spark calls it
        return bool(self._now().isActive)

    @property
    def lastProgress(self) -> Any:
        return self._query.lastProgress

    def exception(self) -> StreamingQueryException | None:
        return self._now().exception()

    def processAllAvailable(self) -> None:
        self._until_it_lasts(lambda query: query.processAllAvailable())

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """None where it is waited for ever."""
        until = None if timeout is None else time.monotonic() + timeout

        def wait(query: StreamingQuery) -> bool | None:
            left = None if until is None else max(0.001, until - time.monotonic())
            return query.awaitTermination(left)  # type: ignore[arg-type]

        return self._until_it_lasts(wait)

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            self._query.stop()

    def _until_it_lasts(self, ask: Callable[[StreamingQuery], Found]) -> Found:
        while True:
            query = self._now()
            try:
                return ask(query)
            except PySparkException as e:
                if not self._is_begun_again(query, e):
                    raise

    def _now(self) -> StreamingQuery:
        query = self._query
        if not self._is_stopped and not query.isActive:
            self._is_begun_again(query, query.exception())
        return self._query

    def _is_begun_again(self, query: StreamingQuery, e: BaseException | None) -> bool:
        """Whether there is another query by now, ours or that of another thread."""
        with self._lock:
            if self._query is not query:
                return True
            recent = [at for at in self._again_at if time.monotonic() - at < WITHIN_S]
            if self._is_stopped or len(recent) >= ATTEMPTS or not is_for_want_of_a_worker(e):
                return False
            with suppress(PySparkException):
                query.stop()
            self._again_at = [*recent, time.monotonic()]
            self._query = self._start()
            return True
