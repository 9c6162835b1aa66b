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
from sanderling.spark.merging import Merging
from sanderling.spark.session import stream_settings
from sanderling.spark.sources.control import Control
from sanderling.spark.sources.source import Layout, Source

# What a stage says, and which merge partition it is for.
SAID = "merge int, blob binary"

Take = Callable[[int, pa.Table], None]  # a batch's number and its blobs


def start_stream(
    spark: SparkSession, layout: Layout, sources: Sequence[Source], take: Take, trigger: str | None
) -> LastingQuery:
    """Starts it; `take` gets every batch on the driver, in order, one that was not committed again.

    Without a `trigger` it ends where its input ends. One that is living hears what it is told, too.
    """
    settings = stream_settings(layout.shards)
    with _set(spark, settings):
        # Spark asks one after the other what has come: what was told before a reading came is heard with it.
        heard = (*sources, Control()) if layout.is_living else sources
        blobs = reduce(DataFrame.unionAll, (source.blobs(spark, layout) for source in heard))
        inbox = inbox_of(spark, layout.work)
        said = _stage("shard", blobs, layout, inbox)
    merging = Merging(layout.work, layout.is_merged)

    def on_batch(batch: DataFrame, number: int) -> None:
        since = merging.since(number)
        merged = batch if since is None else _stage("merge", batch, layout, inbox, since)
        said = merged.toArrow()
        inbox.clear(number)
        take(number, said.select(["blob"]))

    writer = said.writeStream.foreachBatch(on_batch).outputMode("append")
    # Absolute: a colon in a relative path would be a scheme to Hadoop.
    writer = writer.option("checkpointLocation", str((layout.work / "spark").resolve()))
    writer = writer.trigger(availableNow=True) if trigger is None else writer.trigger(processingTime=trigger)

    def start() -> StreamingQuery:
        with _set(spark, settings):
            return writer.start()

    return LastingQuery(start)


def _stage(name: str, rows: DataFrame, layout: Layout, inbox: Inbox, since: int = 0) -> DataFrame:
    """Shards, or merge partitions: what they say of rows that are theirs by the column of this name."""
    # Absolute: workers may be elsewhere.
    work, keys = layout.work.resolve(), list(layout.keys)
    stage = Stage(name, layout.plans, layout.plan.version, keys, layout.settings, work, inbox, since)
    return rows.repartition(layout.shards, name).mapInArrow(stage, SAID)


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
