"""Shards and merge partitions as stages of Spark.

blobs ──groupBy(shard)──► shards ──groupBy(merge)──► merge partitions ──► the driver
                            └──────────► parts of the log ◄──┘

What needs no merging is in a part by then: only its name goes through the merge stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from sanderling.deliver.log import put_part
from sanderling.merge.partition import Merge
from sanderling.operate.shard import Shard
from sanderling.route.exchange import Exchange
from sanderling.route.parcels import Kind, Parcel
from sanderling.settings import Settings
from sanderling.spark.engines.stored import StoredEngine
from sanderling.spark.plans import PlanFolder


class ShardProcessor(StoredEngine):
    """All streams of a shard."""

    def __init__(
        self, plans: PlanFolder, first: int, keys: list[int], settings: Settings, said: str, is_merged: bool
    ):  # fmt: skip
        # Where plans are, not a plan: Spark would unpickle it again for every task. A broadcast
        # would do, but the worker that learns the state's schema has none.
        super().__init__(plans, "shard", keys, settings)
        self.first = first
        self.said = said
        self.is_merged = is_merged

    def new_engine(self, number: int) -> Any:
        engine = Shard(self.plans.plan(self.first), number, self.plans.plan)
        engine.is_counting = self.settings.is_counted
        return engine

    def blobs(self, engine: Any, turn: str, parcels: list[Parcel]) -> Iterator[tuple[int, bytes]]:
        """With the merge partition that each goes to: what is not to be merged goes with its own shard's."""
        if not self.is_merged:
            yield from ((engine.number, blob) for blob in put_part(self.said, f"{turn}.arrow", parcels))
            return
        exchange = Exchange(self.plans.plan(engine.version), len(self.keys))
        finished, sent = exchange.split(parcels)
        # No row that is finished passes through the merge stage, however few there are.
        rows, signals = (
            [p for p in finished if p.table.num_rows],
            [p for p in finished if not p.table.num_rows],
        )
        for blob in (*put_part(self.said, f"{turn}.arrow", rows, least=0), *(p.to_bytes() for p in signals)):
            yield engine.number, blob
        for number, part in sent:
            yield number, part.to_bytes()

    def frame(self, keys: list[int], blobs: list[bytes]) -> pd.DataFrame:
        return pd.DataFrame({"merge": np.array(keys, np.int32), "blob": blobs})


class MergeProcessor(StoredEngine):
    """All queries of a merge partition."""

    def __init__(self, plans: PlanFolder, first: int, keys: list[int], settings: Settings, said: str):
        super().__init__(plans, "merge", keys, settings)
        self.first = first
        self.said = said

    def new_engine(self, number: int) -> Any:
        engine = Merge(self.plans.plan(self.first), number, self.plans.plan, len(self.keys))
        engine.is_counting = self.settings.is_counted
        return engine

    def blobs(self, engine: Any, turn: str, parcels: list[Parcel]) -> Iterator[tuple[int, bytes]]:
        # The name of a part of a shard's is not to be hidden in a part of ours.
        own, names = [p for p in parcels if p.kind != Kind.PART], [p for p in parcels if p.kind == Kind.PART]
        for blob in (*put_part(self.said, f"{turn}.arrow", own), *(p.to_bytes() for p in names)):
            yield engine.number, blob

    def frame(self, keys: list[int], blobs: list[bytes]) -> pd.DataFrame:
        return pd.DataFrame({"blob": blobs})
