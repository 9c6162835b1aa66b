"""The pipeline behind any source: shuffle by shard, stateful shards, delivery of each batch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.spark.engines.inbox import inbox_of
from sanderling.spark.engines.stage import Stage
from sanderling.spark.lasting import LastingQuery
from sanderling.spark.plans import PlanFolder

Take = Callable[[int, pa.Table], None]  # a batch's number and its blobs


def start_stream(
    blobs: DataFrame, plan: Plan, shard_keys: list[int], work: Path, settings: Settings, take: Take,
    is_bounded: bool,
) -> LastingQuery:  # fmt: skip
    """Starts a query whose plan stays as it is."""
    plans = PlanFolder.in_(work / "plans")
    plans.keep(plan)
    trigger = None if is_bounded else "1 second"
    is_merged = any(t.is_merged for t in plan.templates().values())
    return start_query(blobs, plan, plans, shard_keys, work, settings, take, trigger, is_merged)


def start_query(
    blobs: DataFrame, plan: Plan, plans: PlanFolder, shard_keys: list[int], work: Path, settings: Settings,
    take: Take, trigger: str | None, is_merged: bool,
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> LastingQuery:  # fmt: skip
    """Starts the query; `take` gets every batch on the driver, in order, one that was not committed again.

    Without a `trigger` it ends where its input ends. `is_merged`: there are, or may be, queries that need
    several shards. `around`: what has to hold whenever it is started.
    """
    # Absolute: workers may be elsewhere, and a colon in a relative path would be a scheme to Hadoop.
    work = work.resolve()
    made_from = (plans, plan.version, shard_keys, settings, work, is_merged)
    shards = len(shard_keys)
    said = blobs.repartition(shards, "shard").mapInArrow(Stage("shard", *made_from), "merge int, blob binary")
    if is_merged:
        said = said.repartition(shards, "merge").mapInArrow(Stage("merge", *made_from), "blob binary")
    said = said.select("blob")

    inbox = inbox_of(blobs.sparkSession, work)

    def on_batch(batch: DataFrame, number: int) -> None:
        blobs = batch.toArrow()
        inbox.clear(number)
        take(number, blobs)

    writer = said.writeStream.foreachBatch(on_batch).outputMode("append")
    writer = writer.option("checkpointLocation", str(work / "spark"))
    writer = writer.trigger(availableNow=True) if trigger is None else writer.trigger(processingTime=trigger)

    def start() -> StreamingQuery:
        with around():
            return writer.start()

    return LastingQuery(start)
