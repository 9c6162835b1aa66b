"""Files as a Spark stream: slices are read, checked, routed and packed inside the reader.

A reading never becomes a row of the JVM; what Spark sees is `(shard, blob)`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow

from sanderling.encoding import Encoding
from sanderling.ingest.files import SourceFile
from sanderling.ingest.slices import Offset, Slicer, Version, version_of
from sanderling.laps import Laps
from sanderling.plans.plan import StreamPlan
from sanderling.route.parcels import Kind, Parcel
from sanderling.spark.engines.inbox import Inbox
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.plans import PlanFolder
from sanderling.state.plans import CLASSES, read_thing, write_thing

Offsets = dict[str, Offset]  # by number of stream

FORMAT = "sanderling"
BLOBS = pa.schema([("shard", pa.int32()), ("blob", pa.binary())])


@dataclass(frozen=True, slots=True)
class StreamFiles:
    """One stream: which columns to ship, and the files to read."""

    plan: StreamPlan
    files: tuple[SourceFile, ...]
    versions: tuple[Version, ...]  # what they were when the run began

    @classmethod
    def now(cls, plan: StreamPlan, files: tuple[SourceFile, ...]) -> StreamFiles:
        return cls(plan, files, tuple(map(version_of, files)))


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """All streams of a run, and how to cut and route them. One source for all: each costs a process."""

    streams: tuple[StreamFiles, ...]
    shard_keys: tuple[int, ...]
    slice_bytes: int
    slice_rows: int
    slices_per_batch: int
    inbox: Inbox
    is_timed: bool = False
    plans: PlanFolder | None = None  # where focal objects may be added while it runs

    def left_in(self, work: Path) -> str:
        """Leaves this in a file for the workers: where it is. As an option of the reader itself, which
        Spark looks at in every batch, very many focal objects would be slow."""
        path = (work / "source").resolve()
        write_thing(path, KIND, self, ENCODING)
        return f"{uuid.uuid4().hex} {path}"


KIND = "source"
ENCODING = Encoding(*CLASSES, SourceSpec, StreamFiles, SourceFile, Version, PlanFolder, Inbox)


@lru_cache(maxsize=4)
def load_spec(where: str) -> SourceSpec:
    """What a run has left; a mark before the path tells one run's from another's."""
    _, path = where.split(" ", 1)
    return read_thing(Path(path), KIND, SourceSpec, ENCODING)


class SliceSource(DataSource):
    """The Spark data source `sanderling`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "shard int, blob binary"

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
            spec = self.spec
            self._slicers = [
                Slicer(s.files, s.plan.stream.format, spec.slice_bytes, spec.slice_rows, s.versions)
                for s in spec.streams
            ]
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
        # Only here: the processes that Spark asks for offsets and partitions need not import the engine.
        from sanderling.ingest.read import read_slice
        from sanderling.route.pack import pack

        begin_task()
        number, piece = partition.value
        spec = self.spec
        plan = spec.streams[number].plan
        laps = Laps()
        ingested = read_slice(plan.stream, piece)
        laps.end("source: read")
        followed = spec.plans.followed(plan.stream.name) if spec.plans else None
        for shard, parcel in pack(plan, piece, ingested, len(spec.shard_keys), followed):
            blob = spec.inbox.put(parcel)
            laps.end("packing")
            yield row_of(spec.shard_keys[shard], blob)
            laps.end("shuffle: write")
        if spec.is_timed:
            yield row_of(spec.shard_keys[0], Parcel(Kind.SECONDS, pa.table({}), laps.seconds).to_bytes())


def row_of(key: int, blob: bytes) -> pa.RecordBatch:
    """What goes to the shard with a key, as a row of Spark."""
    return pa.record_batch([pa.array([key], pa.int32()), pa.array([blob], pa.binary())], schema=BLOBS)
