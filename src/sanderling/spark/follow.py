"""A plan over files that are followed, until somebody stops it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from sanderling.catalog import Column
from sanderling.deliver.log import Log
from sanderling.deliver.sinks.following import Following
from sanderling.deliver.status import FOLLOWING, STARTING, Status
from sanderling.plans.plan import Plan
from sanderling.spark.archives import archives_of
from sanderling.spark.checkpoint import agree, note_of, refuse_lost_ledger, working_in
from sanderling.spark.plans import PlanFolder
from sanderling.spark.run import RunOptions, RunSummary, TimedSink, told_of_files
from sanderling.spark.runtime import Runtime
from sanderling.spark.session import cores_of
from sanderling.spark.signals import held_signals
from sanderling.spark.sources.find import find_followed
from sanderling.spark.sources.followed import Followed
from sanderling.spark.sources.source import Layout

# How often Spark looks for what has come, while there is nothing.
TRIGGER = "200 milliseconds"
SECONDS_BETWEEN_LOOKS = 0.5
# What a checkpoint remembers beside the script: a run to the end of the files is another one.
FOLLOWED = "\n-- followed"


def follow_plan(
    plan: Plan, script: str, options: RunOptions, spark: SparkSession | None = None,
    is_over: Callable[[Status], bool] = lambda status: False,
) -> RunSummary:  # fmt: skip
    """Reads what comes and tells what changes, until a signal, or until `is_over`."""
    with told_of_files(), working_in(options.checkpoint) as work:
        plan, source = find_followed(plan, work, options.data)
        wanted = options.shards or cores_of(options.master)
        note = note_of(plan, script + FOLLOWED, {}, options.targets, wanted)
        # Told from what stood in files, columns might be others when there is more.
        columns = (f"columns of {s.stream.name}: {_shown(s.stream.columns)}" for s in plan.streams)
        shards = agree(work, replace(note, files={words: [] for words in columns}), options.shards)
        with _sink(plan, options, work) as sink:
            before = sum(sink.ledger.rows.values())
            timed = TimedSink(sink, options.on_batch)
            runtime = Runtime(work, options.master, shards, spark)
            if options.progress is not None:
                options.progress(Status(STARTING))
            runtime.start_spark()  # which may be interrupted
            started = time.monotonic()
            with held_signals(is_delivered=False) as is_stopping:

                def ends(status: Status) -> bool:
                    return is_stopping() or is_over(status)

                _stream(
                    plan, source, timed, runtime, options, ends, lambda: Status(FOLLOWING).of(sink.ledger)
                )
            totals = sink.totals()
            rows = sum(totals.rows.values()) - before
            return RunSummary(totals, time.monotonic() - started, rows, timed.figures)


def _shown(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{column.name} {column.type.name}" for column in columns)


@contextmanager
def _sink(plan: Plan, options: RunOptions, work: Path) -> Iterator[Following]:
    sink = Following(plan, options.targets, work)
    try:
        refuse_lost_ledger(work, sink.ledger, Log(work / "said"))
        sink.prepare()
        yield sink
    finally:
        sink.close()


def _stream(
    plan: Plan, source: Followed, sink: TimedSink, runtime: Runtime, options: RunOptions,
    is_over: Callable[[Status], bool], status: Callable[[], Status],
) -> None:  # fmt: skip
    """What was taken when it is over is still delivered."""
    plans = PlanFolder.in_(runtime.work / "plans")
    plans.keep(plan)
    for name, kind in options.states.items():
        plans.keep_state(name, kind)
    layout = Layout(plan, plans, runtime.shards, runtime.work, options.settings, is_living=False)
    watched, is_told = source.watched(options.settings), False
    show = options.progress or (lambda status: None)
    with archives_of(plan, runtime.work, options.queries) as archives:
        try:
            with runtime.in_our_words(runtime.log if options.checkpoint else None):
                query = runtime.start(layout, [source], [sink, *archives.sinks], TRIGGER)
                while not is_over(now := status()):
                    show(now)
                    if query.awaitTermination(SECONDS_BETWEEN_LOOKS):
                        break
                    for note in (note for follower in watched for note in follower.notes()):
                        show(Status(FOLLOWING, note=note))
            is_told = True
        finally:
            runtime.stop(is_settled=is_told)
        if is_told and runtime.failure is None:
            archives.finish()
    if runtime.failure is not None:
        raise runtime.failure
