"""What a slice tells of time: how far each partition of a stream's source has come, and who is late by it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools, flat, int64_of
from sanderling.batches import LATE, PARTITION, TS
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, tick_ends


class Seen(NamedTuple):
    """What is known without the slices before it."""

    highs: dict[str, int]  # by partition, the highest time in it; one without a name if they are not known
    min_ts: int  # of all
    columns: dict[str, pa.Array]  # by reading, whether the slice itself makes it late, and its partition


def seen_in(readings: pa.Table, stream: Stream, is_ordered: bool) -> Seen:
    """Only what is in order, all of it or in each partition, makes what comes behind it late."""
    ts = int64_of(readings, TS)
    min_ts = int(ts.min()) if len(ts) else NOTHING_YET
    if stream.partition is None:
        is_late = was_late(ts, stream) if is_ordered else np.zeros(len(ts), np.bool_)
        return Seen({"": int(ts.max())} if len(ts) else {}, min_ts, {LATE: pa.array(is_late)})
    names = flat(readings.column(stream.partition)).cast(pa.string()).dictionary_encode()
    partition = names.indices.to_numpy()
    by_partition = np.argsort(partition, kind="stable")
    starts = np.searchsorted(partition[by_partition], np.arange(len(names.dictionary)))
    highs, is_late = {}, np.zeros(len(ts), np.bool_)
    for name, rows in zip(names.dictionary.to_pylist(), np.split(by_partition, starts)[1:], strict=True):
        highs[name] = int(ts[rows].max())
        is_late[rows] = was_late(ts[rows], stream)
    return Seen(highs, min_ts, {LATE: pa.array(is_late), PARTITION: names.indices})


def was_late(ts: I64, stream: Stream) -> Bools:
    """Of readings in order: those whose tick an earlier one has closed."""
    before = np.maximum.accumulate(ts)[:-1] - stream.lateness_us
    return (
        np.concatenate([[False], tick_ends(ts[1:], stream.tick_us) < before])
        if len(ts)
        else np.empty(0, np.bool_)
    )
