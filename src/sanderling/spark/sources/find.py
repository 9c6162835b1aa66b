"""Where each stream comes from, found and checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sanderling.catalog import Stream
from sanderling.errors import ConfigError
from sanderling.ingest.files import (
    STREAM_FORMATS,
    SourceFile,
    find_files,
    format_of,
    format_of_name,
    names_now,
    refuse_no_place,
    unpack,
)
from sanderling.ingest.formats.header import check_header
from sanderling.plans.plan import Plan
from sanderling.spark.sources.files import Files
from sanderling.spark.sources.followed import Followed
from sanderling.spark.sources.source import Source


@dataclass(frozen=True, slots=True)
class Inputs:
    """The sources of all streams: files, and what was given by name."""

    files: Files
    given: tuple[Source, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.files, *self.given) if self.files.by_stream else self.given


def find_inputs(
    streams: Iterable[Stream], given: Mapping[str, Source], work: Path, data: Path | None = None
) -> Inputs:
    """A stream that has a path is read from its files, any other from what was given under its name."""
    files, named, others = {}, {}, []
    for stream in streams:
        if stream.path is not None:
            named[stream.name], files[stream.name] = _find_stream(stream, stream.path, work, data)
        elif stream.name in given:
            others.append(given[stream.name])
        else:
            raise _no_path(stream)
    return Inputs(Files(named, files), tuple(others))


def find_input(plan: Plan, work: Path, data: Path | None = None) -> tuple[Plan, Files]:
    """The same of a plan that stays as it is: a stream that nobody asks about needs nothing to read from."""
    asked = tuple(s for s in plan.streams if s.stream.path is not None or s.templates)
    files = find_inputs([s.stream for s in asked], {}, work, data).files
    return files.filled_in(replace(plan, streams=asked)), files


def find_followed(plan: Plan, work: Path, data: Path | None = None) -> tuple[Plan, Followed]:
    """The same of files that are followed: what is there now is not all, and there may be nothing yet."""
    asked = tuple(s for s in plan.streams if s.stream.path is not None or s.templates)
    named = {s.stream.name: _followed(s.stream, data) for s in asked}
    source = Followed(named, work, data)
    return source.filled_in(replace(plan, streams=asked)), source


def _followed(stream: Stream, data: Path | None) -> Stream:
    if stream.path is None:
        raise _no_path(stream)
    refuse_no_place(stream.path, data)
    if not stream.format and not names_now(stream.path, data) and format_of_name(stream.path) is None:
        raise ConfigError(
            "config.unknown_format", f'nothing at "{stream.path}" tells its format yet', "say format = 'csv'"
        )
    return replace(stream, format=format_of(stream.path, stream.format or None, STREAM_FORMATS, data))


def _no_path(stream: Stream) -> ConfigError:
    return ConfigError(
        "config.missing_path", f'stream "{stream.name}" has nothing to read from',
        f"WITH (path = '…'); in a session also session.stream(frame, name=\"{stream.name}\", …)",
    )  # fmt: skip


def _find_stream(
    stream: Stream, path: str, work: Path, data: Path | None
) -> tuple[Stream, tuple[SourceFile, ...]]:
    """The stream with its format, and its files."""
    stream = replace(stream, format=format_of(path, stream.format or None, STREAM_FORMATS, data))
    found = unpack(find_files(path, data), work / "unpacked")
    check_header(stream, found)
    return stream, found
