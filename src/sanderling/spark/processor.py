"""A shard inside transformWithState: the state store is the truth, a copy in the worker is only speed.

The store holds a snapshot and the deltas since. Each commit writes a tag; a worker's copy is used
only if it carries the very tag the store has, so a copy of a failed attempt, of another run or of an
older batch is never taken for the state.
"""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterator
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
from sanderling.state.saved import delta, restore, snapshot

# Shards decoded in this worker, by tag. Spark reuses its Python workers.
_copies: dict[str, tuple[Shard, dict[str, Any]]] = {}
COPIES_KEPT = 8


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

    def _load(self, number: int) -> tuple[Shard, dict[str, Any]]:
        head_bytes = self._get("head")
        if head_bytes is None:
            return self._new_shard(number), {
                "snapshot": 0,
                "snapshot_bytes": 0,
                "deltas": 0,
                "delta_bytes": 0,
            }
        head = json.loads(head_bytes)
        copy = _copies.pop(head["tag"], None)
        if copy is not None:
            return copy
        shard = self._new_shard(number)
        chunks = [self._get(f"snapshot:{i}") or b"" for i in range(head["snapshot"])]
        deltas = [self._get(f"delta:{i}") or b"" for i in range(head["deltas"])]
        restore(shard, b"".join(chunks) if chunks else None, deltas)
        return shard, head

    def _new_shard(self, number: int) -> Shard:
        return Shard(load_plan(*self.plan), number, self.schemas)

    def _save(self, shard: Shard, head: dict[str, Any]) -> None:
        settings = self.settings
        change = delta(shard)
        if head["delta_bytes"] + len(change) > max(settings.least_snapshot_bytes, head["snapshot_bytes"]):
            self._save_snapshot(snapshot(shard), head)
        else:
            self._put(f"delta:{head['deltas']}", change)
            head["deltas"] += 1
            head["delta_bytes"] += len(change)
        head["tag"] = uuid.uuid4().hex
        self._put("head", json.dumps(head).encode())
        while len(_copies) >= COPIES_KEPT:
            del _copies[next(iter(_copies))]
        _copies[head["tag"]] = (shard, head)

    def _save_snapshot(self, data: bytes, head: dict[str, Any]) -> None:
        size = self.settings.state_chunk_bytes
        chunks = [data[i : i + size] for i in range(0, len(data), size)]
        for i, chunk in enumerate(chunks):
            self._put(f"snapshot:{i}", chunk)
        for name in [f"snapshot:{i}" for i in range(len(chunks), head["snapshot"])] + [
            f"delta:{i}" for i in range(head["deltas"])
        ]:
            self.parts.removeKey((name,))
        head |= {"snapshot": len(chunks), "snapshot_bytes": len(data), "deltas": 0, "delta_bytes": 0}

    def _get(self, name: str) -> bytes | None:
        value = self.parts.getValue((name,))
        return bytes(value[0]) if value is not None else None

    def _put(self, name: str, data: bytes) -> None:
        self.parts.updateValue((name,), (data,))
