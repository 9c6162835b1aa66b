"""Batches that tell shards what to do: another plan, go on with it, say an answer. Each goes to every shard.

PLAN version ──► shards ──► SAID: what each knows of focal objects that are new
                  │             └──► ACTIVATE version, with all that was said ──► its queries begin
                  │             and FILL version, with readings of the past ──► its windows are full
                  │             and RETOLD, HELD ──► one shard ──► PAST: what is told of the past
                  └ the first ──► PLAN ──► merge partitions
ASK queries ──► shards ──► ANSWER: their rows as at the last tick that closed
                  └ the first ──► ASK, of kNN queries only ──► merge partitions ──► ANSWER
RECALL stream ──► shards ──► KEPT: all readings that they have, as at that tick
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from sanderling.batches import NOTHING, Batch, Kind
from sanderling.clock import NOTHING_YET


def announce(version: int) -> Batch:
    """Shards turn to this version of the plan. Without new focal objects its queries begin."""
    return Batch(Kind.PLAN, version=version)


def activate(version: int, streams: Iterable[str], batches: Sequence[Batch]) -> list[Batch]:
    """The version goes on, in the streams that it has new focal objects in, with what the shards said.

    An object lives in one shard, so whose word comes first does not matter.
    """
    found = []
    for stream in streams:
        tables = [
            b.table for b in batches if b.kind == Kind.SAID and b.version == version and b.stream == stream
        ]
        table = pa.concat_tables(tables).combine_chunks() if tables else NOTHING
        found.append(Batch(Kind.ACTIVATE, table, stream, version=version))
    return found


def fill(version: int, stream: str, readings: pa.Table, shards: int) -> Batch:
    """What windows of a version hold of the past: all readings up to the tick that had closed when shards
    turned to it, or those that matter."""
    return Batch(Kind.FILL, readings, stream, version=version, shards=shards)


def retold(version: int, stream: str, template: int, updates: pa.Table, held: pa.Table) -> list[Batch]:
    """What a query tells of the past, and what it held at the end of it."""
    return [
        Batch(kind, rows, stream, template, version=version)
        for kind, rows in ((Kind.RETOLD, updates), (Kind.HELD, held))
        if rows.num_rows
    ]


def told_seconds(seconds: dict[str, float]) -> Batch:
    """What a turn took, by name of lap."""
    return Batch(Kind.SECONDS, pa.table({"name": list(seconds), "seconds": list(seconds.values())}))


def mark(version: int = -1, ask: int = -1) -> Batch:
    """Comes back to the driver with all that was said when it was told."""
    return Batch(Kind.MARK, version=version, ask=ask)


def ask(number: int, queries: Iterable[int], stream: str = "", closed_to: int = NOTHING_YET) -> Batch:
    """The answers of these queries are wanted; `number` tells whose question an ANSWER belongs to."""
    table = pa.table({"query": pa.array(list(queries), pa.int32())})
    return Batch(Kind.ASK, table, stream, ask=number, closed_to=closed_to)


def recall(number: int, streams: Iterable[str]) -> list[Batch]:
    """The readings that shards have of these streams are wanted."""
    return [Batch(Kind.RECALL, stream=stream, ask=number) for stream in streams]
