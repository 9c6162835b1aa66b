"""A slice of a stream to readings and dead letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import Slice
from sanderling.catalog import PLAIN, Column, Stream, Written
from sanderling.errors import InternalError
from sanderling.ingest.formats.csv import read_csv_rows
from sanderling.ingest.formats.json import read_json_rows
from sanderling.ingest.formats.lines import read_lines
from sanderling.ingest.formats.parquet import read_parquet, read_parquet_rows
from sanderling.ingest.formats.rows import Rows, Source
from sanderling.ingest.judge import Judge
from sanderling.ingest.slices import gone

READERS: dict[str, Callable[[Sequence[Column], Slice], Rows]] = {
    "json": read_json_rows, "parquet": read_parquet_rows
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a slice: every row that is not blank is a reading or a letter."""

    readings: pa.Table  # declared columns, then __ts (microseconds) and __row
    letters: pa.Table
    rows: int


def read_slice(stream: Stream, piece: Slice, read_at_us: int | None = None) -> Ingested:
    """The same readings and letters, whatever process reads the slice, and however often.

    `read_at_us`: of what is sent to us, when it came.
    """
    rows = read_rows(stream.columns, stream.format, piece, stream.written)
    readings = Judge(stream, rows, read_at_us).readings()
    letters = rows.faults.letters(stream.name, piece.file, rows.source.raw)
    return Ingested(readings, letters, readings.num_rows + letters.num_rows)


def read_rows(columns: Sequence[Column], format: str, piece: Slice, written: Written = PLAIN) -> Rows:
    """The columns of a slice, not yet typed, in the order asked for."""
    if format != "csv" and format not in READERS:
        raise InternalError("internal.unknown_format", f'no reader for the format "{format}"')
    with _still_there(piece):
        if format == "csv":
            rows = read_csv_rows(columns, piece, written.delimiter)
        else:
            rows = READERS[format](columns, piece)
    if not written.null_tokens:
        return rows
    return replace(rows, columns=tuple(_without(values, written.null_tokens) for values in rows.columns))


def _without(values: pa.Array, tokens: tuple[str, ...]) -> pa.Array:
    """NULL where a text is one of these."""
    if not pa.types.is_string(values.type):
        return values
    return pc.if_else(pc.is_in(values, pa.array(tokens)), pa.scalar(None, pa.string()), values)


@contextmanager
def _still_there(piece: Slice) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise gone(piece.file) from error


def raw_rows(stream: Stream, piece: Slice, rows: list[int]) -> list[str]:
    """The given rows of a slice as their sender wrote them, read again."""
    with _still_there(piece):
        source: Source = (
            read_parquet(stream.columns, piece) if stream.format == "parquet" else read_lines(piece)
        )
    return list(source.raw(np.array(rows, np.int64)))
