"""What was said, batch by batch, on disk until it has been delivered.

Spark may go on with the next batch as soon as this one is in the log: a run that is killed before it
was delivered finds it there. What a shard has to say is long: it writes it to a part of its own, and
only the name of the part goes through Spark.

said/7.arrow ──► parts/0-12.arrow, parts/1-12.arrow
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.deliver.retold import retold
from sanderling.route.parcels import batch_in, parcel_of
from sanderling.state import crash
from sanderling.state.sealed import NOT_OURS, broken, read, write

PARTS = "parts"
BATCH = "batch"  # the kind of a file; the other is Kind.PART
BLOB = pa.schema([("blob", pa.binary())])
# What is shorter goes through Spark: a file costs more.
LEAST_PART = 32 << 10


class Log:
    """A file a batch, complete or not there at all."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / PARTS).mkdir(parents=True, exist_ok=True)

    def numbers(self) -> list[int]:
        """Batches in the log, in order."""
        return sorted(int(p.stem) for p in self.folder.iterdir() if p.suffix == ".arrow" and p.stem.isdigit())

    def has(self, number: int) -> bool:
        return self._path(number).exists()

    def written_at(self, number: int) -> float:
        """In seconds since 1970."""
        return self._path(number).stat().st_mtime

    def write(self, number: int, blobs: pa.Table) -> None:
        """Blobs of a batch, safely on disk when this returns."""
        crash.point("before-log")
        _write(self._path(number), BATCH, blobs)
        crash.point("after-log")

    def read(self, number: int) -> list[Batch]:
        """All that a batch said."""
        return self.batches_of(_read(self._path(number), BATCH))

    def batches_of(self, blobs: pa.Table) -> list[Batch]:
        """Batches that came through Spark as rows of bytes, and those in their parts."""
        found = []
        for batch in batches_of(blobs):
            if batch.kind == Kind.PART:
                found += batches_of(_read(self.folder / PARTS / batch.file, Kind.PART))
            else:
                found.append(batch)
        return retold(found)

    def remove(self, number: int) -> None:
        """Forgets a batch and its parts."""
        path = self._path(number)
        if path.exists():
            self.remove_parts(_read(path, BATCH))
        path.unlink(missing_ok=True)

    def remove_parts(self, blobs: pa.Table) -> None:
        for batch in batches_of(blobs):
            if batch.kind == Kind.PART:
                (self.folder / PARTS / batch.file).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.arrow"


def put_part(folder: str, name: str, batches: Iterable[Batch], least: int = LEAST_PART) -> Iterator[bytes]:
    """Batches as they go through Spark: as they are, or the name of the part that they were written to.

    `name` is that of a shard's turn: what is computed again has the same name and the same content.
    """
    blobs = [parcel_of(b) for b in batches]
    if not blobs or sum(map(len, blobs)) < least:
        yield from blobs
        return
    part = pa.table({"blob": pa.array(blobs, pa.binary())}, schema=BLOB)
    _write(Path(folder) / PARTS / name, Kind.PART, part)
    yield parcel_of(Batch(Kind.PART, file=name))


def batches_of(blobs: pa.Table) -> list[Batch]:
    """Batches that came through Spark as rows of bytes."""
    return [batch_in(blob.as_buffer()) for blob in blobs.column("blob")]


def _write(path: Path, kind: str, blobs: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, blobs.schema) as writer:
        writer.write_table(blobs)
    write(path, kind, sink.getvalue())


def _read(path: Path, kind: str) -> pa.Table:
    body = read(path, kind)
    try:
        with pa.ipc.open_file(body) as reader:
            blobs = reader.read_all()
        blobs.validate(full=True)
        return blobs.cast(BLOB)
    except NOT_OURS as e:
        raise broken(str(path), str(e)) from e
