"""Where a large file is cut into slices.

A slice ends at the first newline at or after its start plus `slice_bytes`, or at the end of its file:
so the cut depends on the offset and the files alone, and a batch can be read again after a crash.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.batches import Slice
from sanderling.errors import ConfigError, StateError
from sanderling.ingest.files import SourceFile
from sanderling.ingest.formats.header import first_line

Offset = dict[str, int]

# Above this the columns of one slice would not fit Arrow's 32-bit offsets.
LARGEST_SLICE = 1 << 30
NEWLINE = ord("\n")
CHUNK_BYTES = 1 << 20
REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Extent:
    """The part of a file that holds rows."""

    start: int
    stop: int
    first_row: int


@dataclass(frozen=True, slots=True)
class Version:
    """What tells a file from one that has taken its place, or lost something."""

    size: int
    inode: int
    mtime_ns: int


class Slicer:
    """Cuts the files of a stream, one slice after another.

    Promises (tests/ingest/test_slices.py):
      pure      the same offset gives the same slice, also in a new process
      whole     the slices hold every row once, whatever their size
      bounded   no more than a chunk of a file is in memory
      as begun  what is added to a text while it is read is not read; what else changes stops the run
    """

    def __init__(
        self, files: Sequence[SourceFile], format: str, slice_bytes: int, slice_rows: int,
        versions: Sequence[Version] = (),
    ) -> None:  # fmt: skip
        """`versions`: what the files were when the run began, if that was before."""
        if not 0 < slice_bytes <= LARGEST_SLICE or slice_rows <= 0:
            raise ConfigError(
                "config.bad_slice", "a slice has at least one byte and one row, and at most 1 GiB"
            )
        self._files = tuple(files)
        self._is_text = format != "parquet"
        self._size = slice_bytes if self._is_text else slice_rows
        self._versions = tuple(versions or map(version_of, files))
        for number in range(len(files)):
            self._refuse_changed(number)
        self._extents = tuple(
            _extent(file, format, version.size) for file, version in zip(files, self._versions, strict=True)
        )
        self._remembered: dict[tuple[int, ...], tuple[Slice, Offset]] = {}

    def first(self) -> Offset:
        return {"file": 0, "start": 0, "row": 0, "number": 0}

    def next(self, offset: Offset) -> tuple[Slice, Offset] | None:
        """The slice at the offset and the offset after it, or None at the end."""
        at = (offset["file"], offset["start"], offset["row"], offset["number"])
        if at not in self._remembered:
            found = self._next(*at)
            if found is None:
                return None
            if len(self._remembered) >= REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[at] = found
        piece, after = self._remembered[at]
        return piece, dict(after)

    def _next(self, file: int, start: int, row: int, number: int) -> tuple[Slice, Offset] | None:
        if file < len(self._files):
            extent = self._extents[file]
            if start > max(extent.start, extent.stop):
                raise shorter(self._files[file].name)
            # Before the first row: a new file, its header still to be skipped.
            if start < extent.start or row == 0:
                start, row = extent.start, extent.first_row
            if start >= extent.stop:
                later = self._filled_after(file)
                return None if later is None else self._next(later, 0, 0, number)
            return self._cut(file, start, row, number)
        return None

    def _refuse_changed(self, number: int) -> None:
        """A file that is another one by now, or has lost something, or is no text and was written again."""
        file, then = self._files[number], self._versions[number]
        now = version_of(file)
        if now.size < then.size:
            raise shorter(file.name)
        if now.inode != then.inode or (now != then and not self._is_text):
            raise _changed(file.name, "is another file than when the run began")

    def _cut(self, file: int, start: int, row: int, number: int) -> tuple[Slice, Offset]:
        self._refuse_changed(file)
        source, end = self._files[file], self._extents[file].stop
        if self._is_text:
            stop, rows = cut_text(source.path, start, min(start + self._size, end), end)
        else:
            stop = min(start + self._size, end)
            rows = stop - start
        is_last = stop == end and self._filled_after(file) is None
        piece = Slice(number, source.name, source.path, start, stop, row, is_last)
        return piece, {"file": file, "start": stop, "row": row + rows, "number": number + 1}

    def _filled_after(self, file: int) -> int | None:
        later = range(file + 1, len(self._files))
        return next((i for i in later if self._extents[i].start < self._extents[i].stop), None)


def gone(name: str) -> StateError:
    """A file that was there when the run began."""
    return _changed(name, "is gone, though it is still to be read")


def shorter(name: str) -> StateError:
    return _changed(name, "is shorter than when it was read")


def _changed(name: str, how: str) -> StateError:
    hint = "put the file back, or start again without the checkpoint"
    return StateError("state.source_changed", f'"{name}" {how}', hint)


def version_of(file: SourceFile) -> Version:
    try:
        status = os.stat(file.path)
    except FileNotFoundError as error:
        raise gone(file.name) from error
    return Version(status.st_size, status.st_ino, status.st_mtime_ns)


def _extent(file: SourceFile, format: str, size: int) -> Extent:
    if format == "parquet":
        try:
            return Extent(0, pq.read_metadata(file.path).num_rows, 1)
        except (pa.ArrowInvalid, OSError) as error:
            raise ConfigError(
                "config.broken_parquet", f'"{file.name}" is not a parquet file: {error}'
            ) from error
    if format == "csv":
        return Extent(len(first_line(file.path)), size, 2)
    with open(file.path, "rb") as text:
        has_mark = text.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return Extent(len(codecs.BOM_UTF8) if has_mark else 0, size, 1)


def cut_text(path: str, start: int, at_least: int, end: int) -> tuple[int, int]:
    """Where the slice stops, and how many lines end in it."""
    with open(path, "rb") as file:
        stop = end if at_least >= end else _after_newline(file, at_least, end)
        return stop, _count_newlines(file, start, stop)


def _after_newline(file: BinaryIO, start: int, end: int) -> int:
    file.seek(start)
    at = start
    while at < end and (chunk := file.read(min(CHUNK_BYTES, end - at))):
        found = chunk.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(chunk)
    return end


def _count_newlines(file: BinaryIO, start: int, stop: int) -> int:
    file.seek(start)
    left, count = stop - start, 0
    while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
        count += int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == NEWLINE))
        left -= len(chunk)
    return count
