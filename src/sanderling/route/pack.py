"""A slice's readings to batches: each object's to its own shard, focal objects' to the others too.

Every shard gets a batch from every slice, empty or not, with the highest times that the slice has seen: so
all shards know the stream's clock within the same batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.batches import ROW, TS, Batch, Kind, Slice
from sanderling.catalog import Stream
from sanderling.ingest.read import Ingested
from sanderling.kernels.hashing import hash_keys
from sanderling.plans.plan import StreamPlan
from sanderling.route.keys import Keys
from sanderling.route.partitions import seen_in

_FOCALS: dict[str, tuple[pa.Array, Keys]] = {}  # by stream, those that were asked for last


# Of so many focal objects it is told which were heard of.
MOST_MET = 100


def shard_of(keys: pa.Array, n_shards: int) -> I64:
    """The shard each key lives in."""
    return (hash_keys(keys) % np.uint64(n_shards)).astype(np.int64)


def shipped_columns(plan: StreamPlan) -> list[str]:
    """What a shard gets of a reading: key, place, gone, and what some query reads."""
    return [*focal_columns(plan.stream), *plan.kept]


def focal_columns(stream: Stream) -> list[str]:
    """What the other shards get of a focal object's reading: who is where, and when."""
    gone = [stream.gone] if stream.gone else []
    return [stream.key, stream.x, stream.y, *gone, TS]


def _numbered(stream: str, focals: pa.Array) -> Keys:
    """Focal objects are the same from slice to slice, and may be very many."""
    known = _FOCALS.get(stream)
    if known is None or known[0] is not focals:
        known = _FOCALS[stream] = focals, Keys(focals)
    return known[1]


def pack(
    plan: StreamPlan, piece: Slice, ingested: Ingested, n_shards: int, focals: pa.Array | None = None
) -> Iterator[tuple[int, Batch]]:
    """Batches with the shard each goes to; `focals` may hold more keys than the plan's."""
    readings, stream = ingested.readings, plan.stream
    focals = plan.focals if focals is None else focals
    seen = seen_in(readings, stream, piece)
    of_slice = partial(Batch, stream=stream.name, slice=piece, rises=seen.rises, min_ts=seen.min_ts)
    table = readings.select([*shipped_columns(plan), ROW])
    for name, column in seen.columns.items():
        table = table.append_column(name, column)
    table = table.combine_chunks()
    keys = table.column(stream.key)
    flat = keys.chunk(0) if keys.num_chunks else pa.array([], keys.type)
    home = shard_of(flat, n_shards)
    filled = [c.name for c in stream.columns if c.name in table.column_names and _has_value(table, c.name)]
    met = focals.filter(pc.is_in(focals, flat)).to_pylist() if 0 < len(focals) <= MOST_MET else []
    for shard in range(n_shards):
        mine = table.filter(pa.array(home == shard)) if n_shards > 1 else table
        yield shard, of_slice(Kind.READINGS, mine, rows=ingested.rows, filled=filled, met=met)
    if len(focals):
        is_focal = _numbered(stream.name, focals).find(flat) >= 0
        narrow = table.select([*focal_columns(stream), *seen.columns])
        for shard in range(n_shards):
            # A shard has the readings of its own focal objects anyway.
            others = is_focal & (home != shard)
            if others.any():
                yield shard, of_slice(Kind.FOCALS, narrow.filter(pa.array(others)))
    if ingested.letters.num_rows:
        letters = Batch(Kind.LETTERS, ingested.letters, stream.name, slice=piece)
        yield piece.number % n_shards, letters


def _has_value(table: pa.Table, name: str) -> bool:
    return bool(table.column(name).null_count < table.num_rows)


def shard_schema(plan: StreamPlan) -> pa.Schema:
    """The columns a shard holds of a reading."""
    types = {c.name: c.type.arrow for c in plan.stream.columns} | {TS: pa.int64()}
    return pa.schema([(name, types[name]) for name in shipped_columns(plan)])
