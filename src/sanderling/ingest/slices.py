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
class Slice:
    """A piece of one file: bytes of a text, rows of a parquet file."""

    number: int  # from 0, in order of arrival
    file: str
    path: str
    start: int
    stop: int
    first_row: int  # what an editor would call the first line: a csv's first reading is in row 2
    is_last: bool  # the stream ends with this slice


@dataclass(frozen=True, slots=True)
class Extent:
    """The part of a file that holds rows."""

    start: int
    stop: int
    first_row: int


class Slicer:
    """Cuts the files of a stream, one slice after another.

    Promises (tests/ingest/test_slices.py):
      pure      the same offset gives the same slice, also in a new process
      whole     the slices hold every row once, whatever their size
      bounded   no more than a chunk of a file is in memory
    """

    def __init__(self, files: Sequence[SourceFile], format: str, slice_bytes: int, slice_rows: int) -> None:
        if not 0 < slice_bytes <= LARGEST_SLICE or slice_rows <= 0:
            raise ConfigError(
                "config.bad_slice", "a slice has at least one byte and one row, and at most 1 GiB"
            )
        self._files = tuple(files)
        self._is_text = format != "parquet"
        self._size = slice_bytes if self._is_text else slice_rows
        self._extents = tuple(_extent(file, format) for file in files)
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
                raise StateError(
                    "state.source_changed",
                    f'"{self._files[file].name}" is shorter than when it was read',
                    "put the file back, or start again without the checkpoint",
                )
            # Before the first row: a new file, its header still to be skipped.
            if start < extent.start or row == 0:
                start, row = extent.start, extent.first_row
            if start >= extent.stop:
                later = self._filled_after(file)
                return None if later is None else self._next(later, 0, 0, number)
            return self._cut(file, start, row, number)
        return None

    def _cut(self, file: int, start: int, row: int, number: int) -> tuple[Slice, Offset]:
        source, end = self._files[file], self._extents[file].stop
        if self._is_text:
            stop, rows = _cut_text(source.path, start, min(start + self._size, end), end)
        else:
            stop = min(start + self._size, end)
            rows = stop - start
        is_last = stop == end and self._filled_after(file) is None
        piece = Slice(number, source.name, source.path, start, stop, row, is_last)
        return piece, {"file": file, "start": stop, "row": row + rows, "number": number + 1}

    def _filled_after(self, file: int) -> int | None:
        later = range(file + 1, len(self._files))
        return next((i for i in later if self._extents[i].start < self._extents[i].stop), None)


def _extent(file: SourceFile, format: str) -> Extent:
    if format == "parquet":
        try:
            return Extent(0, pq.read_metadata(file.path).num_rows, 1)
        except (pa.ArrowInvalid, OSError) as error:
            raise ConfigError(
                "config.broken_parquet", f'"{file.name}" is not a parquet file: {error}'
            ) from error
    size = os.path.getsize(file.path)
    if format == "csv":
        return Extent(len(first_line(file.path)), size, 2)
    with open(file.path, "rb") as text:
        has_mark = text.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    return Extent(len(codecs.BOM_UTF8) if has_mark else 0, size, 1)


def _cut_text(path: str, start: int, at_least: int, end: int) -> tuple[int, int]:
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
