"""A plan over bounded files, to the end, on Spark."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from sanderling.batches import Batch, Kind
from sanderling.deliver.changes import arrivals_in
from sanderling.deliver.ledger import Totals
from sanderling.deliver.log import Log
from sanderling.deliver.sinks.files import Delivery
from sanderling.deliver.sinks.sink import Sink
from sanderling.deliver.status import READING, STARTING, WRITING, Status
from sanderling.deliver.targets import Targets, refuse_filled_folder
from sanderling.errors import ConfigError
from sanderling.figures.figures import Tally
from sanderling.figures.laps import Laps
from sanderling.ingest.files import SourceFile
from sanderling.plan.many.cohorts import Member
from sanderling.plans.plan import Plan
from sanderling.route.controls import told_seconds
from sanderling.settings import Settings
from sanderling.spark.archives import archives_of
from sanderling.spark.checkpoint import agree, note_of, refuse_lost_ledger, working_in
from sanderling.spark.faults import not_writable
from sanderling.spark.lasting import LastingQuery
from sanderling.spark.plans import PlanFolder
from sanderling.spark.runtime import Runtime
from sanderling.spark.session import cores_of
from sanderling.spark.signals import held_signals
from sanderling.spark.sources.files import Files
from sanderling.spark.sources.find import find_input
from sanderling.spark.sources.source import Layout

Progress = Callable[[Status], None]

SECONDS_BETWEEN_LOOKS = 1


@dataclass(frozen=True, slots=True)
class BatchTime:
    """When a batch had been delivered, and, where workers are timed, what its seconds went into."""

    at: float
    seconds: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is started."""

    targets: Targets
    master: str = "local[*]"
    shards: int | None = None
    checkpoint: Path | None = None
    settings: Settings = field(default_factory=Settings)
    progress: Progress | None = None
    on_batch: Callable[[BatchTime], object] | None = None
    data: Path | None = None  # a folder that no path leads out of
    states: Mapping[str, type] = field(default_factory=dict)  # of patterns, by name, that the program brings
    queries: Sequence[Member] = ()  # that archives are told of


@dataclass(frozen=True, slots=True)
class RunSummary:
    totals: Totals
    seconds: float
    rows_this_time: int
    figures: Tally = field(default_factory=Tally)  # of this time too, where operators are counted


def run_plan(plan: Plan, script: str, options: RunOptions, spark: SparkSession | None = None) -> RunSummary:
    """Runs to the end of the input and publishes the output; nothing half-written stays behind."""
    with told_of_files(), working_in(options.checkpoint) as work:
        return _run_in(work, plan, script, options, spark)


@contextmanager
def told_of_files() -> Iterator[None]:
    """What the system says of files of ours, in our words."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read our standard output has had enough
    except OSError as e:
        raise not_writable(e) from e


def _run_in(
    work: Path, plan: Plan, script: str, options: RunOptions, spark: SparkSession | None
) -> RunSummary:
    """The same, in a folder that is ours."""
    plan, files = find_input(plan, work, options.data)
    _refuse_input_as_output(files, options.targets)
    now = note_of(plan, script, files.by_stream, options.targets, options.shards or cores_of(options.master))
    shards = agree(work, now, options.shards)
    delivery = Delivery(plan, options.targets, work)
    is_done = False
    try:
        summary = _deliver(plan, files, shards, work, delivery, options, spark)
        is_done = True
        return summary
    finally:
        if is_done:
            shutil.rmtree(work / "unpacked", ignore_errors=True)
        elif options.checkpoint is None:
            delivery.discard()
        delivery.close()


def _deliver(
    plan: Plan, files: Files, shards: int, work: Path, delivery: Delivery, options: RunOptions,
    spark: SparkSession | None,
) -> RunSummary:  # fmt: skip
    """From where the ledger stands to the end."""
    ledger, targets, log = delivery.ledger, options.targets, Log(work / "said")
    refuse_lost_ledger(work, ledger, log)
    if targets.is_folder and targets.updates and ledger.batch < 0 and not ledger.is_finished:
        refuse_filled_folder(targets.updates)
    rows_before = sum(ledger.rows.values())
    seconds, sink, progress = 0.0, TimedSink(delivery, options.on_batch), options.progress

    def show(status: Status) -> None:
        if progress is not None:
            progress(status.of(ledger))

    def publish() -> None:
        show(Status(WRITING))
        delivery.finish()

    delivery.prepare()
    if ledger.is_finished:
        delivery.say_again()
    else:
        if files.by_stream:
            seconds = _stream(plan, files, shards, work, sink, options, spark, publish, show)
        delivery.finish()
    totals = delivery.totals()
    return RunSummary(totals, seconds, sum(totals.rows.values()) - rows_before, sink.figures)


def _refuse_input_as_output(files: Files, targets: Targets) -> None:
    """What is read is not written over."""
    names = (file.name for found in files.by_stream.values() for file in found)
    read = {os.path.realpath(os.path.expanduser(name)) for name in names}
    for target in (targets.updates, targets.letters):
        if target is not None and os.path.realpath(target) in read:
            raise ConfigError(
                "config.output_exists", f"{target} is an input of this run", "name another file"
            )


def _stream(
    plan: Plan, files: Files, shards: int, work: Path, sink: Sink, options: RunOptions,
    given: SparkSession | None, publish: Callable[[], None], show: Progress,
) -> float:  # fmt: skip
    """From the files to the sink. Gives the seconds it streamed.

    What is whole is published before Spark is stopped: that takes its time, and somebody waits.
    """
    plans = PlanFolder.in_(work / "plans")
    plans.keep(plan)
    for name, kind in options.states.items():
        plans.keep_state(name, kind)
    layout = Layout(plan, plans, shards, work, options.settings, is_living=False)
    runtime = Runtime(work, options.master, shards, given)
    show(Status(STARTING))
    runtime.start_spark()  # which may be interrupted
    with archives_of(plan, work, options.queries) as archives, held_signals() as is_stopping:
        started = time.monotonic()
        is_read = False
        try:
            with runtime.in_our_words(runtime.log if options.checkpoint else None):
                query = runtime.start(layout, [files], [sink, *archives.sinks], trigger=None)
                is_read = _is_read(query, files, show, is_stopping)
            is_whole = is_read and runtime.is_told()
            seconds = time.monotonic() - started
            if is_whole:
                archives.finish()
                publish()
        finally:
            runtime.stop(is_settled=is_read)
        if runtime.failure is not None:
            raise runtime.failure
    if not is_read:
        raise KeyboardInterrupt  # half of the input is no reason to publish
    return seconds


class TimedSink:
    """Another sink, and when it was done; what the workers' seconds went into, and what operators did."""

    def __init__(self, sink: Sink, on_batch: Callable[[BatchTime], object] | None):
        self.sink, self.on_batch, self.figures = sink, on_batch, Tally()

    @property
    def delivered(self) -> int:
        return self.sink.delivered

    def deliver(self, number: int, batches: list[Batch]) -> None:
        laps = Laps()
        self.sink.deliver(number, batches)
        for batch in (b for b in batches if b.kind == Kind.FIGURES):
            self.figures.take(batch.shard, batch.table)
        self.figures.arrive(arrivals_in(batches))
        laps.end("delivery")
        if self.on_batch is not None:
            told = [told_seconds(laps.seconds), *(b for b in batches if b.kind == Kind.SECONDS)]
            rows = pa.concat_tables([b.table for b in told]).group_by("name").aggregate([("seconds", "list")])
            seconds = dict(zip(*rows.sort_by("name").to_pydict().values(), strict=True))
            self.on_batch(BatchTime(time.monotonic(), seconds))


def _is_read(query: LastingQuery, files: Files, show: Progress, is_stopping: Callable[[], bool]) -> bool:
    """Waits until all of the input has been, or we are told to stop."""
    show(Status(READING))
    while not query.awaitTermination(SECONDS_BETWEEN_LOOKS):
        if is_stopping():
            return False
        if query.lastProgress:
            offsets = query.lastProgress["sources"][0].get("endOffset") or {}
            offsets = json.loads(offsets) if isinstance(offsets, str) else offsets
            show(Status(READING, *_done(offsets, list(files.by_stream.values()))))
    whole = 1000 * sum(len(found) for found in files.by_stream.values())
    show(Status(READING, whole, whole))
    return not is_stopping()


def _done(offsets: dict[str, dict[str, int]], files: list[tuple[SourceFile, ...]]) -> tuple[int, int]:
    """How far the input has been read, in thousandths of a file, and how many of them there are."""
    done = 0
    for number, offset in offsets.items():
        found = files[int(number)]
        done += 1000 * offset["file"]
        if offset["file"] < len(found):
            done += min(1000, 1000 * offset["start"] // _extent(found[offset["file"]].path))
    return done, 1000 * sum(len(f) for f in files)


@lru_cache(maxsize=256)
def _extent(path: str) -> int:
    """What offsets in a file count up to: rows of Parquet, bytes of text."""
    if path.endswith(".parquet"):
        with suppress(pa.ArrowInvalid):
            return max(1, int(pq.read_metadata(path).num_rows))
    return max(1, os.path.getsize(path))
