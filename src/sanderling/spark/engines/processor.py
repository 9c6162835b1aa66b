"""Shards and merge partitions as stages of Spark.

blobs ──groupBy(shard)──► shards ──groupBy(merge)──► merge partitions ──► the driver
                            └──────────► parts of the log ◄──┘

What needs no merging is in a part by then: only its name goes through the merge stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from sanderling.deliver.log import put_part
from sanderling.merge.partition import Merge, merge_of, needs_merge
from sanderling.operate.shard import Shard
from sanderling.route.by_space import tracts_of
from sanderling.route.parcels import PART, Parcel
from sanderling.settings import Settings
from sanderling.spark.engines.stored import State, StoredEngine
from sanderling.spark.plans import PlanFolder
from sanderling.state import merged, saved


class ShardProcessor(StoredEngine):
    """All streams of a shard."""

    def __init__(
        self, plans: PlanFolder, first: int, schemas: dict[str, pa.Schema], keys: list[int],
        settings: Settings, said: str, is_merged: bool,
    ):  # fmt: skip
        # Where plans are, not a plan: Spark would unpickle it again for every task. A broadcast
        # would do, but the worker that learns the state's schema has none.
        super().__init__(plans, "shard", keys, settings)
        self.first = first
        self.schemas = schemas
        self.said = said
        self.is_merged = is_merged

    @property
    def state(self) -> State:
        return cast(State, saved)

    def new_engine(self, number: int) -> Any:
        engine = Shard(self.plans.plan(self.first), number, self.schemas, self.plans.plan)
        engine.is_counting = self.settings.is_counted
        return engine

    def blobs(self, engine: Any, turn: str, parcels: list[Parcel]) -> Iterator[tuple[int, bytes]]:
        """With the merge partition that each goes to: what is not to be merged goes with its own shard's."""
        plan = self.plans.plan(engine.version)
        templates, tracts = (plan.templates(), tracts_of(plan)) if self.is_merged else ({}, {})
        to_merge: list[Parcel] = []
        direct: list[Parcel] = []
        for parcel in parcels:
            is_direct = not self.is_merged or not needs_merge(templates, parcel)
            (direct if is_direct else to_merge).append(parcel)
        if self.is_merged:
            # No row that is finished passes through the merge stage, however few there are.
            rows, signals = (
                [p for p in direct if p.table.num_rows],
                [p for p in direct if not p.table.num_rows],
            )
            blobs = [*put_part(self.said, f"{turn}.arrow", rows, least=0), *(p.to_bytes() for p in signals)]
        else:
            blobs = list(put_part(self.said, f"{turn}.arrow", direct))
        for blob in blobs:
            yield engine.number, blob
        for parcel in to_merge:
            for number, part in merge_of(parcel, len(self.keys), tracts):
                yield number, part.to_bytes()

    def frame(self, keys: list[int], blobs: list[bytes]) -> pd.DataFrame:
        return pd.DataFrame({"merge": np.array(keys, np.int32), "blob": blobs})


class MergeProcessor(StoredEngine):
    """All queries of a merge partition."""

    def __init__(self, plans: PlanFolder, first: int, keys: list[int], settings: Settings, said: str):
        super().__init__(plans, "merge", keys, settings)
        self.first = first
        self.said = said

    @property
    def state(self) -> State:
        return cast(State, merged)

    def new_engine(self, number: int) -> Any:
        engine = Merge(self.plans.plan(self.first), number, self.plans.plan, len(self.keys))
        engine.is_counting = self.settings.is_counted
        return engine

    def blobs(self, engine: Any, turn: str, parcels: list[Parcel]) -> Iterator[tuple[int, bytes]]:
        # The name of a part of a shard's is not to be hidden in a part of ours.
        own, names = [p for p in parcels if p.kind != PART], [p for p in parcels if p.kind == PART]
        for blob in (*put_part(self.said, f"{turn}.arrow", own), *(p.to_bytes() for p in names)):
            yield engine.number, blob

    def frame(self, keys: list[int], blobs: list[bytes]) -> pd.DataFrame:
        return pd.DataFrame({"blob": blobs})
