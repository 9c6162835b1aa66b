"""Updates by key: the new row of a key, or that there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.clock import show_time
from sanderling.deliver.render import joined, json_objects, text_of
from sanderling.errors import SessionError
from sanderling.plans.columns import by_place
from sanderling.server.hub.rows import Piece
from sanderling.server.shown.columns import ShownColumn, key_column
from sanderling.server.shown.forms import ARROW, encoded, objects


def refuse_without_key(name: str, columns: Sequence[ShownColumn]) -> None:
    if key_column(columns) is None:
        raise SessionError("session.bad_argument", f'envelope: "{name}" does not show its key', "select it")


def upserts(piece: Piece, columns: Sequence[ShownColumn]) -> Piece:
    """Of each tick and key the last row that came, else, with −, one that went. A key that has several rows
    shows the last."""
    at = key_column(columns)
    assert at is not None
    if not piece.rows.num_rows:
        return piece
    last = piece.rows.take(pa.array(_last(piece.rows, by_place(at))))
    return Piece(last, piece.tick, piece.is_whole, piece.merged)


def encoded_upserts(piece: Piece, form: str, columns: Sequence[ShownColumn]) -> bytes:
    """Once for all clients."""
    name = f"upsert {form}"
    if name not in piece.encoded:
        last = upserts(piece, columns)
        piece.encoded[name] = (
            encoded(last, form, columns) if form == ARROW else _lines(last.rows, columns)
        )  # fmt: skip
    return piece.encoded[name]


def _lines(last: pa.Table, columns: Sequence[ShownColumn]) -> bytes:
    """By key, the new row or null."""
    at = key_column(columns)
    assert at is not None
    if not last.num_rows:
        return b""
    key = by_place(at)
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
