"""An engine in a stage of Spark: its states on disk are the truth, its keeper is only speed.

A state has a tag, by which a keeper (keeper.py) is known to be at the last state, or a few deltas
behind. Where there is none that can take the turn, the engine is restored here (states.py).
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from sanderling.batches import Batch
from sanderling.figures.laps import Laps
from sanderling.route.controls import told_seconds
from sanderling.route.parcels import parcel_of
from sanderling.spark.engines.inbox import batch_now, batch_of
from sanderling.spark.engines.keeper import Kept, ask, leave, place_of
from sanderling.spark.engines.stage import Stage
from sanderling.spark.engines.states import Head, States
from sanderling.spark.engines.turns import Said, Turn
from sanderling.spark.engines.workers import begin_task
from sanderling.state import crash, saved


class StoredEngine(ABC):
    """Brings an engine up to the batch, saves what changed, passes on what it says."""

    def __init__(self, stage: Stage):
        self.stage = stage
        self.said = str(stage.work / "said")

    @abstractmethod
    def new_engine(self, number: int) -> Any: ...

    @abstractmethod
    def blobs(self, engine: Any, turn: Turn, batches: list[Batch]) -> Iterator[tuple[int, bytes]]:
        """What goes on through Spark, with the number of who gets it."""

    def handle(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a batch in, what goes on out. The partition has the number of its engine."""
        begin_task()
        laps = Laps()
        blobs = [memoryview(blob.as_buffer()) for some in rows for blob in some.column("blob")]
        laps.end("shuffle: read")
        task = TaskContext.get()
        assert task is not None
        number, batch = task.partitionId(), batch_now()
        name, settings = f"{self.stage.name}-{number}", self.stage.settings
        states = States(self.stage.work / "states" / name, settings.least_snapshot_bytes, self.stage.since)
        head = states.before(batch)
        if not blobs:
            return states.stay(head, batch)
        turn = Turn(f"{name}-{batch}", batch, uuid.uuid4().hex, states.room_after(head), blobs)
        laps.end("state: load")
        place = place_of(self.stage.plans.mark, name)
        said = self._asked(place, states, head, turn)
        engine = None
        if said is None:
            engine = self._restored(number, states, head)
            laps.end("state: load")
            said = self.take(engine, turn)
        laps.end_with(said.seconds, "keeper")
        crash.point("after-advance")
        states.save(head, batch, turn.tag, said.delta, said.snapshot)
        laps.end("state: save")
        if engine is not None and place is not None:
            leave(place, Kept(engine, turn.tag, saved.catch_up, self.take, self.stage.plans.is_over))
            laps.end("keeper")
        crash.point("after-state")
        yield _rows(said.keys, [bytes(blob) for blob in said.blobs])
        laps.end("operators: pack")
        if settings.is_timed:
            seconds = {f"{self.stage.name}: {lap}": s for lap, s in laps.seconds.items()}
            yield _rows([self.stage.keys[number]], [parcel_of(told_seconds(seconds))])

    def _asked(self, place: Path | None, states: States, head: Head, turn: Turn) -> Said | None:
        """What the keeper makes of the turn, if there is one that can take it."""
        if place is None or not head.tags:
            return None
        tags = [tag for _, tag in head.tags]
        return ask(place, tags, lambda missed: states.deltas(head, missed), turn)

    def take(self, engine: Any, turn: Turn) -> Said:
        """A turn, in whichever process the engine is."""
        laps = Laps()
        batches = [batch_of(blob) for blob in turn.blobs]
        laps.end("shuffle: read")
        out = engine.advance(batches)
        laps.end("operators")
        delta = saved.delta(engine)
        snapshot = saved.snapshot(engine) if len(delta) > turn.room else None
        laps.end("state: save")
        going, keys = list(self.blobs(engine, turn, out)), self.stage.keys
        laps.end("operators: pack")
        return Said([keys[n] for n, _ in going], [b for _, b in going], delta, snapshot, laps.seconds)

    def _restored(self, number: int, states: States, head: Head) -> Any:
        engine = self.new_engine(number)
        engine.is_counting = self.stage.settings.is_counted
        if head.tags:
            saved.restore(engine, *states.leading_to(head))
        return engine


def _rows(keys: list[int], blobs: list[bytes]) -> pa.RecordBatch:
    """What goes on, as rows of Spark."""
    return pa.record_batch({"merge": pa.array(keys, pa.int32()), "blob": pa.array(blobs, pa.binary())})
