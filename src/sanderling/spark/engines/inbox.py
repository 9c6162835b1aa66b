"""Parcels as files of one machine: what goes through Spark is their names.

reader ──► inbox/17/…  ──► shard ──► inbox/17/…  ──► merge partition
       ──── the name, by Spark ──►         the bytes are written once, and looked at where they lie

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

from sanderling.batches import Batch
from sanderling.route.parcels import batch_in, parcel_of, put_parcel

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

    def put(self, batch: Batch, number: int | None = None) -> bytes:
        """What goes through Spark, in its batch with this number, or in that of this task."""
        if self.folder is None or batch.table.nbytes < LEAST_BYTES:
            return parcel_of(batch)
        place = Path(self.folder, str(batch_now() if number is None else number))
        place.mkdir(parents=True, exist_ok=True)
        path = place / uuid.uuid4().hex
        with pa.OSFile(str(path), "wb") as file:
            put_parcel(batch, file)
        return NAME + os.fsencode(path)

    def clear(self, batch: int) -> None:
        """All tasks of a batch are done."""
        if self.folder is not None:
            shutil.rmtree(Path(self.folder, str(batch)), ignore_errors=True)


def inbox_of(spark: SparkSession, work: Path) -> Inbox:
    """On one machine there is a folder that everybody has; of a cluster nobody knows."""
    is_local = str(spark.sparkContext.master).startswith("local")
    return Inbox(str(work.resolve() / "inbox") if is_local else None)


def batch_of(blob: bytes | memoryview) -> Batch:
    """What was put, from wherever it is."""
    if bytes(blob[: len(NAME)]) != NAME:
        return batch_in(blob)
    with pa.memory_map(os.fsdecode(bytes(blob[len(NAME) :]))) as file:
        return batch_in(file.read_buffer())
