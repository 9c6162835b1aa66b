"""Files that are followed, as a Spark source that never ends: offsets count slices (ingest/followed.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from sanderling.catalog import Stream
from sanderling.ingest.followed import Follower
from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.source import BlobSource, Layout, Packing, encoding_with, found, left

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "sanderling-followed"

Offsets = dict[str, int]  # by number of stream


@dataclass(frozen=True, slots=True)
class Followed:
    """All streams whose files are followed. One source for all: each costs a process."""

    streams: Mapping[str, Stream]  # with their formats and paths
    work: Path
    data: Path | None = None

    def filled_in(self, plan: Plan) -> Plan:
        """The plan, with the formats of its streams."""
        streams = (replace(s, stream=self.streams.get(s.stream.name, s.stream)) for s in plan.streams)
        return replace(plan, streams=tuple(streams))

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        spark.dataSource.register(FollowedSource)
        packings = tuple(layout.packing(spark, name) for name in self.streams)
        spec = FollowedSpec(packings, str(self._folder.resolve()), layout.settings, _text(self.data))
        where = left(layout.work / "source", spec, ENCODING)
        return spark.readStream.format(FORMAT).option("spec", where).load()

    @property
    def _folder(self) -> Path:
        folder = self.work / "followed"
        folder.mkdir(exist_ok=True)
        return folder

    def watched(self, settings: Settings) -> list[Follower]:
        """To hear what is noted about files; these only read along."""
        streams = enumerate(self.streams.values())
        return [follower_of(s, n, str(self._folder), settings, _text(self.data)) for n, s in streams]


@dataclass(frozen=True, slots=True)
class FollowedSpec:
    """What the readers need."""

    packings: tuple[Packing, ...]
    folder: str
    settings: Settings
    data: str | None

    def followers(self) -> list[Follower]:
        streams = enumerate(p.plan.stream for p in self.packings)
        return [follower_of(s, n, self.folder, self.settings, self.data) for n, s in streams]


ENCODING = encoding_with(FollowedSpec, Settings)


def follower_of(stream: Stream, number: int, folder: str, settings: Settings, data: str | None) -> Follower:
    assert stream.path is not None
    size = settings.slice_rows if stream.format == "parquet" else settings.slice_bytes
    journal, root = Path(folder) / f"{number}.jsonl", None if data is None else Path(data)
    delimiter = stream.written.delimiter
    return Follower(stream.path, stream.format, stream.columns, journal, size, root, delimiter)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


class FollowedSource(BlobSource):
    """The Spark data source `sanderling-followed`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> FollowedReader:
        return FollowedReader(self.options["spec"])


class FollowedReader(DataSourceStreamReader):
    """What was found is in a journal before Spark hears of it, so every batch replays."""

    def __init__(self, where: str):
        self.where = where
        self._followers: list[Follower] | None = None

    @property
    def spec(self) -> FollowedSpec:
        spec: FollowedSpec = found(self.where, FollowedSpec, ENCODING)
        return spec

    @property
    def followers(self) -> list[Follower]:
        # Made on first use: the executors get the reader too, and do not look.
        if self._followers is None:
            self._followers = self.spec.followers()
        return self._followers

    def initialOffset(self) -> Offsets:
        return {str(n): 0 for n, _ in enumerate(self.spec.packings)}

    def latestOffset(self, start: Offsets, limit: Any) -> Offsets:
        spec = self.spec
        most = spec.settings.slices_per_shard * len(spec.packings[0].keys)
        return {str(n): f.look(start[str(n)] + most) for n, f in enumerate(self.followers)}

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        return [
            InputPartition((n, piece))
            for n, follower in enumerate(self.followers)
            for piece in follower.slices(start[str(n)], end[str(n)])
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from sanderling.ingest.read import read_slice

        begin_task()
        number, piece = partition.value
        packing = self.spec.packings[number]
        yield from packing.rows(piece, read_slice(packing.plan.stream, piece))
