"""The pipeline of a session: what it tells its shards, its files and DataFrames, as one stream of blobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sanderling.catalog import Stream
from sanderling.errors import ConfigError
from sanderling.ingest.files import SourceFile
from sanderling.plans.parts import for_source
from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.spark.engines.inbox import inbox_of
from sanderling.spark.engines.placement import shard_keys
from sanderling.spark.lasting import LastingQuery
from sanderling.spark.plans import PlanFolder
from sanderling.spark.session import stream_settings
from sanderling.spark.sources import control, updates
from sanderling.spark.sources import files as source
from sanderling.spark.sources.control import ControlSource
from sanderling.spark.sources.files import SliceSource, SourceSpec, StreamFiles
from sanderling.spark.sources.find import find_stream
from sanderling.spark.sources.frames import packed
from sanderling.spark.sources.updates import UpdateSource, Wanted
from sanderling.spark.stream import Take, start_query


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where each stream comes from: files, or a DataFrame."""

    files: Mapping[str, tuple[SourceFile, ...]]
    frames: Mapping[str, DataFrame]
    streams: Mapping[str, Stream]  # those of files, with their formats


def find_inputs(
    streams: Iterable[Stream], frames: Mapping[str, DataFrame], work: Path, data: Path | None = None
) -> Inputs:
    """Files and DataFrames of all streams, checked before anything runs."""
    files, named = {}, {}
    for stream in streams:
        if stream.path is not None:
            named[stream.name], files[stream.name] = find_stream(stream, stream.path, work, data)
        elif stream.name not in frames:
            raise ConfigError(
                "config.missing_path", f'stream "{stream.name}" has nothing to read from',
                f'session.stream(frame, name="{stream.name}", …), or WITH (path = \'…\')',
            )  # fmt: skip
    return Inputs(files, frames, named)


def updates_of(spark: SparkSession, wanted: Wanted) -> DataFrame:
    """A part of the log as a streaming DataFrame."""
    spark.dataSource.register(UpdateSource)
    return spark.readStream.format(updates.FORMAT).option("wanted", wanted.encoded()).load()


def start_living(
    spark: SparkSession, plan: Plan, plans: PlanFolder, inputs: Inputs, shards: int, work: Path,
    settings: Settings, take: Take, trigger: str,
) -> LastingQuery:  # fmt: skip
    """Starts the query of a session. `plan` is its first version; the others are among `plans`."""
    keys = shard_keys(shards)
    around = partial(_set, spark, stream_settings(shards))
    with around():
        blobs = reduce(DataFrame.unionAll, _blobs(spark, plan, plans, inputs, keys, work, settings))
        return start_query(blobs, plan, plans, keys, work, settings, take, trigger, True, around)


def _blobs(
    spark: SparkSession, plan: Plan, plans: PlanFolder, inputs: Inputs, keys: list[int], work: Path,
    settings: Settings,
) -> Iterator[DataFrame]:  # fmt: skip
    spark.dataSource.register(ControlSource)
    reader, inbox = spark.readStream.format(control.FORMAT), inbox_of(spark, work)
    folder = str((work / "control").resolve())
    yield reader.option("folder", folder).option("keys", json.dumps(keys)).load()
    if inputs.files:
        spark.dataSource.register(SliceSource)
        of_files = [
            replace(s, stream=inputs.streams[s.stream.name])
            for s in plan.streams
            if s.stream.name in inputs.files
        ]
        streams = tuple(StreamFiles.now(for_source(s), inputs.files[s.stream.name]) for s in of_files)
        spec = SourceSpec(
            streams, tuple(keys), settings.slice_bytes, settings.slice_rows,
            settings.slices_per_shard * len(keys), inbox, settings.is_timed, plans,
        )  # fmt: skip
        yield spark.readStream.format(source.FORMAT).option("spec", spec.left_in(work)).load()
    for part in plan.streams:
        if part.stream.name in inputs.frames:
            yield packed(inputs.frames[part.stream.name], for_source(part), plans, keys, inbox)


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
