"""WINDOW n ROWS in a shard: its own last n readings. Which are the last of all, the merge stage knows.

So each new reading is told to it, by time, key and number; and windows that come later do not see those that
nobody else holds, since which these are differs from shard to shard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.batches import Batch, Kind
from sanderling.clock import ALWAYS, NEVER
from sanderling.operate.window.holder import NO_ROWS, Closing
from sanderling.plans.window import Rows

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class RowsHolder:
    """Readings leave with the n-th behind them, of all shards: no shard says so."""

    leave = None

    def __init__(self, window: Rows, history: History, leave: I64 | None):
        self.size, self.history = window.size, history

    def advance(self, closing: Closing) -> I64:
        return NO_ROWS

    def leaves(self, rows: I64) -> I64:
        return np.full(len(rows), NEVER)

    def is_held(self) -> Bools:
        # Those with the same time as the n-th last may be in it too: their keys decide, elsewhere.
        # Those that others do not see need not count there.
        own = self.history.ts[self.history.is_own]
        oldest = own[-self.size] if len(own) >= self.size else ALWAYS
        return np.asarray(self.history.ts >= oldest)

    @property
    def oldest(self) -> int:
        return self.history.closed_to


def listing(history: History) -> Batch:
    """The new readings, for the order of all."""
    rows = np.arange(history.first_new, len(history))
    return Batch(Kind.LISTING, _listed(history, rows), history.stream.name)


def listing_anew(history: History, reach: int) -> Batch:
    """The readings that may be among the last of all, now that windows have come or gone.

    `reach` is how far it was before.
    """
    rows = np.flatnonzero(history.held_by({w for w in history.windows if w.is_of_all}))
    told = _listed(history, rows).append_column("is_own", pa.array(history.is_own[rows]))
    return Batch(Kind.RELISTING, told, history.stream.name, reach=reach)


def _listed(history: History, rows: I64) -> pa.Table:
    key = history.store.column(history.stream.key).take(pa.array(rows))
    return pa.table({"ts": history.ts[rows], "key": key, "number": history.number[rows]})
