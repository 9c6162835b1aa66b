"""The whole way of a tick without Spark: packing, shards, state and lines, one after the other."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling import pipeline
from sanderling.batches import ROW, TS, Batch, Slice
from sanderling.deliver.changes import UpdateLines, gather
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.merge.partition import Merge
from sanderling.operate.shard.shard import Shard
from sanderling.operate.where.orders import Chooser
from sanderling.plans.plan import Plan
from sanderling.route.pack import pack
from sanderling.route.parcels import batch_in, parcel_of
from sanderling.state.saved import delta

TICK_US = 1_000_000


class Engine:
    """Shards in this process, a tick a batch."""

    is_kept = False  # whether what is said stays, for who checks it

    def __init__(self, plan: Plan, shards: int = 2, chooser: Chooser | None = None):
        streams = tuple(replace(s, stream=replace(s.stream, format="parquet")) for s in plan.streams)
        self.plan = replace(plan, streams=streams)
        self.shards = [Shard(self.plan, n, chooser=chooser) for n in range(shards)]
        self.lines = UpdateLines(self.plan)
        self.number = 0
        self.said: list[str] = []  # with the last tick, as lines

    def tick(self, columns: dict[str, np.ndarray]) -> tuple[float, int]:  # type: ignore[type-arg]
        """Readings of the next second: how long they took, and how many updates came of them."""
        table = self.readings(columns)
        started = time.perf_counter()
        changes = gather(self.plan, self.told(table))
        lines = [self.lines.of(change.rows) for change in changes.values()]
        taken = time.perf_counter() - started
        self.said = [line for some in lines for line in some.to_pylist()] if self.is_kept else []
        return taken, sum(map(len, lines))

    def told(self, table: pa.Table) -> list[Batch]:
        """What there is to deliver; of queries that are merged nothing."""
        return self.shards_say(table)

    def readings(self, columns: dict[str, Any]) -> pa.Table:
        """What objects say in the next second."""
        self.number += 1
        n = len(next(iter(columns.values())))
        ts = np.full(n, self.number)
        return pa.table(columns | {"ts": ts, TS: ts * TICK_US, ROW: np.arange(1, n + 1)})

    def shards_say(self, table: pa.Table) -> list[Batch]:
        """What the shards make of it; all goes through bytes, as between processes."""
        piece = Slice(self.number, "made", "made", 0, 0, 1, is_last=False)
        (stream,) = self.plan.streams
        batches: list[list[bytes]] = [[] for _ in self.shards]
        read = Ingested(table, LETTERS.empty_table(), table.num_rows)
        for shard, batch in pack(stream, piece, read, len(self.shards)):
            batches[shard].append(parcel_of(batch))
        said = []
        for engine, mine in zip(self.shards, batches, strict=True):
            out = engine.advance([batch_in(data) for data in mine])
            delta(engine)
            said += [parcel_of(b) for b in out]
        return [batch_in(data) for data in said]


class Whole(Engine):
    """With merge partitions behind the shards."""

    def __init__(self, plan: Plan, shards: int = 2):
        super().__init__(plan, shards)
        merges = [Merge(self.plan, number, None, shards) for number in range(shards)]
        self.whole = pipeline.Engine(self.plan, self.shards, merges, lambda batch: batch_in(parcel_of(batch)))

    def told(self, table: pa.Table) -> list[Batch]:
        return self.whole.merged(self.shards_say(table))
