"""A source of readings: what it is to the pipeline, and what its readers need in order to pack them.

readings ──► Ingested ──► Packing ──► (shard, blob), a parcel for every shard
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSource

from sanderling.plans.parts import for_source
from sanderling.plans.plan import Plan, StreamPlan
from sanderling.settings import Settings
from sanderling.spark.engines.inbox import Inbox, inbox_of
from sanderling.spark.engines.placement import shard_keys
from sanderling.spark.plans import PlanFolder
from sanderling.state.encoding import Encoding
from sanderling.state.plans import CLASSES, read_thing, write_thing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sanderling.batches import Slice
    from sanderling.ingest.read import Ingested

BLOBS = pa.schema([("shard", pa.int32()), ("blob", pa.binary())])
COLUMNS = "shard int, blob binary"  # the same, as Spark says it
KIND = "source"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layout:
    """What every part of a pipeline is made from, but for its sources."""

    plan: Plan  # the first version
    plans: PlanFolder  # with those that follow
    shards: int
    work: Path
    settings: Settings
    is_living: bool  # other versions may follow

    @property
    def keys(self) -> tuple[int, ...]:
        """Of Spark's shuffle, by shard."""
        return tuple(shard_keys(self.shards))

    def is_merged(self) -> bool:
        """Whether some version that a shard can know by now needs merge partitions."""
        return self.plans.is_merged(self.plans.newest()) if self.is_living else self.plan.is_merged

    def packing(self, spark: SparkSession, stream: str) -> Packing:
        """For the readings of one stream."""
        (plan,) = (for_source(s) for s in self.plan.streams if s.stream.name == stream)
        plans = self.plans if self.is_living else None
        return Packing(plan, self.keys, plans, inbox_of(spark, self.work))


class BlobSource(DataSource):
    """What Spark calls a data source, of blobs."""

    def schema(self) -> str:
        return COLUMNS


class Source(Protocol):
    """Where the readings of one stream, or of several, come from: a file of this folder each.

    Promise (tests/spark, tests/recovery): the same offsets give the same parcels, so every batch replays.
    """

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        """Parcels as they come, with the key of the shard that each is for."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Readings of one stream to parcels for every shard."""

    plan: StreamPlan
    keys: tuple[int, ...]
    plans: PlanFolder | None = None  # where focal objects may be added while it runs
    inbox: Inbox = field(default_factory=Inbox)

    def rows(self, piece: Slice, ingested: Ingested) -> Iterator[pa.RecordBatch]:
        # Only here: the processes that Spark asks for offsets and partitions need not import the engine.
        from sanderling.route.pack import pack

        followed = self.plans.followed(self.plan.stream.name) if self.plans else None
        for shard, batch in pack(self.plan, piece, ingested, len(self.keys), followed):
            yield row(self.keys[shard], self.inbox.put(batch))


def row(key: int, blob: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([key], pa.int32()), pa.array([blob], pa.binary())], schema=BLOBS
    )


# ----- what a source leaves for its readers


def encoding_with(*classes: type) -> Encoding:
    return Encoding(*CLASSES, Packing, PlanFolder, Inbox, *classes)


def left(path: Path, thing: object, encoding: Encoding) -> str:
    """Leaves something in a file: where it is, with a mark that tells one run's from another's.

    As an option of the reader itself, which Spark looks at in every batch, very many focal objects
    would be slow.
    """
    write_thing(path.resolve(), KIND, thing, encoding)
    return f"{uuid.uuid4().hex} {path.resolve()}"


@lru_cache(maxsize=8)
def found(where: str, wanted: type[T], encoding: Encoding) -> T:
    """What was left there."""
    _, path = where.split(" ", 1)
    return read_thing(Path(path), KIND, wanted, encoding)
