"""An engine inside transformWithState: the state store is the truth, its keeper is only speed.

The store holds a snapshot and the deltas since. Each commit writes a tag, by which a keeper
(keeper.py) is known to be at the store's state, or a few deltas behind. Where there is none that
can take the turn, the engine is restored here.
"""

from __future__ import annotations

import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import MapState

from sanderling import crash
from sanderling.laps import Laps
from sanderling.route.parcels import Kind, Parcel
from sanderling.settings import Settings
from sanderling.spark.engines.keeper import Kept, ask, leave, place_of
from sanderling.spark.engines.turns import Said, Turn
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.plans import PlanFolder
from sanderling.state import saved

# A keeper that missed a few turns, which another machine took, catches up; one further back is of no use.
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


class StoredEngine(ABC):
    """Brings an engine up to the batch, saves what changed, passes on what it says."""

    parts: MapState  # where its stage (stage.py) has the state

    def __init__(self, plans: PlanFolder, stage: str, keys: list[int], settings: Settings):
        self.plans = plans
        self.stage = stage
        self.keys = keys
        self.settings = settings

    @abstractmethod
    def new_engine(self, number: int) -> Any: ...

    @abstractmethod
    def blobs(self, engine: Any, turn: str, parcels: list[Parcel]) -> Iterator[tuple[int, bytes]]:
        """What goes on through Spark, with the number of who gets it."""

    @abstractmethod
    def frame(self, keys: list[int], blobs: list[bytes]) -> pd.DataFrame:
        """The same as rows of Spark."""

    def handle(self, key: Any, rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """The rows of a batch in, what goes on out."""
        begin_task()
        laps = Laps()
        blobs = [blob for frame in rows for blob in frame["blob"]]
        laps.end("shuffle: read")
        number = self.keys.index(key[0])
        head = self._head()
        turn = Turn(f"{self.stage}-{number}-{head.next}", uuid.uuid4().hex, self._room(head), blobs)
        laps.end("state: load")
        place = place_of(self.plans.mark, self.stage, number)
        said = self._asked(place, head, turn)
        engine = None
        if said is None:
            engine = self._restored(number, head)
            laps.end("state: load")
            said = self.take(engine, turn)
        laps.end_with(said.seconds, "keeper")
        crash.point("after-advance")
        self._save(head, turn, said)
        laps.end("state: save")
        if engine is not None and place is not None:
            leave(place, Kept(engine, turn.tag, saved.catch_up, self.take, self.plans.is_over))
            laps.end("keeper")
        crash.point("after-state")
        yield self.frame(said.keys, [bytes(blob) for blob in said.blobs])
        laps.end("operators: pack")
        if self.settings.is_timed:
            seconds = {f"{self.stage}: {name}": s for name, s in laps.seconds.items()}
            yield self.frame([key[0]], [Parcel(Kind.SECONDS, pa.table({}), seconds).to_bytes()])

    def _asked(self, place: Path | None, head: Head, turn: Turn) -> Said | None:
        """What the keeper makes of the turn, if there is one that can take it."""
        if place is None or not head.tags:
            return None
        return ask(place, head.tags, lambda missed: self._deltas(head.next - missed, head.next), turn)

    def take(self, engine: Any, turn: Turn) -> Said:
        """A turn, in whichever process the engine is."""
        laps = Laps()
        parcels = [Parcel.from_bytes(blob) for blob in turn.blobs]
        laps.end("shuffle: read")
        out = engine.advance(parcels)
        laps.end("operators")
        delta = saved.delta(engine)
        snapshot = saved.snapshot(engine) if len(delta) > turn.room else None
        laps.end("state: save")
        going = list(self.blobs(engine, turn.name, out))
        laps.end("operators: pack")
        return Said([self.keys[n] for n, _ in going], [b for _, b in going], delta, snapshot, laps.seconds)

    # ----- the state store

    def _head(self) -> Head:
        head_bytes = self._get("head")
        return Head() if head_bytes is None else Head(**json.loads(head_bytes))

    def _room(self, head: Head) -> int:
        """The bytes that the next delta may have before a snapshot takes the place of all."""
        most = max(self.settings.least_snapshot_bytes, DELTAS_PER_SNAPSHOT * head.snapshot_bytes)
        return most - head.delta_bytes

    def _restored(self, number: int, head: Head) -> Any:
        engine = self.new_engine(number)
        if head.next:
            chunks = [self._get(f"snapshot:{i}") or b"" for i in range(head.snapshot)]
            deltas = self._deltas(head.first, head.next)
            saved.restore(engine, b"".join(chunks) if chunks else None, deltas)
        return engine

    def _deltas(self, first: int, end: int) -> list[bytes]:
        return [self._get(f"delta:{i}") or b"" for i in range(first, end)]

    def _save(self, head: Head, turn: Turn, said: Said) -> None:
        self._put(f"delta:{head.next}", bytes(said.delta))
        kept_from = min(head.first, head.next + 1 - len(head.tags))
        head.next += 1
        head.delta_bytes += len(said.delta)
        if said.snapshot is not None:
            self._save_snapshot(bytes(said.snapshot), head)
        head.tags = [*head.tags[1 - STATES_KNOWN :], turn.tag]
        for i in range(kept_from, min(head.first, head.next + 1 - len(head.tags))):
            self.parts.removeKey((f"delta:{i}",))
        self._put("head", json.dumps(asdict(head)).encode())

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
