"""Puts a streaming query together, here alone: sources, shards, merge partitions, delivery."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sanderling.spark.engines.inbox import Inbox, inbox_of
from sanderling.spark.engines.stage import Stage
from sanderling.spark.lasting import LastingQuery
from sanderling.spark.session import stream_settings
from sanderling.spark.sources.control import Control
from sanderling.spark.sources.source import Layout, Source

Take = Callable[[int, pa.Table], None]  # a batch's number and its blobs


def start_stream(
    spark: SparkSession, layout: Layout, sources: Sequence[Source], take: Take, trigger: str | None
) -> LastingQuery:
    """Starts it; `take` gets every batch on the driver, in order, one that was not committed again.

    Without a `trigger` it ends where its input ends. One that is living hears what it is told, too.
    """
    settings = stream_settings(layout.shards)
    with _set(spark, settings):
        heard = (Control(), *sources) if layout.is_living else sources
        blobs = reduce(DataFrame.unionAll, (source.blobs(spark, layout) for source in heard))
        inbox = inbox_of(spark, layout.work)
        said = _said(blobs, layout, inbox)

    def on_batch(batch: DataFrame, number: int) -> None:
        said = batch.toArrow()
        inbox.clear(number)
        take(number, said)

    writer = said.writeStream.foreachBatch(on_batch).outputMode("append")
    # Absolute: a colon in a relative path would be a scheme to Hadoop.
    writer = writer.option("checkpointLocation", str((layout.work / "spark").resolve()))
    writer = writer.trigger(availableNow=True) if trigger is None else writer.trigger(processingTime=trigger)

    def start() -> StreamingQuery:
        with _set(spark, settings):
            return writer.start()

    return LastingQuery(start)


def _said(blobs: DataFrame, layout: Layout, inbox: Inbox) -> DataFrame:
    """What shards, and merge partitions where queries need or may need them, have to say."""
    plan, shards = layout.plan, layout.shards
    is_merged = layout.is_living or plan.is_merged
    # Absolute: workers may be elsewhere.
    work = layout.work.resolve()
    made_from = (layout.plans, plan.version, list(layout.keys), layout.settings, work, is_merged, inbox)
    said = blobs.repartition(shards, "shard").mapInArrow(Stage("shard", *made_from), "merge int, blob binary")
    if is_merged:
        said = said.repartition(shards, "merge").mapInArrow(Stage("merge", *made_from), "blob binary")
    return said.select("blob")


@contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings for the query that is started inside; the user's own are as they were afterwards."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)
