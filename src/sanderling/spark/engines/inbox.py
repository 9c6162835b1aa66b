"""Parcels for shards as files of one machine: what goes through Spark is their names.

reader ──► inbox/17/…  ──► shard          the bytes are written once, and looked at where they lie
       ──── the name, by Spark ──►

They are gone when their batch is done. Whoever reads the batch again writes them again.
"""

from __future__ import annotations

import os
import shutil
import struct
import uuid
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

from sanderling.route.parcels import Parcel

# How Spark calls the number of the batch that a task belongs to.
BATCH = "streaming.sql.batchId"
# What a name begins with: a parcel begins with the length of its header, which is never 0.
NAME = struct.pack("<I", 0)
# What is shorter goes through Spark: a file costs more.
LEAST_BYTES = 32 << 10


def batch_now() -> int:
    """The number of the batch that this task belongs to."""
    task = TaskContext.get()
    assert task is not None, "only a task has a batch"
    return int(str(task.getLocalProperty(BATCH)))


@dataclass(frozen=True, slots=True)
class Inbox:
    """A folder of one machine; without one, parcels go through Spark as they are."""

    folder: str | None = None

    def put(self, parcel: Parcel) -> bytes:
        """What goes through Spark."""
        if self.folder is None or parcel.table.nbytes < LEAST_BYTES:
            return parcel.to_bytes()
        place = Path(self.folder, str(batch_now()))
        place.mkdir(parents=True, exist_ok=True)
        path = place / uuid.uuid4().hex
        with open(path, "wb") as file:
            for piece in parcel.pieces(is_compressed=False):
                file.write(piece)
        return NAME + os.fsencode(path)

    def clear(self, batch: int) -> None:
        """All tasks of a batch are done."""
        if self.folder is not None:
            shutil.rmtree(Path(self.folder, str(batch)), ignore_errors=True)


def inbox_of(spark: SparkSession, work: Path) -> Inbox:
    """On one machine there is a folder that everybody has; of a cluster nobody knows."""
    is_local = str(spark.sparkContext.master).startswith("local")
    return Inbox(str(work.resolve() / "inbox") if is_local else None)


def parcel_of(blob: bytes | memoryview) -> Parcel:
    """What was put, from wherever it is."""
    if bytes(blob[: len(NAME)]) != NAME:
        return Parcel.from_bytes(blob)
    with pa.memory_map(os.fsdecode(bytes(blob[len(NAME) :]))) as file:
        return Parcel.from_bytes(file.read_buffer())
