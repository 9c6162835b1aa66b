"""Readings for the archive: those that count in ticks that close, told by the turn in which they do."""

from __future__ import annotations

import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.batches import Batch, Kind


class Shipping:
    """A keeper that keeps nothing: what closed in a turn goes with what the turn tells.

    Promises (tests/engine/test_archived.py):
      all of them  each reading that counts is told once, with all its declared columns
      whole ticks  in the turn in which its tick closes
    """

    def __init__(self, stream: str, schema: pa.Schema):
        self._stream, self._names = stream, schema.names
        self._closed: list[pa.Table] = []

    def advance(self, closing: pa.Table, ts: I64, ordered: I64, is_gone: Bools, closed_to: int) -> None:
        if len(ordered):
            mine = closing.select(self._names)
            # Mostly all of them count, and nobody asks for an order.
            self._closed.append(mine if len(ordered) == len(mine) else mine.take(pa.array(ordered)))

    def told(self) -> list[Batch]:
        """What came since it was asked last."""
        closed, self._closed = self._closed, []
        return [Batch(Kind.ARCHIVED, pa.concat_tables(closed), self._stream)] if closed else []
