"""A shard inside transformWithState: the state store is the truth, a copy in the worker is only speed.

The store holds a snapshot and the deltas since. Each commit writes a tag. Spark gives a shard now to
one worker, now to another: a worker's copy is used only if it carries a tag of the store's last
states, and then brought up by the deltas since. So a copy of a failed attempt or of another run is
never taken for the state.
"""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from sanderling import crash
from sanderling.laps import Laps
from sanderling.operate.shard import Shard
from sanderling.plan.plans import Plan
from sanderling.route.parcels import SECONDS, Parcel
from sanderling.settings import Settings
from sanderling.state.saved import catch_up, delta, restore, snapshot

# Shards decoded in this worker, by run and number, each with the tag of its state. Spark reuses its workers.
_copies: dict[tuple[str, int], tuple[Shard | None, str]] = {}
COPIES_KEPT = 8
# A copy that missed a few turns catches up; a state further back than this has to be restored.
STATES_KNOWN = 8
# A snapshot is written when the deltas since the last one are so many times larger.
DELTAS_PER_SNAPSHOT = 4


@dataclass(slots=True)
class Head:
    """What the store holds: a snapshot in chunks, deltas by number; those from `first` on came after it."""

    snapshot: int = 0
    snapshot_bytes: int = 0
    first: int = 0
    next: int = 0
    delta_bytes: int = 0
    tags: list[str] = field(default_factory=list)  # of the last states; a delta leads from each to the next


@lru_cache(maxsize=4)
def load_plan(path: str, mark: str) -> Plan:
    """The plan that the driver left beside the checkpoint; `mark` tells one run's from another's."""
    plan = pickle.loads(Path(path).read_bytes())
    assert isinstance(plan, Plan)
    return plan


class ShardProcessor(StatefulProcessor):
    """Brings a shard up to the batch, saves what changed, passes on what it says."""

    def __init__(
        self, plan: tuple[str, str], schemas: dict[str, pa.Schema], shard_keys: list[int], settings: Settings
    ):
        # Where the plan is, not the plan: Spark would unpickle it again for every task. A broadcast
        # would do, but the worker that learns the state's schema has none.
        self.plan = plan
        self.schemas = schemas
        self.shard_keys = shard_keys
        self.settings = settings

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.parts = handle.getMapState("parts", "name string", "data binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        laps = Laps()
        parcels = [Parcel.from_bytes(blob) for frame in rows for blob in frame["blob"]]
        laps.end("shuffle: read")
        shard, head = self._load(self.shard_keys.index(key[0]))
        laps.end("state: load")
        out = shard.advance(parcels)
        laps.end("operators")
        crash.point("after-advance")
        self._save(shard, head)
        laps.end("state: save")
        crash.point("after-state")
        blobs = [p.to_bytes() for p in out]
        laps.end("operators: pack")
        if self.settings.is_timed:
            blobs.append(Parcel(SECONDS, pa.table({}), laps.seconds).to_bytes())
        yield pd.DataFrame({"blob": blobs})

    def close(self) -> None:
        pass

    # ----- the state store

    def _load(self, number: int) -> tuple[Shard, Head]:
        head_bytes = self._get("head")
        if head_bytes is None:
            return self._new_shard(number), Head()
        head = Head(**json.loads(head_bytes))
        shard, tag = _copies.pop((self.plan[1], number), (None, ""))
        if shard is not None and tag in head.tags:
            # Another worker may have had the last turns.
            since = len(head.tags) - 1 - head.tags.index(tag)
            catch_up(shard, self._deltas(head.next - since, head.next))
            return shard, head
        shard = self._new_shard(number)
        chunks = [self._get(f"snapshot:{i}") or b"" for i in range(head.snapshot)]
        restore(shard, b"".join(chunks) if chunks else None, self._deltas(head.first, head.next))
        return shard, head

    def _deltas(self, first: int, last: int) -> list[bytes]:
        return [self._get(f"delta:{i}") or b"" for i in range(first, last)]

    def _new_shard(self, number: int) -> Shard:
        return Shard(load_plan(*self.plan), number, self.schemas)

    def _save(self, shard: Shard, head: Head) -> None:
        change = delta(shard)
        self._put(f"delta:{head.next}", change)
        kept_from = min(head.first, head.next + 1 - len(head.tags))
        head.next += 1
        head.delta_bytes += len(change)
        if head.delta_bytes > max(
            self.settings.least_snapshot_bytes, DELTAS_PER_SNAPSHOT * head.snapshot_bytes
        ):
            self._save_snapshot(snapshot(shard), head)
        head.tags = [*head.tags[1 - STATES_KNOWN :], uuid.uuid4().hex]
        for i in range(kept_from, min(head.first, head.next + 1 - len(head.tags))):
            self.parts.removeKey((f"delta:{i}",))
        self._put("head", json.dumps(asdict(head)).encode())
        while len(_copies) >= COPIES_KEPT:
            del _copies[next(iter(_copies))]
        _copies[self.plan[1], shard.number] = (shard, head.tags[-1])

    def _save_snapshot(self, data: bytes, head: Head) -> None:
        size = self.settings.state_chunk_bytes
        chunks = [data[i : i + size] for i in range(0, len(data), size)]
        for i, chunk in enumerate(chunks):
            self._put(f"snapshot:{i}", chunk)
        for i in range(len(chunks), head.snapshot):
            self.parts.removeKey((f"snapshot:{i}",))
        head.snapshot, head.snapshot_bytes = len(chunks), len(data)
        head.first, head.delta_bytes = head.next, 0

    def _get(self, name: str) -> bytes | None:
        value = self.parts.getValue((name,))
        return bytes(value[0]) if value is not None else None

    def _put(self, name: str, data: bytes) -> None:
        self.parts.updateValue((name,), (data,))
