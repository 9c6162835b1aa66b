"""The files of the streams of a plan, found and checked before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sanderling.catalog import Stream
from sanderling.errors import ConfigError
from sanderling.ingest.files import STREAM_FORMATS, SourceFile, find_files, format_of, unpack
from sanderling.ingest.formats.header import check_header
from sanderling.plans.plan import Plan


def find_input(
    plan: Plan, work: Path, data: Path | None = None
) -> tuple[Plan, dict[str, tuple[SourceFile, ...]]]:
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
        stream, found = find_stream(stream, stream.path, work, data)
        streams.append(replace(stream_plan, stream=stream))
        files[stream.name] = found
    return replace(plan, streams=tuple(streams)), files


def find_stream(
    stream: Stream, path: str, work: Path, data: Path | None = None
) -> tuple[Stream, tuple[SourceFile, ...]]:
    """The stream with its format, and its files."""
    stream = replace(stream, format=format_of(path, stream.format or None, STREAM_FORMATS, data))
    found = unpack(find_files(path, data), work / "unpacked")
    check_header(stream, found)
    return stream, found
