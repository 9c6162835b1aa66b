"""All readings that a shard has of a stream, told again: last ones, and those that windows hold.

What is told is enough to begin anew at the last tick that closed, and to answer as if it had been there.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, flat, int64_of, key_ranks
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.clock import NEVER, NOTHING_YET, tick_end
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.window.history import History


def kept_readings(stream: Stream, objects: LastReadings, history: History | None) -> pa.Table:
    """In order of time; an object that went away in between says so, at a time between its readings."""
    names = objects.schema.names
    last = objects.last().select(names)
    if history is None or not len(history):
        return _in_order(last)
    is_new = pa.array(history.holds_not(objects.last()))
    held = history.store.select(names)
    return _in_order(pa.concat_tables([held, last.filter(is_new), _goings(stream, history, objects)]))


def each_once(key: str, readings: pa.Table, more: pa.Table) -> pa.Table:
    """Both in order of time; what is in both comes once, as it is in the first."""
    both = pa.concat_tables([readings.select(more.column_names), more]).combine_chunks()
    ts, who = int64_of(both, TS), key_ranks(both.column(key))
    order = np.lexsort((np.arange(len(ts)), ts, who))
    is_first = np.append(True, (np.diff(who[order]) != 0) | (np.diff(ts[order]) != 0))[: len(order)]
    rows = order[is_first]
    return both.take(pa.array(rows[np.argsort(ts[rows], kind="stable")])).combine_chunks()


def last_tick(readings: pa.Table, stream: Stream) -> int:
    ts = int64_of(readings, TS)
    return tick_end(int(ts.max()), stream.tick_us) if len(ts) else NOTHING_YET


def _goings(stream: Stream, history: History, objects: LastReadings) -> pa.Table:
    """Where a stream can say so; who falls silent is found again by the time."""
    names = objects.schema.names
    if stream.gone is None:
        return objects.schema.empty_table()
    rows, ts = _ends(stream, history, objects)
    found = history.store.select(names).take(pa.array(rows))
    at = names.index(stream.gone)
    found = found.set_column(at, found.field(at), pa.array(np.ones(len(rows), np.bool_)))
    return found.set_column(names.index(TS), TS, pa.array(ts))


def _ends(stream: Stream, history: History, objects: LastReadings) -> tuple[I64, I64]:
    """The last reading of each segment that has ended, and a time behind it, in the tick in which it did."""
    is_last = np.append(history.segment, -1)[history.after] != history.segment
    cut = np.append(history.cut, NEVER)[history.segment]
    is_away = ~np.isin(history.object[: len(history)], history.keys.find(flat(objects.last()[stream.key])))
    has_ended = is_last & ((cut != NEVER) | (is_away & (history.after < 0)))
    rows = np.flatnonzero(has_ended)
    behind = np.where(cut[rows] == NEVER, 0, cut[rows] - stream.tick_us + 1)
    return rows, np.maximum(history.ts[rows] + 1, behind)


def _in_order(readings: pa.Table) -> pa.Table:
    order = np.argsort(int64_of(readings, TS), kind="stable")
    return readings.take(pa.array(order)).combine_chunks()
