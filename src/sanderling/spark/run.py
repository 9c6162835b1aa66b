"""A plan over bounded inputs, to the end, on Spark."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sanderling import errors
from sanderling.deliver.delivery import Delivery, Targets, refuse_filled_folder
from sanderling.deliver.ledger import Totals, write_atomically
from sanderling.errors import ConfigError, InternalError, SanderlingError, StateError
from sanderling.ingest.files import SourceFile
from sanderling.pipeline import find_input, for_source
from sanderling.plan.plans import Plan
from sanderling.route.parcels import Parcel
from sanderling.settings import Settings
from sanderling.spark.placement import shard_keys
from sanderling.spark.session import start_session
from sanderling.spark.source import FORMAT, SliceSource, SourceSpec, StreamFiles
from sanderling.spark.stream import start_stream

Progress = Callable[[int, int], None]  # bytes or rows done, of all


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is started."""

    targets: Targets
    master: str = "local[*]"
    shards: int | None = None
    checkpoint: Path | None = None
    settings: Settings = field(default_factory=Settings)
    progress: Progress | None = None
    on_batch: Callable[[float], object] | None = None  # the time each batch was delivered, for benchmarks


@dataclass(frozen=True, slots=True)
class RunSummary:
    totals: Totals
    seconds: float
    rows_this_time: int


def run_plan(plan: Plan, script: str, options: RunOptions, spark: SparkSession | None = None) -> RunSummary:
    """Runs to the end of the input and publishes the output; nothing half-written stays behind."""
    checkpoint = options.checkpoint
    work = checkpoint or Path(tempfile.mkdtemp(prefix="sanderling-"))
    delivery: Delivery | None = None
    is_done = False
    try:
        work.mkdir(parents=True, exist_ok=True)
        plan, files = find_input(plan, work)
        shards = _agree_with_checkpoint(work, plan, script, files, options)
        delivery = Delivery(plan, options.targets, work)
        if options.targets.is_folder and options.targets.updates and delivery.ledger.batch < 0:
            refuse_filled_folder(options.targets.updates)
        delivery.prepare()
        rows_before = sum(delivery.ledger.totals.rows.values())
        seconds = 0.0
        if not delivery.ledger.is_finished:
            seconds = _stream(plan, files, shards, work, delivery, options, spark)
            delivery.finish()
        is_done = True
        totals = delivery.ledger.totals
        return RunSummary(totals, seconds, sum(totals.rows.values()) - rows_before)
    except OSError as e:
        raise ConfigError(
            "config.not_writable", f"{e.strerror}: {e.filename}", "check the path and its rights"
        ) from e
    finally:
        if checkpoint is None:
            if delivery is not None and not is_done:
                delivery.discard()
            shutil.rmtree(work, ignore_errors=True)
        elif is_done:
            shutil.rmtree(work / "unpacked", ignore_errors=True)


def _agree_with_checkpoint(
    work: Path, plan: Plan, script: str, files: dict[str, tuple[SourceFile, ...]], options: RunOptions
) -> int:
    """The number of shards; refuses a checkpoint that belongs to another run."""
    note = work / "run.json"
    mark = hashlib.sha256(script.encode()).hexdigest()
    sizes = {
        f"{name}: {file.name}": os.path.getsize(file.path) for name, found in files.items() for file in found
    }
    if note.exists():
        said = json.loads(note.read_text())
        if said["files"] != sizes:
            other = sorted(set(said["files"].items()) ^ set(sizes.items()))[0][0]
            raise StateError(
                "state.source_changed", f"the input is not what this checkpoint has read: {other}",
                "put the files back, or use a new checkpoint",
            )  # fmt: skip
        if said["script"] != mark:
            raise StateError(
                "state.other_script",
                "this checkpoint belongs to another script",
                "use a new checkpoint, or that script",
            )
        if options.shards is not None and options.shards != said["shards"]:
            raise StateError(
                "state.other_shards", f"this checkpoint has {said['shards']} shards, not {options.shards}",
                f"--shards {said['shards']}, or a new checkpoint",
            )  # fmt: skip
        return int(said["shards"])
    shards = options.shards or _cores(options.master)
    write_atomically(note, json.dumps({"script": mark, "shards": shards, "files": sizes}))
    return shards


def _cores(master: str) -> int:
    """As many shards as the master has cores."""
    cluster = re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]", master)
    if cluster:
        return int(cluster[1]) * int(cluster[2])
    local = re.fullmatch(r"local\[(\d+)(?:,\d+)?\]", master)
    return int(local[1]) if local else 1 if master == "local" else os.cpu_count() or 2


def _stream(
    plan: Plan, files: dict[str, tuple[SourceFile, ...]], shards: int, work: Path, delivery: Delivery,
    options: RunOptions, given: SparkSession | None,
) -> float:  # fmt: skip
    """The pipeline: sources, shuffle by shard, stateful shards, delivery. Gives the seconds it streamed."""
    if not files:
        return 0.0
    log = work / "spark.log"
    spark = given or start_session(options.master, shards, log)
    try:
        spark.conf.set("spark.sql.shuffle.partitions", str(shards))
        started = time.monotonic()
        query = _start_query(spark, plan, files, shards, work, delivery, options)
        try:
            _wait(query, files, options.progress)
            return time.monotonic() - started
        except StreamingQueryException as e:
            raise _in_our_words(e, log if options.checkpoint else None) from e
        finally:
            if query.isActive:
                with suppress(Exception):
                    query.stop()
    finally:
        if given is None:
            spark.stop()


def _start_query(
    spark: SparkSession, plan: Plan, files: dict[str, tuple[SourceFile, ...]], shards: int, work: Path,
    delivery: Delivery, options: RunOptions,
) -> StreamingQuery:  # fmt: skip
    settings, keys = options.settings, shard_keys(shards)
    spark.dataSource.register(SliceSource)
    streams = tuple(StreamFiles(for_source(s), files[s.stream.name]) for s in plan.streams)
    spec = SourceSpec(
        streams, tuple(keys), settings.slice_bytes, settings.slice_rows, settings.slices_per_shard * shards
    )
    blobs = spark.readStream.format(FORMAT).option("spec", spec.encoded()).load()

    def deliver(number: int, parcels: list[Parcel]) -> None:
        delivery.batch(number, parcels)
        if options.on_batch is not None:
            options.on_batch(time.monotonic())

    return start_stream(blobs, plan, keys, work, settings, deliver, is_bounded=True)


def _wait(query: StreamingQuery, files: dict[str, tuple[SourceFile, ...]], progress: Progress | None) -> None:
    while not query.awaitTermination(1):
        if progress is not None and query.lastProgress:
            offsets = query.lastProgress["sources"][0].get("endOffset") or {}
            offsets = json.loads(offsets) if isinstance(offsets, str) else offsets
            progress(*_done(offsets, list(files.values())))


def _done(offsets: dict[str, dict[str, int]], files: list[tuple[SourceFile, ...]]) -> tuple[int, int]:
    """How far the input has been read, in thousandths of a file, and how many of them there are."""
    done = 0
    for number, offset in offsets.items():
        found = files[int(number)]
        done += 1000 * offset["file"]
        if offset["file"] < len(found):
            size = max(1, Path(found[offset["file"]].path).stat().st_size)
            done += min(1000, 1000 * offset["start"] // size)
    return done, 1000 * sum(len(f) for f in files)


def _in_our_words(e: StreamingQueryException, log: Path | None) -> SanderlingError:
    """An error of ours that came through Spark's layers, or one of theirs."""
    text = str(e)
    found = re.search(r"sanderling\.errors\.(\w+): ([\w.]+): (.+)", text)
    if found and found[1] in errors.__dict__:
        kind = getattr(errors, found[1])
        error: SanderlingError = kind(found[2], found[3])
        return error
    named = re.findall(r"^\S*(?:Error|Exception)\S*: .+", text, flags=re.MULTILINE)
    said = named[0] if named else text.strip().splitlines()[0] if text.strip() else "Spark stopped"
    hint = (
        f"Spark's own words are in {log}"
        if log is not None and log.exists()
        else "run with --checkpoint to keep Spark's log"
    )
    return InternalError("internal.spark", said[:500], hint)
