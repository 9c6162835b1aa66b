"""Updates by key: the new row of a key, or that there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.clock import show_time
from sanderling.deliver.render import joined, json_objects, text_of
from sanderling.plans.columns import by_place
from sanderling.server.hub.rows import Piece
from sanderling.server.shown.columns import ShownColumn, key_column
from sanderling.server.shown.forms import objects


def upserts(piece: Piece, columns: Sequence[ShownColumn]) -> bytes:
    """Of each tick and key the last row that came, else null. A key that has several rows shows the last."""
    at = key_column(columns)
    assert at is not None
    rows = piece.rows
    if not rows.num_rows:
        return b""
    key = by_place(at)
    last = rows.take(pa.array(_last(rows, key)))
    ticks = pa.array([show_time(t) for t in last.column("tick").cast(pa.int64()).to_pylist()], pa.string())
    is_in = pc.greater(last.column("sign"), 0).combine_chunks()
    row = pc.if_else(is_in, joined(*objects(last, columns)), "null")
    keys = joined(*json_objects([(columns[at].name, key)], last))
    return bytes(text_of(joined('{"tick": "', ticks, '", "key": ', keys, ', "row": ', row, "}\n")))


def _last(rows: pa.Table, key: str) -> I64:
    """The last row of each tick and key: − stand before +."""
    keys = rows.column(key).combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
    _, tick = np.unique(rows.column("tick").cast(pa.int64()).to_numpy(), return_inverse=True)
    both = tick.astype(np.int64) * (int(keys.max()) + 1) + keys
    _, from_behind = np.unique(both[::-1], return_index=True)
    return np.sort(len(both) - 1 - from_behind)
