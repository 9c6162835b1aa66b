"""The past of streams that are files: it begins with their first row and ends with their last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.ask.once import Pieces, nothing_of
from sanderling.batches import ROW, TS, Kind, Slice
from sanderling.catalog import Names, Stream
from sanderling.errors import ConfigError, QueryError
from sanderling.ingest.files import STREAM_FORMATS, find_files, format_of, unpack
from sanderling.ingest.formats.header import check_header
from sanderling.ingest.read import read_slice
from sanderling.ingest.slices import Slicer
from sanderling.operate.shard.shard import Shard
from sanderling.plan.build.build import build_plan
from sanderling.plan.last_queries import ROWS
from sanderling.route.pack import pack
from sanderling.settings import Settings
from sanderling.storage.lately import Bounds


@dataclass(frozen=True, slots=True)
class FilesPast:
    """Reads in this process, slice by slice; what is unpacked goes to a folder that is somebody's.

    Promise (tests/ask/test_files.py): which readings are late is judged as a run over the files judges it.
    """

    work: Path
    data: Path | None = None

    def now(self, streams: Sequence[Stream]) -> int | None:
        return None

    def upto(
        self, stream: Stream, last: int | None, reach: int | None, bounds: Bounds | None = None
    ) -> Pieces:
        """All of it: a reading that comes later may have made another late, but not one of before it."""
        found, pieces = self.pieces(stream)
        return ((piece, read_slice(found, piece)) for piece in pieces)

    def between(self, stream: Stream, first: int, last: int | None, bounds: Bounds | None = None) -> pa.Table:
        found, pieces = self.pieces(stream)
        tables = []
        for readings in accepted(found, pieces):
            ts = readings.column(TS).to_numpy()
            is_in = ts >= first if last is None else (ts >= first) & (ts <= last)
            tables.append(readings.filter(pa.array(is_in)))
        return present(stream, counting(stream, pa.concat_tables(tables or [nothing_of(stream).readings])))

    def last(self, stream: Stream) -> pa.Table:
        raise no_archive(stream)

    def queries(self) -> pa.Table:
        return ROWS.empty_table()

    def snapshot(self, stream: Stream, last: int) -> tuple[int, Pieces]:
        raise no_archive(stream)

    def pieces(self, stream: Stream) -> tuple[Stream, list[Slice]]:
        """The stream with its format, and where its files are cut."""
        if stream.path is None:
            raise ConfigError(
                "config.missing_path", f'stream "{stream.name}" has nothing to read from', "WITH (path = '…')"
            )
        format_ = format_of(stream.path, stream.format or None, STREAM_FORMATS, self.data)
        files = unpack(find_files(stream.path, self.data), self.work)
        stream = replace(stream, format=format_)
        check_header(stream, files)
        settings = Settings()
        slicer = Slicer(files, format_, settings.slice_bytes, settings.slice_rows)
        pieces, offset = [], slicer.first()
        while (following := slicer.next(offset)) is not None:
            piece, offset = following
            pieces.append(piece)
        return stream, pieces


def no_archive(stream: Stream) -> QueryError:
    return QueryError(
        "history.none", f'"{stream.name}" has no archive', "CREATE ARCHIVE past OF it, or name one: --archive"
    )


def accepted(stream: Stream, pieces: list[Slice]) -> Iterator[pa.Table]:
    """Slice by slice the readings that are neither late nor ahead."""
    plan = build_plan([stream], [], Names())
    shard = Shard(plan, 0)
    for piece in pieces:
        ingested = read_slice(stream, piece)
        told = shard.advance([batch for _, batch in pack(plan.streams[0], piece, ingested, 1)])
        refused = [b.table.column(ROW) for b in told if b.kind in (Kind.LATE_ROWS, Kind.AHEAD_ROWS)]
        rows = np.concatenate([np.empty(0, np.int64), *(column.to_numpy() for column in refused)])
        is_refused = np.isin(ingested.readings.column(ROW).to_numpy(), rows)
        yield ingested.readings.filter(pa.array(~is_refused))


def counting(stream: Stream, readings: pa.Table) -> pa.Table:
    """Of readings in order of arrival those that count: of two of one object and time the later to arrive."""
    numbered = readings.append_column("__n", pa.array(np.arange(readings.num_rows)))
    last = numbered.group_by([stream.key, TS]).aggregate([("__n", "max")]).column("__n_max").to_numpy()
    return readings.take(pa.array(np.sort(last)))


def present(stream: Stream, readings: pa.Table) -> pa.Table:
    """Without those that say that their object is gone."""
    if stream.gone is None:
        return readings
    is_gone = readings.column(stream.gone).fill_null(False).to_numpy(zero_copy_only=False)
    return readings.filter(pa.array(~is_gone.astype(np.bool_)))


__all__ = ["FilesPast", "accepted", "counting", "no_archive", "present"]
