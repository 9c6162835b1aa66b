"""A live stream as a Spark source: a feed writes each step of the traffic as a file, and we read the files.

An offset is the number of a step. A step's file stays until Spark has committed it, so a batch
replays like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from sanderling.batches import ROW, TS, Slice
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.simulate.steps import forget_before, next_step, read_step
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.source import BlobSource, Layout, Packing, encoding_with, found, left

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "sanderling-simulator"


@dataclass(frozen=True, slots=True)
class Simulator:
    """A feed as the source of one stream."""

    stream: str
    folder: Path  # of the feed

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        spark.dataSource.register(StepSource)
        steps = Steps(layout.packing(spark, self.stream), str(self.folder.resolve()))
        where = left(layout.work / "steps-source", steps, ENCODING)
        return spark.readStream.format(FORMAT).option("steps", where).load()


@dataclass(frozen=True, slots=True)
class Steps:
    """What the readers need: where the steps are, and how they are packed."""

    packing: Packing
    folder: str

    def ingested(self, steps: range) -> Ingested:
        """Some of them, as if they had been one file; all are good readings."""
        said = pa.concat_tables([read_step(Path(self.folder), step) for step in steps])
        stream = self.packing.plan.stream
        readings = said.select([c.name for c in stream.columns])
        readings = readings.cast(pa.schema([(c.name, c.type.arrow) for c in stream.columns]))
        rows = pa.array(np.arange(1, readings.num_rows + 1))
        readings = readings.append_column(TS, said.column(stream.time).cast(pa.int64()))
        return Ingested(readings.append_column(ROW, rows), LETTERS.empty_table(), said.num_rows)

    def slice(self, steps: range) -> Slice:
        name = self.packing.plan.stream.name
        return Slice(steps[0], name, name, 0, 0, 1, is_last=False, is_live=True)


ENCODING = encoding_with(Steps)


class StepSource(BlobSource):
    """The Spark data source `sanderling-simulator`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> StepReader:
        return StepReader(found(self.options["steps"], Steps, ENCODING))


class StepReader(DataSourceStreamReader):
    def __init__(self, steps: Steps):
        self.steps = steps

    @property
    def folder(self) -> Path:
        return Path(self.steps.folder)

    def initialOffset(self) -> dict[str, int]:
        return {"step": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        return {"step": next_step(self.folder, start["step"])}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """A part of the steps for each shard: after a delay there are many, and a partition costs a task."""
        steps = range(start["step"], end["step"])
        size = max(1, -(-len(steps) // len(self.steps.packing.keys)))
        return [InputPartition(steps[at : at + size]) for at in range(0, len(steps), size)]

    def commit(self, end: dict[str, int]) -> None:
        forget_before(self.folder, end["step"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        begin_task()
        steps = partition.value
        yield from self.steps.packing.rows(self.steps.slice(steps), self.steps.ingested(steps))
