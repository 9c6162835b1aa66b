"""A live stream as a Spark source: a feed writes each step of the traffic as a file, and we read the files.

An offset is the number of a step. A step's file stays until Spark has committed it, so a batch
replays like any other.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from sanderling.batches import ROW, TS
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.ingest.slices import Slice
from sanderling.plans.plan import StreamPlan
from sanderling.route.pack import pack
from sanderling.route.parcels import Parcel
from sanderling.simulate.steps import forget_before, next_step, read_step
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.files import row_of
from sanderling.state.plans import PLANS

FORMAT = "sanderling-live"


@dataclass(frozen=True, slots=True)
class LiveSpec:
    """The stream that the traffic reports to, and the folder of its feed."""

    plan: StreamPlan
    folder: Path
    shard_keys: tuple[int, ...]

    def encoded(self) -> str:
        """As an option of the source."""
        plan = base64.b64encode(PLANS.encoded(self.plan)).decode()
        return json.dumps({"plan": plan, "folder": str(self.folder), "keys": self.shard_keys})

    @classmethod
    def decoded(cls, text: str) -> LiveSpec:
        said = json.loads(text)
        plan = PLANS.decoded(base64.b64decode(said["plan"]), StreamPlan)
        return cls(plan, Path(said["folder"]), tuple(said["keys"]))


class LiveSource(DataSource):
    """The Spark data source `sanderling-live`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "shard int, blob binary"

    def streamReader(self, schema: Any) -> LiveReader:
        return LiveReader(LiveSpec.decoded(self.options["spec"]))


class LiveReader(DataSourceStreamReader):
    def __init__(self, spec: LiveSpec):
        self.spec = spec

    def initialOffset(self) -> dict[str, int]:
        return {"step": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        return {"step": next_step(self.spec.folder, start["step"])}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """A part of the steps for each shard: after a delay there are many, and a partition costs a task."""
        steps = range(start["step"], end["step"])
        size = max(1, -(-len(steps) // len(self.spec.shard_keys)))
        return [InputPartition(steps[at : at + size]) for at in range(0, len(steps), size)]

    def commit(self, end: dict[str, int]) -> None:
        forget_before(self.spec.folder, end["step"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        begin_task()
        for shard, parcel in self.parcels(partition.value):
            yield row_of(self.spec.shard_keys[shard], parcel.to_bytes())

    def parcels(self, steps: range) -> Iterator[tuple[int, Parcel]]:
        """What each shard is to know of some steps."""
        spec = self.spec
        said = pa.concat_tables([read_step(spec.folder, step) for step in steps])
        columns = spec.plan.stream.columns
        readings = said.select([c.name for c in columns])
        readings = readings.cast(pa.schema([(c.name, c.type.arrow) for c in columns]))
        rows = pa.array(np.arange(1, readings.num_rows + 1))
        ts = said.column(spec.plan.stream.time).cast(pa.int64())
        readings = readings.append_column(TS, ts).append_column(ROW, rows)
        ingested = Ingested(readings, LETTERS.empty_table(), readings.num_rows)
        piece = Slice(steps[0], "city", "city", 0, 0, 1, is_last=False)
        yield from pack(spec.plan, piece, ingested, len(spec.shard_keys))
