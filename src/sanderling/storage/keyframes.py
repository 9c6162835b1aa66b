"""Keyframes: everybody's last reading at a time, made of the keyframe before and the readings since."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, int64_of, key_ranks, order_of
from sanderling.batches import TS
from sanderling.catalog import Stream


def moved_on(keyframe: pa.Table, readings: Iterable[pa.Table], stream: Stream) -> pa.Table:
    """The keyframe after these readings, which are in order of time, table by table; in order of key.

    Who is gone is left out. Who is stale is not: that is for whoever reads, who knows for what time.
    """
    last = last_of_each(keyframe, stream.key)
    for table in readings:
        last = last_of_each(pa.concat_tables([last, table]), stream.key).combine_chunks()
    return without_gone(last, stream)


def last_of_each(readings: pa.Table, key: str) -> pa.Table:
    """Each object's last reading, in order of key."""
    return readings.take(pa.array(_last_rows(key_ranks(readings.column(key)), int64_of(readings, TS))))


def _last_rows(keys: I64, ts: I64) -> I64:
    order = order_of(keys, ts)
    is_last = np.r_[keys[order][1:] != keys[order][:-1], True] if len(order) else np.empty(0, np.bool_)
    return np.asarray(order[is_last], np.int64)


def without_gone(readings: pa.Table, stream: Stream) -> pa.Table:
    """Those that are there."""
    if stream.gone is None:
        return readings
    return readings.filter(pc.invert(readings.column(stream.gone).fill_null(False)))


def in_order(readings: pa.Table, key: str) -> pa.Table:
    """By time, and at one time by key."""
    ranks = key_ranks(readings.column(key)) if readings.num_rows else np.empty(0, np.int64)
    return readings.take(pa.array(order_of(int64_of(readings, TS), ranks))).combine_chunks()
