"""WINDOW 1 HOUR in a shard: times say it all, and nothing is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.clock import NOTHING_YET, tick_ends
from sanderling.operate.window.holder import Closing
from sanderling.plans.window import Lasting

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class LastingHolder:
    """A reading leaves when it is as old as the window is long."""

    leave = None

    def __init__(self, window: Lasting, history: History, leave: I64 | None):
        self.size_us, self.history = window.size_us, history

    def advance(self, closing: Closing) -> I64:
        """Rows between where the window began and where it begins."""
        h, before = self.history, closing.before
        # Nothing is older than what is here: before the first tick, everything is yet to come.
        first = 0 if before == NOTHING_YET else np.searchsorted(h.ts, before - self.size_us, side="right")
        rows = np.arange(first, np.searchsorted(h.ts, h.closed_to - self.size_us, side="right"))
        return np.asarray(rows[h.segment[rows] >= 0])

    def leaves(self, rows: I64) -> I64:
        h = self.history
        return tick_ends(h.ts[rows] + self.size_us, h.stream.tick_us)

    def is_held(self) -> Bools:
        h = self.history
        return np.asarray((h.ts > h.closed_to - self.size_us) & h.is_own)

    @property
    def oldest(self) -> int:
        return self.history.closed_to - self.size_us + 1
