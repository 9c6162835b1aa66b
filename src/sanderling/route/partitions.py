"""What a slice tells of time: what it does to the clock of each partition, who is late, who is ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools, flat, int64_of
from sanderling.batches import AHEAD_BELOW, LATE, LATE_FROM, PARTITION, ROW, TS, Slice
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, Rise, Rises, tick_ends
from sanderling.kernels.readings.ahead import clocks_asked

KEY_SHOWN = 80  # characters of the key of a reading that moves a clock


class Seen(NamedTuple):
    """What is known without the slices before it."""

    rises: dict[str, Rises]  # by partition; one without a name if they are not known
    min_ts: int  # of all
    columns: dict[str, pa.Array]  # by reading, whether it is late or ahead by the slice, and its partition


def seen_in(readings: pa.Table, stream: Stream, piece: Slice) -> Seen:
    """Only what is in order, all of it or in each partition, makes what comes behind it late."""
    ts = int64_of(readings, TS)
    ahead_us = _bound(stream, piece)
    is_late, rises = np.zeros(len(ts), np.bool_), {}
    ahead_below, late_from = (np.empty(0 if ahead_us is None else len(ts), np.int64) for _ in range(2))
    partition = None if stream.partition is None else _partition(readings, stream.partition)
    for name, rows in _parts(len(ts), partition):
        mine = ts[rows]
        furthest, least = np.array([mine.argmax()]), np.array([NOTHING_YET])
        if ahead_us is not None:
            late_at = tick_ends(mine, stream.tick_us) + stream.lateness_us + 1
            ahead_below[rows], late_from[rows], furthest = clocks_asked(mine, late_at, ahead_us)
            least = ahead_below[rows][furthest]
        elif piece.is_ordered:
            is_late[rows] = was_late(mine, stream)
        at = furthest if isinstance(rows, slice) else rows[furthest]
        rises[name] = Rises(int(mine[0]), _rises(readings, stream, at, least))
    columns = {LATE: pa.array(is_late)}
    if ahead_us is not None:
        columns |= {AHEAD_BELOW: pa.array(ahead_below), LATE_FROM: pa.array(late_from)}
    if partition is not None:
        columns[PARTITION] = partition.indices
    return Seen(rises, int(ts.min()) if len(ts) else NOTHING_YET, columns)


def _bound(stream: Stream, piece: Slice) -> int | None:
    """How far ahead of those before it a reading may be; what is live is judged by the clock on the wall."""
    return stream.ahead_us if piece.is_ordered and not piece.is_live else None


def _partition(readings: pa.Table, name: str) -> pa.DictionaryArray:
    return flat(readings.column(name)).cast(pa.string()).dictionary_encode()


def _parts(n: int, partition: pa.DictionaryArray | None) -> Iterator[tuple[str, I64 | slice]]:
    """By partition its rows, in order."""
    if partition is None:
        yield from [("", slice(0, n))] if n else []
        return
    numbers = partition.indices.to_numpy()
    by_partition = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[by_partition], np.arange(len(partition.dictionary)))
    yield from zip(partition.dictionary.to_pylist(), np.split(by_partition, starts)[1:], strict=True)


def _rises(readings: pa.Table, stream: Stream, rows: I64, least: I64) -> list[Rise]:
    """With who they are: the one at which a clock stands may have to be named."""
    ts, key, number = (readings.column(name) for name in (TS, stream.key, ROW))
    by = zip(rows.tolist(), least.tolist(), strict=True)
    return [Rise(at, ts[i].as_py(), str(key[i].as_py())[:KEY_SHOWN], number[i].as_py()) for i, at in by]


def was_late(ts: I64, stream: Stream) -> Bools:
    """Of readings in order: those whose tick an earlier one has closed."""
    before = np.maximum.accumulate(ts)[:-1] - stream.lateness_us
    return (
        np.concatenate([[False], tick_ends(ts[1:], stream.tick_us) < before])
        if len(ts)
        else np.empty(0, np.bool_)
    )
