"""A live stream at real-time pace: the simulated city as a Spark source.

An offset is a second of the city's time. A second is available once it has passed, and any second
can be made again, so a batch replays like any other.
"""

from __future__ import annotations

import base64
import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from sanderling.batches import ROW, TS
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.ingest.slices import Slice
from sanderling.plan.plans import StreamPlan
from sanderling.route.pack import pack
from sanderling.simulate.stand_in import City
from sanderling.spark.source import BLOBS

FORMAT = "sanderling-live"


@dataclass(frozen=True, slots=True)
class LiveSpec:
    """A city, the stream it reports to, and the second it begins at."""

    plan: StreamPlan
    city: City
    began_at: int
    shard_keys: tuple[int, ...]

    def encoded(self) -> str:
        return base64.b64encode(pickle.dumps(self)).decode()


class LiveSource(DataSource):
    """The Spark data source `sanderling-live`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "shard int, blob binary"

    def streamReader(self, schema: Any) -> LiveReader:
        spec = pickle.loads(base64.b64decode(self.options["spec"]))
        return LiveReader(spec)


class LiveReader(DataSourceStreamReader):
    def __init__(self, spec: LiveSpec):
        self.spec = spec

    def initialOffset(self) -> dict[str, int]:
        return {"second": self.spec.began_at}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        return {"second": max(start["second"], int(time.time()))}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [InputPartition(second) for second in range(start["second"], end["second"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        spec, second = self.spec, partition.value
        readings = spec.city.readings(second)
        rows = pa.array(np.arange(1, readings.num_rows + 1))
        readings = readings.append_column(TS, readings.column("ts").cast(pa.int64())).append_column(ROW, rows)
        ingested = Ingested(readings, LETTERS.empty_table(), readings.num_rows)
        piece = Slice(second, "city", "city", 0, 0, 1, is_last=False)
        for shard, parcel in pack(spec.plan, piece, ingested, len(spec.shard_keys)):
            key = pa.array([spec.shard_keys[shard]], pa.int32())
            yield pa.RecordBatch.from_arrays([key, pa.array([parcel.to_bytes()], pa.binary())], schema=BLOBS)
