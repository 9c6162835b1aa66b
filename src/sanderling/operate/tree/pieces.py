"""A batch in pieces of whole ticks, so that what operators hand on stays bounded, whatever a batch has.

changes in order of tick ──► as many as are good at once, to the end of a tick ──► tree ──► how much it told
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NOTHING_YET

FIRST_CHANGES, MOST_CHANGES = 1 << 12, 1 << 17
# What an operator may tell of a piece before the next one is made smaller.
MOST_ROWS = 1 << 18


class Piece(NamedTuple):
    """Some of the rows of each table, and the tick that has closed behind them."""

    tables: list[pa.Table]
    closed_to: int


class Pieces:
    """How many changes are good at once: learnt from what they became; nothing else depends on it."""

    def __init__(self) -> None:
        self.changes = FIRST_CHANGES

    def of(self, tables: Sequence[pa.Table], closed_to: int = NOTHING_YET) -> Iterator[Piece]:
        """The rows of all tables, tick by tick; those of one tick together. A small batch is one piece.

        The last piece goes on to the tick that has closed.
        """
        if sum(table.num_rows for table in tables) <= self.changes:
            yield Piece(list(tables), closed_to)
            return
        sorted_tables = [in_order_of_tick(table) for table in tables]
        ticks = [ticks_of(table) for table in sorted_tables]
        together = np.sort(np.concatenate(ticks))
        first = 0
        while first < len(together):
            behind = self._end(together, first)
            low, high = together[first], together[behind - 1]
            parts = [
                table[np.searchsorted(own, low, "left") : np.searchsorted(own, high, "right")]
                for table, own in zip(sorted_tables, ticks, strict=True)
            ]
            yield Piece(parts, int(high) if behind < len(together) else closed_to)
            first = behind

    def _end(self, ticks: I64, first: int) -> int:
        """The end of the last tick that is whole within as many changes as are good, or of the first one."""
        if first + self.changes >= len(ticks):
            return len(ticks)
        cut = ticks[first + self.changes]
        return int(np.searchsorted(ticks, cut, "left" if cut > ticks[first] else "right"))

    def learn(self, rows: int) -> None:
        """The most that an operator told of a piece."""
        if rows > MOST_ROWS:
            self.changes = max(self.changes * MOST_ROWS // rows, 1)
        elif rows < MOST_ROWS // 4:
            self.changes = min(2 * self.changes, MOST_CHANGES)


def in_order_of_tick(rows: pa.Table) -> pa.Table:
    """Rows of a tick stay as they stand."""
    tick = ticks_of(rows)
    if (tick[1:] >= tick[:-1]).all():
        return rows
    return rows.take(pa.array(np.argsort(tick, kind="stable")))


def ticks_of(rows: pa.Table) -> I64:
    return np.asarray(rows.column("tick").to_numpy(), np.int64)
