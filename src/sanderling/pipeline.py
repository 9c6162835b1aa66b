"""The stages composed, on one screen: read this first.

queries:  text ─► language ─► plan ──────────────┐
data:     source ─► ingest ─► route ─► operate ─► merge ─► deliver
                    └── in the reader ──┘  (per shard)      (on the driver)

Spark carries what is between the stages (sanderling/spark); here is what they are.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.errors import ConfigError
from sanderling.ingest.files import STREAM_FORMATS, SourceFile, find_files, format_of, unpack
from sanderling.ingest.formats.header import check_header
from sanderling.plans.plan import NO_NEAREST, NO_QUERIES, Plan, Regions, StreamPlan
from sanderling.route.pack import shipped_columns


def shard_schema(plan: StreamPlan) -> pa.Schema:
    """The columns a shard holds of a reading."""
    types = {c.name: c.type.arrow for c in plan.stream.columns} | {TS: pa.int64()}
    return pa.schema([(name, types[name]) for name in shipped_columns(plan)])


def shard_schemas(plan: Plan) -> dict[str, pa.Schema]:
    return {s.stream.name: shard_schema(s) for s in plan.streams}


def find_input(plan: Plan, work: Path) -> tuple[Plan, dict[str, tuple[SourceFile, ...]]]:
    """The files of every stream that has some, checked before anything runs; formats filled in."""
    streams, files = [], {}
    for stream_plan in plan.streams:
        stream = stream_plan.stream
        if stream.path is None:
            if not stream_plan.templates:
                continue  # declared, but nobody asks about it
            raise ConfigError(
                "config.missing_path", f'stream "{stream.name}" has no path to read from', "WITH (path = '…')"
            )
        stream, found = find_stream(stream, stream.path, work)
        streams.append(replace(stream_plan, stream=stream))
        files[stream.name] = found
    return replace(plan, streams=tuple(streams)), files


def find_stream(stream: Stream, path: str, work: Path) -> tuple[Stream, tuple[SourceFile, ...]]:
    """The stream with its format, and its files."""
    stream = replace(stream, format=format_of(path, stream.format or None, STREAM_FORMATS))
    found = unpack(find_files(path), work / "unpacked")
    check_header(stream, found)
    return stream, found


def for_shards(plan: Plan) -> Plan:
    """What the shards need of a plan: not the names of queries and their text."""
    return replace(plan, queries=NO_QUERIES)


def for_source(plan: StreamPlan) -> StreamPlan:
    """What a source needs of a plan: which columns and focal objects, not the queries."""
    nothing = np.empty(0)
    ints, floats = nothing.astype(np.int64), nothing.astype(np.float64)
    small, kinds = ints.astype(np.int32), ints.astype(np.int8)
    none = Regions(
        small, small, ints, kinds, floats, floats, floats, floats, ints, ints, ints, ints, ints, small,
        small, (),
    )  # fmt: skip
    return replace(plan, templates=(), constants=(), regions=none, nearest=NO_NEAREST)
