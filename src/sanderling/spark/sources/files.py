"""Files as a Spark stream: slices are read, checked, routed and packed inside the reader.

A reading never becomes a row of the JVM; what Spark sees is `(shard, blob)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow

from sanderling.catalog import Stream
from sanderling.figures.laps import Laps
from sanderling.ingest.files import SourceFile
from sanderling.ingest.slices import Offset, Slicer, Version, version_of
from sanderling.plans.plan import Plan
from sanderling.route.controls import told_seconds
from sanderling.route.parcels import parcel_of
from sanderling.settings import Settings
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.source import BlobSource, Layout, Packing, encoding_with, found, left, row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Offsets = dict[str, Offset]  # by number of stream

FORMAT = "sanderling"


@dataclass(frozen=True, slots=True)
class Files:
    """All streams that are read from files. One source for all: each costs a process."""

    streams: Mapping[str, Stream]  # with their formats
    by_stream: Mapping[str, tuple[SourceFile, ...]]

    def filled_in(self, plan: Plan) -> Plan:
        """The plan, with the formats of its streams."""
        streams = (replace(s, stream=self.streams.get(s.stream.name, s.stream)) for s in plan.streams)
        return replace(plan, streams=tuple(streams))

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        spark.dataSource.register(SliceSource)
        streams = (
            StreamFiles.now(layout.packing(spark, name), files) for name, files in self.by_stream.items()
        )
        spec = SourceSpec(tuple(streams), layout.settings)
        return spark.readStream.format(FORMAT).option("spec", spec.left_in(layout.work)).load()


@dataclass(frozen=True, slots=True)
class StreamFiles:
    """One stream: the files to read, and how they are packed."""

    packing: Packing
    files: tuple[SourceFile, ...]
    versions: tuple[Version, ...]  # what they were when the run began

    @classmethod
    def now(cls, packing: Packing, files: tuple[SourceFile, ...]) -> StreamFiles:
        return cls(packing, files, tuple(map(version_of, files)))

    def slicer(self, settings: Settings) -> Slicer:
        format_ = self.packing.plan.stream.format
        return Slicer(self.files, format_, settings.slice_bytes, settings.slice_rows, self.versions)


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """What the readers need."""

    streams: tuple[StreamFiles, ...]
    settings: Settings

    @property
    def slices_per_batch(self) -> int:
        """Of each stream."""
        return self.settings.slices_per_shard * len(self.streams[0].packing.keys)

    def left_in(self, work: Path) -> str:
        return left(work / "source", self, ENCODING)


ENCODING = encoding_with(SourceSpec, StreamFiles, SourceFile, Version, Settings)


def load_spec(where: str) -> SourceSpec:
    spec: SourceSpec = found(where, SourceSpec, ENCODING)
    return spec


class SliceSource(BlobSource):
    """The Spark data source `sanderling`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> SliceReader:
        return SliceReader(self.options["spec"])


class SliceReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are the slicer's: the same offsets always give the same slices, so every batch replays."""

    def __init__(self, where: str):
        self.where = where
        self._slicers: list[Slicer] | None = None

    @property
    def spec(self) -> SourceSpec:
        return load_spec(self.where)

    @property
    def slicers(self) -> list[Slicer]:
        # Made on first use: the executors get the reader too, and do not cut.
        if self._slicers is None:
            self._slicers = [s.slicer(self.spec.settings) for s in self.spec.streams]
        return self._slicers

    def initialOffset(self) -> Offsets:
        return {str(n): slicer.first() for n, slicer in enumerate(self.slicers)}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxFiles(self.spec.slices_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        """The files are what they are: there is no later data to leave out."""

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:
        return {str(n): self._after(slicer, start[str(n)]) for n, slicer in enumerate(self.slicers)}

    def _after(self, slicer: Slicer, offset: Offset) -> Offset:
        for _ in range(self.spec.slices_per_batch):
            following = slicer.next(offset)
            if following is None:
                break
            offset = following[1]
        return offset

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        pieces: list[InputPartition] = []
        for n, slicer in enumerate(self.slicers):
            offset = start[str(n)]
            while offset != end[str(n)]:
                following = slicer.next(offset)
                if following is None:
                    break
                piece, offset = following
                pieces.append(InputPartition((n, piece)))
        return pieces

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Only here: the processes that Spark asks for offsets and partitions need not import it.
        from sanderling.ingest.read import read_slice

        begin_task()
        number, piece = partition.value
        packing = self.spec.streams[number].packing
        laps = Laps()
        ingested = read_slice(packing.plan.stream, piece)
        laps.end("source: read")
        for packed in packing.rows(piece, ingested):
            laps.end("packing")
            yield packed
            laps.end("shuffle: write")
        if self.spec.settings.is_timed:
            yield row(packing.keys[0], parcel_of(told_seconds(laps.seconds)))
