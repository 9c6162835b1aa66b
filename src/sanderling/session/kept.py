"""The past that the shards of a session have: as at the last tick that closed, and not before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.ask.files import no_archive
from sanderling.ask.once import Pieces
from sanderling.batches import ROW, TS, Batch, Slice
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, show_time
from sanderling.errors import QueryError
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.plan.last_queries import ROWS
from sanderling.storage.lately import Bounds


@dataclass(slots=True)
class KeptByShards:
    """What shards have, asked for when it is known which streams are read."""

    recall: Callable[[list[str]], list[Batch]]  # of some streams, all as after one batch
    _kept: dict[str, list[Batch]] = field(default_factory=dict)

    def now(self, streams: Sequence[Stream]) -> int | None:
        names = [stream.name for stream in streams]
        told = self.recall(names)
        self._kept = {name: [batch for batch in told if batch.stream == name] for name in names}
        return max(batch.closed_to for batch in told)

    def upto(
        self, stream: Stream, last: int | None, reach: int | None, bounds: Bounds | None = None
    ) -> Pieces:
        kept = self._kept[stream.name]
        closed_to = max((batch.closed_to for batch in kept), default=NOTHING_YET)
        if last is not None and last < closed_to:
            raise none_kept(stream, "leave out the time: it is answered as at the last tick that closed")
        if last is not None and last > max(b.closed_to for mine in self._kept.values() for b in mine):
            now = "no tick has closed yet" if closed_to == NOTHING_YET else f"it is {show_time(closed_to)}"
            raise QueryError(
                "history.not_yet", f'of "{stream.name}" {now}', "ask again when it has come so far"
            )
        tables = [batch.table for batch in kept if batch.table.num_rows]
        return [(_PIECE, _ingested(pa.concat_tables(tables)))] if tables else []

    def between(self, stream: Stream, first: int, last: int | None, bounds: Bounds | None = None) -> pa.Table:
        raise none_kept(stream, "a window has what it holds: FROM stream [RANGE 10 MINUTES]")

    def last(self, stream: Stream) -> pa.Table:
        raise no_archive(stream)

    def queries(self) -> pa.Table:
        return ROWS.empty_table()

    def snapshot(self, stream: Stream, last: int) -> tuple[int, Pieces]:
        raise no_archive(stream)


_PIECE = Slice(0, "", "", 0, 0, 0, is_last=False)


def _ingested(readings: pa.Table) -> Ingested:
    """In order of time, whichever shards they come from."""
    readings = readings.take(pa.array(np.argsort(int64_of(readings, TS), kind="stable")))
    readings = readings.append_column(ROW, pa.array(np.arange(readings.num_rows)))
    return Ingested(readings.combine_chunks(), LETTERS.empty_table(), readings.num_rows)


def none_kept(stream: Stream, hint: str) -> QueryError:
    return QueryError("history.none", f'no past is kept of "{stream.name}"', hint)
