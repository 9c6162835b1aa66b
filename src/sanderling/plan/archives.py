"""CREATE ARCHIVE, checked; what a plan is with archives; and DESCRIBE, of what is on disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from sanderling.catalog import Archiving, Names, Stream
from sanderling.clock import show_duration, show_time
from sanderling.errors import QueryError, did_you_mean
from sanderling.ingest.files import place_to_write
from sanderling.language.statements import CreateArchive, DeleteFromArchive, Drop, Value
from sanderling.plan.build.build import all_columns
from sanderling.plan.declarations import Declarations
from sanderling.plan.listing import Listing
from sanderling.plans.plan import Plan, StreamPlan
from sanderling.storage.about import NAME
from sanderling.storage.archive import Archive
from sanderling.storage.place import exists, has_known_scheme, is_address, place_of

OPTIONS = ("path", "flush", "sample", "snapshot", "keep", "detail", "late")
MINUTE_US, HOUR_US = 60_000_000, 3_600_000_000
# Delta takes no name of a column with one of these as it is, nor Parquet one with a dot.
NOT_TAKEN = frozenset(" ,;{}()\n\t=.`")
DETAILS, LATE = ("readings", "snapshots"), ("drop", "keep")


@dataclass(frozen=True, slots=True)
class Erasure:
    """Of these objects nothing is to be left in an archive."""

    archiving: Archiving
    keys: pa.Array


class Archives:
    """The archives that are declared: one a stream, a folder each."""

    def __init__(self, streams: Names[Stream], data: Path | None):
        self.names: Names[Archiving] = Names()
        self._streams, self._data = streams, data

    def create(self, statement: CreateArchive, text: str) -> None:
        declarations, name = Declarations(text), statement.name.text
        stream = self._streams.get(statement.stream.text)
        if stream is None:
            hint = did_you_mean(statement.stream.text, self._streams) or "there is no stream yet"
            message = f'no stream is named "{statement.stream.text}"'
            raise declarations.refuse("query.unknown_stream", message, hint, statement.stream.span)
        options = declarations.options(statement.options, OPTIONS)
        self._refuse_names(stream, declarations, statement)
        made = self._declared(name, stream, options, declarations, statement)
        for other in self.names.values():
            if other.stream.name == stream.name:
                message = f'"{stream.name}" has an archive already, "{other.name}"'
                hint = f"DROP ARCHIVE {other.name} first"
                raise declarations.refuse("query.archived_already", message, hint, statement.stream.span)
            if other.path == made.path:
                message, hint = f'"{other.name}" is written there already', "give each a folder of its own"
                raise declarations.refuse("query.bad_option", message, hint, options["path"].span)
        self.names.put(name, made)

    def _refuse_names(self, stream: Stream, declarations: Declarations, statement: CreateArchive) -> None:
        for column in stream.columns:
            if not NOT_TAKEN.isdisjoint(column.name):
                message = f'the column "{column.name}" has a name that files of an archive cannot have'
                hint = "rename it: no spaces, dots, commas, brackets"
                raise declarations.refuse("query.unsupported", message, hint, statement.stream.span)

    def _declared(
        self, name: str, stream: Stream, options: dict[str, Value], declarations: Declarations,
        statement: CreateArchive,
    ) -> Archiving:  # fmt: skip
        path = declarations.text_option(options, "path")
        if path is None:
            message, hint = "an archive needs a path", "WITH (path = 'a folder')"
            raise declarations.refuse("query.missing_option", message, hint, statement.name.span)
        if is_address(path) and self._data is not None:
            message, hint = f"{path} leads out of the data folder", "path = 'past/vehicles'"
            raise declarations.refuse("query.bad_option", message, hint, options["path"].span)
        if is_address(path) and not has_known_scheme(path):
            message, hint = (
                f"nobody knows a store by {path}",
                "s3://bucket/past, gs://…, abfss://…, file:///…",
            )
            raise declarations.refuse("query.bad_option", message, hint, options["path"].span)
        flush = declarations.multiple_option(options, "flush", MINUTE_US, stream.tick_us, "the tick")
        snapshot = declarations.multiple_option(options, "snapshot", HOUR_US, flush, "flush")
        keep = declarations.duration_option(options, "keep", 0) if "keep" in options else None
        return Archiving(
            name, stream, path if is_address(path) else place_to_write(path, self._data), flush, snapshot,
            declarations.count_option(options, "sample", 1), keep,
            declarations.word_option(options, "detail", DETAILS),
            declarations.word_option(options, "late", LATE),
        )  # fmt: skip

    def refuse_in_use(self, stream: str, drop: Drop, text: str) -> None:
        """A stream stays while it has an archive."""
        user = self.of(stream)
        if user is not None:
            raise QueryError(
                "query.in_use", f'stream "{stream}" is used by archive "{user.name}"',
                f"DROP ARCHIVE {user.name} first", drop.name.span.place_in(text),
            )  # fmt: skip

    def of(self, stream: str) -> Archiving | None:
        """The archive of a stream."""
        return next((a for a in self.names.values() if a.stream.name.casefold() == stream.casefold()), None)

    def in_(self, plan: Plan) -> Plan:
        """A plan with its archives: all columns are shipped, since nobody knows what will be asked."""
        if not len(self.names):
            return plan
        return replace(plan, streams=tuple(self._archived(part) for part in plan.streams))

    def _archived(self, part: StreamPlan) -> StreamPlan:
        found = self.of(part.stream.name)
        return part if found is None else replace(part, archive=found, kept=all_columns(part.stream))


def erasure_of(archiving: Archiving, statement: DeleteFromArchive, text: str) -> Erasure:
    """DELETE FROM ARCHIVE … WHERE key = …, checked."""
    declarations, stream = Declarations(text), archiving.stream
    if statement.column.text.casefold() != stream.key.casefold():
        message = f'objects are deleted by their key, "{stream.key}", and as a whole'
        raise declarations.refuse(
            "query.unsupported", message, f"WHERE {stream.key} = …", statement.column.span
        )
    wanted = str if stream.key_type.name == "STRING" else int
    for key in statement.keys:
        if type(key.value) is not wanted:
            message, hint = f'"{stream.key}" is {stream.key_type.name}', f"write a {stream.key_type.name}"
            raise declarations.refuse("query.wrong_type", message, hint, key.span)
    try:
        return Erasure(archiving, pa.array([key.value for key in statement.keys], stream.key_type.arrow))
    except (OverflowError, pa.ArrowInvalid):  # no object can have it
        return Erasure(archiving, pa.nulls(0, stream.key_type.arrow))


def shown(archives: Iterable[Archiving]) -> Listing:
    """SHOW ARCHIVES."""
    rows = (
        (
            a.name, a.stream.name, a.detail, show_duration(a.flush_us), show_duration(a.snapshot_us),
            "for ever" if a.keep_us is None else show_duration(a.keep_us), a.path,
        )
        for a in archives
    )  # fmt: skip
    columns = ("name", "stream", "detail", "flush", "snapshot", "keep", "path")
    return Listing("archives", columns, tuple(rows))


def described(archiving: Archiving) -> Listing:
    """DESCRIBE ARCHIVE: what is on disk, whoever wrote it."""
    title, columns = f"archive {archiving.name}", ("property", "value")
    if not exists(place_of(archiving.path) / NAME):
        return Listing(title, columns, (("stream", archiving.stream.name), ("archived up to", "nothing yet")))
    archive = Archive.open(archiving.path)
    files, (begin, end) = archive.files, (archive.kept_from, archive.archived_to)
    rows = (
        ("stream", archive.stream.name),
        ("kept from", "nothing yet" if begin is None else show_time(begin)),
        ("archived up to", "nothing yet" if end is None else show_time(end)),
        ("readings", f"{sum(file.rows for file in files)}"),
        ("keyframes", f"{len(archive.keyframes)}"),
        ("files", f"{len(files)}"),
        ("bytes", f"{sum(file.bytes for file in files)}"),
    )
    return Listing(title, columns, rows)
