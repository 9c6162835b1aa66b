"""An engine inside transformWithState: the state store is the truth, a copy in the worker is only speed.

The store holds a snapshot and the deltas since. Each commit writes a tag. Spark gives a shard now to
one worker, now to another: a worker's copy is used only if it carries a tag of the store's last
states, and then brought up by the deltas since. So a copy of a failed attempt or of another run is
never taken for the state.
"""

from __future__ import annotations

import json
import os
import uuid
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from sanderling import crash
from sanderling.laps import Laps
from sanderling.route.parcels import SECONDS, Parcel
from sanderling.settings import Settings

# Engines decoded in this worker, by run, stage and number, each with the tag of its state. Spark reuses its
# workers.
_copies: dict[tuple[str, str, int], tuple[Any, str]] = {}
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


def leave_here(tag: str, delta: bytes, gone: list[str]) -> None:
    """For other workers of this machine: from the store it would take ten times as long."""
    folder = _folder()
    if folder is None:
        return
    with suppress(OSError):  # it is only speed
        folder.mkdir(exist_ok=True)
        (folder / f"{tag}.new").write_bytes(delta)
        os.replace(folder / f"{tag}.new", folder / tag)
        for old in gone:
            (folder / old).unlink(missing_ok=True)


def left_here(tag: str) -> bytes | None:
    """The delta that led to a state, if a worker of this machine had the turn."""
    folder = _folder()
    if folder is None:
        return None
    try:
        return (folder / tag).read_bytes()
    except OSError:
        return None


def _folder() -> Path | None:
    """Spark clears its own folder away when it ends."""
    folders = os.environ.get("SPARK_LOCAL_DIRS")
    return Path(folders.split(",")[0]) / "sanderling" if folders else None


class State(Protocol):
    """How an engine is saved and restored; a module of `state/`."""

    def snapshot(self, engine: Any) -> bytes: ...
    def delta(self, engine: Any) -> bytes: ...
    def restore(self, engine: Any, snapshot_bytes: bytes | None, deltas: list[bytes]) -> None: ...
    def catch_up(self, engine: Any, deltas: list[bytes]) -> None: ...


class StoredEngine(StatefulProcessor):
    """Brings an engine up to the batch, saves what changed, passes on what it says."""

    def __init__(self, mark: str, stage: str, keys: list[int], settings: Settings):
        self.mark = mark  # of the run
        self.stage = stage
        self.keys = keys
        self.settings = settings

    @property
    @abstractmethod
    def state(self) -> State: ...

    @abstractmethod
    def new_engine(self, number: int) -> Any: ...

    @abstractmethod
    def rows(self, engine: Any, turn: str, parcels: list[Parcel]) -> pd.DataFrame:
        """What goes on through Spark; `turn` names this turn of this engine, also when it is taken again."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.parts = handle.getMapState("parts", "name string", "data binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        laps = Laps()
        parcels = [Parcel.from_bytes(blob) for frame in rows for blob in frame["blob"]]
        laps.end("shuffle: read")
        number = self.keys.index(key[0])
        engine, head = self._load(number)
        turn = f"{self.stage}-{number}-{head.next}"
        laps.end("state: load")
        out = engine.advance(parcels)
        laps.end("operators")
        crash.point("after-advance")
        self._save(number, engine, head)
        laps.end("state: save")
        crash.point("after-state")
        yield self.rows(engine, turn, out)
        laps.end("operators: pack")
        if self.settings.is_timed:
            seconds = {f"{self.stage}: {name}": s for name, s in laps.seconds.items()}
            yield self.rows(engine, turn, [Parcel(SECONDS, pa.table({}), seconds)])

    def close(self) -> None:
        pass

    # ----- the state store

    def _load(self, number: int) -> tuple[Any, Head]:
        head_bytes = self._get("head")
        if head_bytes is None:
            return self.new_engine(number), Head()
        head = Head(**json.loads(head_bytes))
        engine, tag = _copies.pop((self.mark, self.stage, number), (None, ""))
        if engine is not None and tag in head.tags:
            # Another worker may have had the last turns.
            since = head.tags[head.tags.index(tag) + 1 :]
            first = head.next - len(since)
            missed = [left_here(t) or self._delta(first + i) for i, t in enumerate(since)]
            self.state.catch_up(engine, missed)
            return engine, head
        engine = self.new_engine(number)
        chunks = [self._get(f"snapshot:{i}") or b"" for i in range(head.snapshot)]
        deltas = [self._delta(i) for i in range(head.first, head.next)]
        self.state.restore(engine, b"".join(chunks) if chunks else None, deltas)
        return engine, head

    def _delta(self, number: int) -> bytes:
        return self._get(f"delta:{number}") or b""

    def _save(self, number: int, engine: Any, head: Head) -> None:
        change = self.state.delta(engine)
        self._put(f"delta:{head.next}", change)
        kept_from = min(head.first, head.next + 1 - len(head.tags))
        head.next += 1
        head.delta_bytes += len(change)
        if head.delta_bytes > max(
            self.settings.least_snapshot_bytes, DELTAS_PER_SNAPSHOT * head.snapshot_bytes
        ):
            self._save_snapshot(self.state.snapshot(engine), head)
        gone = head.tags[: 1 - STATES_KNOWN] if len(head.tags) >= STATES_KNOWN else []
        head.tags = [*head.tags[1 - STATES_KNOWN :], uuid.uuid4().hex]
        leave_here(head.tags[-1], change, gone)
        for i in range(kept_from, min(head.first, head.next + 1 - len(head.tags))):
            self.parts.removeKey((f"delta:{i}",))
        self._put("head", json.dumps(asdict(head)).encode())
        while len(_copies) >= COPIES_KEPT:
            del _copies[next(iter(_copies))]
        _copies[self.mark, self.stage, number] = (engine, head.tags[-1])

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
