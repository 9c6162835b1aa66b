"""WINDOW n ROWS PER KEY in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64, Growing
from sanderling.clock import tick_ends
from sanderling.kernels.window.history import push, recount
from sanderling.operate.window.holder import Closing, Leaving, by_object
from sanderling.plans.window import RowsPerKey

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class RowsPerKeyHolder(Leaving):
    """A reading leaves with the n-th reading of its object behind it."""

    def __init__(self, window: RowsPerKey, history: History, leave: I64 | None):
        super().__init__(history, leave)
        self.size, n = window.size, len(history.keys)
        # By object the oldest row that it holds, and how many.
        self._first, self._count = Growing(np.full(n, -1), -1), Growing(np.zeros(n, np.int64), 0)
        if leave is None:
            self._push(by_object(history))
        else:
            recount(history.object, leave, self._first.all, self._count.all)

    def advance(self, closing: Closing) -> I64:
        self.leave.grow_to(len(self.history))
        for column in (self._first, self._count):
            column.grow_to(len(self.history.keys))
        return self._push(closing.rows)

    def _push(self, rows: I64) -> I64:
        h, first, count = self.history, self._first.all, self._count.all
        tick = tick_ends(h.ts[rows], h.stream.tick_us)
        return push(self.size, rows, tick, h.object, h.after, first, count, self.leave.all)
