"""Shards and merge partitions as stages of Spark.

blobs ──by shard──► shards ──by merge partition──► merge partitions ──► the driver
                      └──────────► parts of the log ◄──┘

What needs no merging is in a part by then: only its name goes through the merge stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sanderling.batches import Batch, Kind
from sanderling.deliver.log import put_part
from sanderling.merge.partition import Merge
from sanderling.operate.pattern.own_state import States
from sanderling.operate.shard.shard import Shard
from sanderling.route.exchange import Exchange
from sanderling.route.parcels import parcel_of
from sanderling.spark.engines.stored import StoredEngine
from sanderling.spark.engines.turns import Turn


class ShardProcessor(StoredEngine):
    """All streams of a shard."""

    def new_engine(self, number: int) -> Any:
        plans = self.stage.plans
        return Shard(plans.plan(self.stage.first), number, plans.plan)

    def blobs(self, engine: Any, turn: Turn, batches: list[Batch]) -> Iterator[tuple[int, bytes]]:
        """With the merge partition that each goes to: what is not to be merged goes with its own shard's."""
        if not self.stage.plans.is_merged(engine.version):
            yield from ((engine.number, blob) for blob in put_part(self.said, f"{turn.name}.arrow", batches))
            return
        exchange = Exchange(self.stage.plans.plan(engine.version), len(self.stage.keys))
        finished, sent = exchange.split(batches)
        # No row that is finished passes through the merge stage, however few there are.
        rows, signals = (
            [b for b in finished if b.table.num_rows],
            [b for b in finished if not b.table.num_rows],
        )
        for blob in (
            *put_part(self.said, f"{turn.name}.arrow", rows, least=0),
            *(parcel_of(b) for b in signals),
        ):
            yield engine.number, blob
        for number, share in sent:
            yield number, self.stage.inbox.put(share, turn.batch)


class MergeProcessor(StoredEngine):
    """All queries of a merge partition."""

    def new_engine(self, number: int) -> Any:
        plans = self.stage.plans
        settings = self.stage.settings
        states = States(plans.state, settings.state_seconds, settings.are_states_checked)
        return Merge(plans.plan(self.stage.first), number, plans.plan, len(self.stage.keys), states)

    def blobs(self, engine: Any, turn: Turn, batches: list[Batch]) -> Iterator[tuple[int, bytes]]:
        # The name of a part of a shard's is not to be hidden in a part of ours.
        own, names = [b for b in batches if b.kind != Kind.PART], [b for b in batches if b.kind == Kind.PART]
        for blob in (*put_part(self.said, f"{turn.name}.arrow", own), *(parcel_of(b) for b in names)):
            yield engine.number, blob
