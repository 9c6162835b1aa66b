"""The events of triggers in a shard: readings of the ticks that have just closed. Nothing of them is kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools, float64_of
from sanderling.catalog import Stream
from sanderling.clock import tick_ends


class Events:
    """In order of time; those that say that an object is gone are none."""

    def __init__(self, stream: Stream, schema: pa.Schema, closed_to: int):
        self.stream, self.closed_to = stream, closed_to
        self._take(schema.empty_table(), np.empty(0, np.int64))

    def _take(self, store: pa.Table, ts: I64) -> None:
        self.store, self.ts = store, ts
        self.x: F64 = float64_of(store, self.stream.x)
        self.y: F64 = float64_of(store, self.stream.y)

    def __len__(self) -> int:
        return len(self.ts)

    def ticks(self, rows: I64) -> I64:
        """The ticks that events belong to."""
        return tick_ends(self.ts[rows], self.stream.tick_us)

    def advance(self, closing: pa.Table, ts: I64, ordered: I64, is_gone: Bools, closed_to: int) -> None:
        """Takes the readings of ticks that close; `ordered` are those that count, by object and time."""
        kept = ordered[~is_gone[ordered]]
        kept = kept[np.argsort(ts[kept], kind="stable")]
        self._take(closing.take(pa.array(kept)).combine_chunks(), ts[kept])
        self.closed_to = closed_to
