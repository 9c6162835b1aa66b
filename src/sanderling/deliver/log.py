"""What was said, batch by batch, on disk until it has been delivered.

Spark may go on with the next batch as soon as this one is in the log: a run that is killed before it
was delivered finds it there. What a shard has to say is long: it writes it to a part of its own, and
only the name of the part goes through Spark.

said/7.arrow ──► parts/0-12.arrow, parts/1-12.arrow
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from sanderling import crash
from sanderling.errors import StateError
from sanderling.route.parcels import PART, Parcel

PARTS = "parts"
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
        _write(self._path(number), blobs)
        crash.point("after-log")

    def read(self, number: int) -> list[Parcel]:
        """All that a batch said."""
        return self.parcels_of(_read(self._path(number)))

    def parcels_of(self, blobs: pa.Table) -> list[Parcel]:
        """Parcels that came through Spark as rows of bytes, and those in their parts."""
        found = []
        for parcel in parcels_of(blobs):
            if parcel.kind == PART:
                found += parcels_of(_read(self.folder / PARTS / parcel.header["file"]))
            else:
                found.append(parcel)
        return found

    def remove(self, number: int) -> None:
        """Forgets a batch and its parts."""
        path = self._path(number)
        if path.exists():
            self.remove_parts(_read(path))
        path.unlink(missing_ok=True)

    def remove_parts(self, blobs: pa.Table) -> None:
        for parcel in parcels_of(blobs):
            if parcel.kind == PART:
                (self.folder / PARTS / parcel.header["file"]).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.arrow"


def put_part(folder: str, name: str, parcels: Iterable[Parcel], least: int = LEAST_PART) -> Iterator[bytes]:
    """Parcels as they go through Spark: as they are, or the name of the part that they were written to.

    `name` is that of a shard's turn: what is computed again has the same name and the same content.
    """
    blobs = [p.to_bytes() for p in parcels]
    if not blobs or sum(map(len, blobs)) < least:
        yield from blobs
        return
    _write(Path(folder) / PARTS / name, pa.table({"blob": pa.array(blobs, pa.binary())}, schema=BLOB))
    yield Parcel(PART, pa.table({}), {"file": name}).to_bytes()


def parcels_of(blobs: pa.Table) -> list[Parcel]:
    """Parcels that came through Spark as rows of bytes."""
    return [Parcel.from_bytes(blob.as_buffer()) for blob in blobs.column("blob")]


def _write(path: Path, blobs: pa.Table) -> None:
    temporary = path.with_suffix(".new")
    with open(temporary, "wb") as file:
        with pa.ipc.new_file(file, blobs.schema) as writer:
            writer.write_table(blobs)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _read(path: Path) -> pa.Table:
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all()
    except (OSError, pa.ArrowInvalid) as e:
        raise StateError(
            "state.broken_ledger", f"{path.name}, what a batch said, cannot be read: {e}",
            "use a new checkpoint",
        ) from e  # fmt: skip
