"""Who is in a box at a time: of a period key, time and place are read, and the rest of those that are in it.

keyframe, row groups up to the time ──► who was in the box ever ──► their last readings ──► still in it?

Who was in it and left has a later reading elsewhere: so a box may choose candidates, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools, key_ranks

Bounds = tuple[float, float, float, float]  # x1, y1, x2, y2; edges belong to it


@dataclass(frozen=True, slots=True)
class Piece:
    """Readings that were read together: key (maybe as a dictionary), time, and which are in the box."""

    key: pa.Array
    ts: I64
    is_in: Bools


def last_in(pieces: Iterable[Piece]) -> Iterator[tuple[int, I64]]:
    """By piece the rows that are their objects' last readings, and in the box. None has a time twice."""
    found = list(pieces)
    inside = [piece.key.filter(pa.array(piece.is_in)) for piece in found]
    candidates = pa.chunked_array([_plain(keys) for keys in inside]).unique() if inside else None
    if candidates is None or not len(candidates):
        return
    mine = [_rows_of(piece.key, candidates) for piece in found]
    number = np.repeat(np.arange(len(found)), [len(rows) for rows in mine])
    row = np.concatenate(mine)
    keys = [_plain(piece.key.take(pa.array(rows))) for piece, rows in zip(found, mine, strict=True)]
    who = key_ranks(pa.chunked_array(keys))
    ts = np.concatenate([piece.ts[rows] for piece, rows in zip(found, mine, strict=True)])
    is_in = np.concatenate([piece.is_in[rows] for piece, rows in zip(found, mine, strict=True)])
    order = np.lexsort((ts, who))
    is_last = np.append(who[order][1:] != who[order][:-1], True)
    last = order[is_last & is_in[order]]
    for piece in np.unique(number[last]).tolist():
        yield piece, np.sort(row[last[number[last] == piece]])


def _plain(keys: pa.Array) -> pa.Array:
    return keys.dictionary_decode() if pa.types.is_dictionary(keys.type) else keys


def _rows_of(keys: pa.Array, candidates: pa.Array) -> I64:
    """The rows of these objects; of a dictionary each key is looked up once."""
    if pa.types.is_dictionary(keys.type):
        is_one = np.asarray(pc.is_in(keys.dictionary, value_set=candidates).to_numpy(zero_copy_only=False))
        return np.flatnonzero(is_one[keys.indices.to_numpy()])
    return np.flatnonzero(pc.is_in(keys, value_set=candidates).to_numpy(zero_copy_only=False))
