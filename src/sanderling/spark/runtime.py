"""A stream under way: Spark, its query, the courier and the sinks, started and stopped together.

sources ──► shards ──► merge partitions ──► log ──► courier ──► sinks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sanderling.deliver.courier import Courier
from sanderling.deliver.log import Log
from sanderling.deliver.sinks.sink import Sink
from sanderling.errors import SanderlingError
from sanderling.spark.faults import in_our_words
from sanderling.spark.lasting import LastingQuery
from sanderling.spark.session import start_session
from sanderling.spark.sources.source import Layout, Source
from sanderling.spark.stream import start_stream


class Runtime:
    """Of a run over files, and of a session. May be asked from several threads.

    Promises (tests/recovery): what the sources give is told to every sink once, whenever we are killed.
    """

    def __init__(self, work: Path, master: str, shards: int, spark: SparkSession | None = None):
        """Without a `spark` one is started, for so many shards, when it is first needed."""
        self.work, self.master, self.shards = work, master, shards
        self._is_given, self.spark = spark is not None, spark
        self._layout: Layout | None = None
        self._fault: Exception | None = None
        self.query: LastingQuery | None = None
        self.courier: Courier | None = None

    @property
    def log(self) -> Path:
        """Spark's own words."""
        return self.work / "spark.log"

    def start_spark(self) -> SparkSession:
        """Where there is none yet."""
        if self.spark is None:
            self.spark = start_session(self.master, self.shards, self.log)
        return self.spark

    def start(
        self, layout: Layout, sources: Sequence[Source], sinks: Sequence[Sink], trigger: str | None,
        keep_s: float | None = None,
    ) -> LastingQuery:  # fmt: skip
        """From where the checkpoint stands. Without a `trigger` it ends where its input ends."""
        self._layout = layout
        self.courier = Courier(Log(self.work / "said"), sinks, keep_s, is_awaited=trigger is not None)
        try:
            self.query = start_stream(self.start_spark(), layout, sources, self._take, trigger)
        except BaseException:
            self.courier.close()
            raise
        return self.query

    def _take(self, number: int, said: pa.Table) -> None:
        assert self.courier is not None
        try:
            self.courier.take(number, said)
        except Exception as e:
            self._fault = e  # on its way through the JVM it would become text
            raise

    def is_told(self) -> bool:
        """Waits until what was taken so far is delivered; whether it could be."""
        assert self.courier is not None
        self.courier.settle()
        return self.failure is None

    # ----- what went wrong

    @property
    def failure(self) -> BaseException | None:
        """Why it could not be delivered, as it was raised."""
        return self._fault if self.courier is None else self.courier.failure or self._fault

    def why_ended(self) -> SanderlingError | None:
        """What Spark says of it."""
        ended = None if self.query is None or self.query.isActive else self.query.exception()
        return None if ended is None else in_our_words(ended, self.log)

    @contextmanager
    def in_our_words(self, log: Path | None) -> Iterator[None]:
        """What goes wrong inside: as it was raised by us, else what Spark says; `log` if it is kept."""
        try:
            yield
        except (PySparkException, Py4JError, ConnectionError) as e:
            raise self.failure or in_our_words(e, log) from e

    # ----- the end

    def stop(self, is_settled: bool) -> None:
        """`is_settled`: what was taken is delivered first. What is not is for the next run."""
        with suppress(Exception):  # where the JVM has died there is nothing left to stop
            if self.query is not None:
                self.query.stop()
        if self._layout is not None:
            self._layout.plans.end()
        if self.spark is not None and not self._is_given:
            with suppress(Exception):
                self.spark.stop()
        if self.courier is not None:
            if is_settled:
                self.courier.settle()
            self.courier.close()
