"""A stage as Spark's driver has it: what its engine is made from. The driver need not import the engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from sanderling.spark.engines.inbox import Inbox
    from sanderling.spark.plans import PlanFolder


@dataclass(frozen=True)
class Stage:
    """Shards, or merge partitions: all that their engines are made from."""

    name: str  # "shard" or "merge"
    plans: PlanFolder
    first: int  # the version that the plan began with
    keys: list[int]  # of Spark's shuffle, by number
    settings: Settings
    work: Path  # where every machine of the run can read and write
    inbox: Inbox  # for what shards tell merge partitions
    since: int = 0  # the first batch that they take part in

    def __call__(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from sanderling.spark.engines.processor import MergeProcessor, ShardProcessor

        engine = ShardProcessor(self) if self.name == "shard" else MergeProcessor(self)
        yield from engine.handle(rows)
