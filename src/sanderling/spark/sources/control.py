"""What a session tells its shards while they run, as a Spark source: a log of entries, each for every shard.

An offset is the number of an entry. An entry is on disk before Spark hears of it, and stays until a
batch with it has been committed: so registrations replay like readings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from sanderling.batches import Kind
from sanderling.deliver.log import Log
from sanderling.route.parcels import parcel_of
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.source import BlobSource, Layout, row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "sanderling-control"
# What comes back to the driver, or is told by one shard.
ONCE = (Kind.MARK, Kind.RETOLD, Kind.HELD)

Offset = dict[str, int]


@dataclass(frozen=True, slots=True)
class Control:
    """The source of what is told, beside those of readings."""

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        spark.dataSource.register(ControlSource)
        folder = str((layout.work / "control").resolve())
        reader = spark.readStream.format(FORMAT)
        return reader.option("folder", folder).option("keys", json.dumps(layout.keys)).load()


class ControlSource(BlobSource):
    """The Spark data source `sanderling-control`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> ControlReader:
        return ControlReader(self.options["folder"], json.loads(self.options["keys"]))


class ControlReader(DataSourceStreamReader):
    def __init__(self, folder: str, shard_keys: list[int]):
        self.folder = folder
        self.shard_keys = shard_keys

    def initialOffset(self) -> Offset:
        return {"entry": 0}

    def latestOffset(self, start: Offset, limit: Any) -> Offset:
        return {"entry": max([start["entry"], *(n + 1 for n in Log(Path(self.folder)).numbers())])}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        entries = range(start["entry"], end["entry"])
        return [InputPartition(entries)] if entries else []

    def commit(self, end: Offset) -> None:
        """The last entry stays: it tells how far the numbers went."""
        log = Log(Path(self.folder))
        for number in log.numbers():
            if number < end["entry"] - 1:
                log.remove(number)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        begin_task()
        log = Log(Path(self.folder))
        for number in partition.value:
            for batch in log.read(number):
                blob = parcel_of(batch)
                for key in self.shard_keys[:1] if batch.kind in ONCE else self.shard_keys:
                    yield row(key, blob)
