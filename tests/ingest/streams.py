"""Streams for the tests, and reading them from beginning to end."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sanderling.batches import Slice
from sanderling.catalog import Column, Stream
from sanderling.ingest.files import find_files, unpack
from sanderling.ingest.formats.header import check_header
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested, read_slice
from sanderling.ingest.slices import Slicer
from sanderling.types import TYPES

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

TAXI = "id STRING, ts BIGINT, x DOUBLE, y DOUBLE"


def columns_of(text: str) -> tuple[Column, ...]:
    return tuple(Column(*_pair(part)) for part in text.split(", "))


def _pair(part: str):
    name, type_name = part.rsplit(" ", 1)
    return name, TYPES[type_name]


def make_stream(columns: str = TAXI, format: str = "csv", key="id", time="ts", x="x", y="y") -> Stream:
    return Stream("Taxis", columns_of(columns), key, time, x, y, None, None, format, 1_000_000, 0, None)


def slices_of(files, format: str, size: int = 1 << 20) -> list[Slice]:
    slicer = Slicer(files, format, size, size)
    found, offset = [], slicer.first()
    while (step := slicer.next(offset)) is not None:
        piece, offset = step
        found.append(piece)
    return found


def ingest(stream: Stream, path, folder=None, size: int = 1 << 20) -> Ingested:
    """All slices of the path, put together."""
    files = find_files(str(path))
    files = unpack(files, folder) if folder else files
    check_header(stream, files)
    parts = [read_slice(stream, piece) for piece in slices_of(files, stream.format, size)]
    for part in parts:
        assert part.rows == part.readings.num_rows + part.letters.num_rows
        assert part.letters.schema == LETTERS
        assert part.readings.schema.types[:-2] == [c.type.arrow for c in stream.columns]
    empty = pa.schema(
        [*((c.name, c.type.arrow) for c in stream.columns), ("__ts", pa.int64()), ("__row", pa.int64())]
    )
    readings = pa.concat_tables([empty.empty_table(), *(part.readings for part in parts)])
    letters = pa.concat_tables([LETTERS.empty_table(), *(part.letters for part in parts)])
    return Ingested(readings, letters, sum(part.rows for part in parts))


def ingest_text(
    folder: Path, text: str | bytes, columns: str = TAXI, format: str = "csv", size=1 << 20, **places
):
    path = folder / f"taxis.{format}"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return ingest(make_stream(columns, format, **places), path, size=size)


def reasons(found: Ingested) -> dict[int, str]:
    return dict(zip(found.letters["row"].to_pylist(), found.letters["reason"].to_pylist(), strict=True))


def rows(found: Ingested, *names: str) -> list[tuple]:
    return list(zip(*(found.readings[name].to_pylist() for name in names), strict=True))


def real(*parts: str) -> Path:
    """A file of the shared real data."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the real data is not beside the project: {'/'.join(parts)}")
    return path
