"""A shard's state as bytes. A delta is what a batch left that still matters; replaying it gives the state.

snapshot ◄─ delta ◄─ delta ◄─ … = the shard now
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.batches import TS
from sanderling.errors import StateError
from sanderling.operate.pairs import MoveBatch
from sanderling.operate.readings import LastReadings, int64_of
from sanderling.operate.shard import Clock, Shard
from sanderling.route.parcels import tables_from_bytes, tables_to_bytes

FORMAT = 3


def snapshot(shard: Shard) -> bytes:
    """The whole state."""
    tables: dict[str, pa.Table] = {}
    clocks = {}
    for name, stream in shard.streams.items():
        clocks[name] = asdict(stream.clock)
        for part, readings in (("objects", stream.objects), ("focals", stream.focals)):
            tables[f"{part}.last.{name}"] = readings.last()
            tables[f"{part}.pending.{name}"] = readings.pending
            readings.drain()
    return tables_to_bytes(tables, {"format": FORMAT, "clocks": clocks})


def delta(shard: Shard) -> bytes:
    """What changed since the last snapshot or delta."""
    tables: dict[str, pa.Table] = {}
    clocks = {}
    for name, stream in shard.streams.items():
        clocks[name] = asdict(stream.clock)
        for part, readings in (("objects", stream.objects), ("focals", stream.focals)):
            changes = readings.drain()
            if changes.num_rows:
                tables[f"{part}.changes.{name}"] = changes
    return tables_to_bytes(tables, {"format": FORMAT, "clocks": clocks})


def restore(shard: Shard, snapshot_bytes: bytes | None, deltas: list[bytes]) -> None:
    """Brings a new shard to the state that was saved."""
    if snapshot_bytes is not None:
        tables, header = _read(snapshot_bytes)
        for name, stream in shard.streams.items():
            stream.clock = Clock(**header["clocks"][name])
            for part, readings in (("objects", stream.objects), ("focals", stream.focals)):
                _begin(readings, tables[f"{part}.last.{name}"], tables[f"{part}.pending.{name}"])
                readings.drain()
    for data in deltas:
        _replay(shard, data)
    for stream in shard.streams.values():
        stream.refresh()


def catch_up(shard: Shard, deltas: list[bytes]) -> None:
    """Brings a shard that was saved some deltas ago to where it is now; costs by what changed since."""
    for data in deltas:
        for name, (moves, focal_moves, closed_from) in _replay(shard, data).items():
            shard.streams[name].settle(moves, focal_moves, closed_from)


def _replay(shard: Shard, data: bytes) -> dict[str, tuple[MoveBatch, MoveBatch, int]]:
    """Applies a delta to the readings: by stream, what moved, and the tick that had been closed before."""
    tables, header = _read(data)
    moved = {}
    for name, stream in shard.streams.items():
        closed_from = stream.clock.closed_to
        stream.clock = Clock(**header["clocks"][name])
        if f"objects.changes.{name}" in tables:
            stream.objects.accept(tables[f"objects.changes.{name}"])
            stream.accept_own_focals(tables[f"objects.changes.{name}"])
        if f"focals.changes.{name}" in tables:
            stream.focals.accept(tables[f"focals.changes.{name}"])
        moves, focal_moves = (r.close(stream.clock.closed_to) for r in (stream.objects, stream.focals))
        for readings in (stream.objects, stream.focals):
            readings.drain()
        moved[name] = (moves, focal_moves, closed_from)
    return moved


def _begin(readings: LastReadings, last: pa.Table, pending: pa.Table) -> None:
    readings.replace(last.combine_chunks(), np.asarray(int64_of(last, TS)))
    readings.accept(pending)


def _read(data: bytes) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    tables, header = tables_from_bytes(data)
    if header.get("format") != FORMAT:
        raise StateError(
            "state.other_format",
            f"the checkpoint was written in format {header.get('format')}, this version reads {FORMAT}",
            "go on with the version that wrote it, or start with a new checkpoint",
        )
    return tables, header
