"""A shard's state as bytes. A delta is what a batch left that still matters; replaying it gives the state.

snapshot ◄─ delta ◄─ delta ◄─ … = the shard now
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.batches import TS
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.readings.waiting import Wait
from sanderling.operate.shard import Shard
from sanderling.operate.stream import Clock, StreamShard
from sanderling.route.parcels import pieces_of, tables_from_bytes
from sanderling.sealed import NOT_OURS, broken, opened, sealed

KIND = "state"


def snapshot(shard: Shard) -> bytes:
    """The whole state."""
    tables: dict[str, pa.Table] = {}
    for name, stream in shard.streams.items():
        for part, readings in (("objects", stream.objects), ("focals", stream.focals)):
            tables[f"{part}.last.{name}"] = readings.last()
            tables[f"{part}.pending.{name}"] = readings.pending
            readings.drain()
        if stream.past.held is not None:
            tables[f"history.{name}"] = stream.past.held.history.saved()
            tables[f"whereabouts.{name}"] = stream.past.held.whereabouts.saved()
    return _bytes(shard, tables)


def delta(shard: Shard) -> bytes:
    """What changed since the last snapshot or delta."""
    tables: dict[str, pa.Table] = {}
    for name, stream in shard.streams.items():
        for part, readings in (("objects", stream.objects), ("focals", stream.focals)):
            changes = readings.drain()
            if changes.num_rows:
                tables[f"{part}.changes.{name}"] = changes
    return _bytes(shard, tables)


def restore(shard: Shard, snapshot_bytes: bytes | None, deltas: list[bytes]) -> None:
    """Brings a new shard to the state that was saved; without a snapshot it has to have the first plan."""
    if snapshot_bytes is not None:
        tables, header = read_saved(snapshot_bytes)
        if header["version"] != shard.version:
            shard.begin_at(header["version"])
        for name, stream in shard.streams.items():
            _read_clock(stream, name, tables, header)
            for part, readings in (("objects", stream.objects), ("focals", stream.focals)):
                _begin(readings, tables[f"{part}.last.{name}"], tables[f"{part}.pending.{name}"])
                readings.drain()
            if stream.past.held is not None:
                history, number = stream.past.held.history, header["numbers"][name]
                history.restore(tables[f"history.{name}"], stream.clock.closed_to, number)
                stream.past.held.whereabouts.restore(tables[f"whereabouts.{name}"])
    for data in deltas:
        _replay(shard, data)
    for stream in shard.streams.values():
        stream.rebuild()


def catch_up(shard: Shard, deltas: list[bytes]) -> None:
    """Brings a shard that was saved some deltas ago to where it is now; costs by what changed since."""
    turned: set[str] = set()
    for data in deltas:
        moved, turned_now = _replay(shard, data)
        turned |= turned_now
        for name, (moves, focal_moves, before) in moved.items():
            if name not in turned:
                shard.streams[name].settle(moves, focal_moves, before)
    for name in turned:
        shard.streams[name].compact()
        shard.streams[name].rebuild()


def _replay(shard: Shard, data: bytes) -> tuple[dict[str, tuple[MoveBatch, MoveBatch, Clock]], set[str]]:
    """Applies a delta to the readings.

    By stream what moved and the clock before; and the streams that have another plan now.
    """
    tables, header = read_saved(data)
    _, turned = shard.turn_to(header["version"])
    moved = {}
    for name, stream in shard.streams.items():
        before = stream.clock
        _read_clock(stream, name, tables, header)
        own = tables.get(f"objects.changes.{name}", stream.objects.schema.empty_table())
        stream.accept_again(own, tables.get(f"focals.changes.{name}"))
        moves, focal_moves = stream.close_readings(stream.clock.closed_to)
        for readings in (stream.objects, stream.focals):
            readings.drain()
        moved[name] = (moves, focal_moves, before)
    return moved, turned


def _bytes(shard: Shard, tables: dict[str, pa.Table]) -> bytes:
    """With what is small and always saved whole: clocks, and what waits."""
    clocks, waits, firsts = {}, {}, {}
    for name, stream in shard.streams.items():
        clocks[name], firsts[name] = asdict(stream.clock), stream.first_own
        waits[name] = [wait.version for wait in stream.waiting.waits]
        for wait in stream.waiting.waits:
            tables[f"wait.{wait.version}.{name}"] = pa.table({"key": wait.keys})
        if stream.waiting.waits:
            tables[f"waiting.{name}"] = stream.waiting.readings
    header = {"version": shard.version, "clocks": clocks, "waits": waits, "firsts": firsts}
    header["numbers"] = {
        name: s.past.held.history.next_number for name, s in shard.streams.items() if s.past.held is not None
    }
    return sealed(KIND, pieces_of(tables, header))


def _read_clock(stream: StreamShard, name: str, tables: dict[str, pa.Table], header: dict[str, Any]) -> None:
    stream.clock, stream.first_own = Clock(**header["clocks"][name]), header["firsts"][name]
    stream.waiting.waits = [
        Wait(version, tables[f"wait.{version}.{name}"].column("key").combine_chunks())
        for version in header["waits"][name]
    ]
    stream.waiting.readings = tables.get(f"waiting.{name}", stream.waiting.readings[:0])


def _begin(readings: LastReadings, last: pa.Table, pending: pa.Table) -> None:
    readings.replace(last.combine_chunks(), np.asarray(int64_of(last, TS)))
    readings.accept(pending)


def read_saved(data: bytes) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """What was saved, or an error: a state that was cut off or changed is not gone on with."""
    body = opened(data, KIND, "a saved state")
    try:
        return tables_from_bytes(body)
    except NOT_OURS as e:
        raise broken("a saved state", str(e)) from e
