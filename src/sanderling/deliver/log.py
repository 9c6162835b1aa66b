"""What was said, batch by batch, on disk until it has been delivered.

Spark may go on with the next batch as soon as this one is in the log: a run that is killed before it
was delivered finds it there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from sanderling import crash
from sanderling.errors import StateError
from sanderling.route.parcels import Parcel


class Log:
    """A file a batch, complete or not there at all."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def numbers(self) -> list[int]:
        """Batches in the log, in order."""
        return sorted(int(p.stem) for p in self.folder.iterdir() if p.suffix == ".arrow" and p.stem.isdigit())

    def write(self, number: int, blobs: pa.Table) -> None:
        """Blobs of a batch, safely on disk when this returns."""
        crash.point("before-log")
        path = self._path(number)
        temporary = path.with_suffix(".new")
        with open(temporary, "wb") as file:
            with pa.ipc.new_file(file, blobs.schema) as writer:
                writer.write_table(blobs)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        crash.point("after-log")

    def read(self, number: int) -> list[Parcel]:
        path = self._path(number)
        try:
            with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
                return parcels_of(reader.read_all())
        except (OSError, pa.ArrowInvalid) as e:
            raise StateError(
                "state.broken_ledger", f"{path.name}, what a batch said, cannot be read: {e}",
                "use a new checkpoint",
            ) from e  # fmt: skip

    def remove(self, number: int) -> None:
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.arrow"


def parcels_of(blobs: pa.Table) -> list[Parcel]:
    """Parcels that came through Spark as rows of bytes."""
    return [Parcel.from_bytes(blob.as_buffer()) for blob in blobs.column("blob")]
