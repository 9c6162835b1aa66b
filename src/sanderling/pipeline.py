"""The stages composed, on one screen: read this first.

queries:  text ─► language ─► plan ─► plans ─────────┐
data:     source ─► ingest ─► route ─► shards ─► exchange ─► merge partitions ─► deliver
                    └── in the reader ──┘  └─────────── Engine ─────────────┘

Spark has the parts of an Engine in two of its stages (spark/engines); tests, benchmarks and the rehearsal of
the demo have all of it in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sanderling.batches import Batch
from sanderling.merge.partition import Merge
from sanderling.operate.shard.shard import Shard
from sanderling.plans.plan import Plan, Plans
from sanderling.route.exchange import Exchange

Carry = Callable[[Batch], Batch]


class Engine:
    """Shards, what passes between, and merge partitions, in one process."""

    def __init__(
        self, plan: Plan, shards: Sequence[Shard], partitions: Sequence[Merge], carry: Carry = lambda p: p
    ):
        """What passes between is carried as `carry` does it."""
        self.shards, self.partitions, self.carry = shards, partitions, carry
        self.exchange = Exchange(plan, len(partitions))

    @classmethod
    def of(cls, plan: Plan, shards: int, partitions: int, plans: Plans | None = None) -> Engine:
        return cls(
            plan,
            [Shard(plan, number, plans) for number in range(shards)],
            [Merge(plan, number, plans, partitions) for number in range(partitions)],
        )

    @property
    def parts(self) -> list[Shard | Merge]:
        """All that remembers."""
        return [*self.shards, *self.partitions]

    def advance(self, batches: Sequence[list[Batch]]) -> list[Batch]:
        """One batch: what a source has for each shard in, what is to be delivered out."""
        return self.merged(self.said(batches))

    def said(self, batches: Sequence[list[Batch]]) -> list[Batch]:
        """What shards make of it."""
        mine = zip(self.shards, batches, strict=True)
        return [said for shard, own in mine for said in shard.advance([self.carry(p) for p in own])]

    def merged(self, said: Iterable[Batch]) -> list[Batch]:
        """What shards said, put together where that needs several of them."""
        finished, sent = self.exchange.split(said)
        mine: list[list[Batch]] = [[] for _ in self.partitions]
        for number, part in sent:
            mine[number].append(self.carry(part))
        done = (p for merge, parts in zip(self.partitions, mine, strict=True) for p in merge.advance(parts))
        return [*finished, *done]
