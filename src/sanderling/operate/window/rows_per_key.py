"""WINDOW n ROWS PER KEY in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64, Growing
from sanderling.clock import tick_ends
from sanderling.kernels.window.history import push, recount
from sanderling.operate.window.holder import by_object
from sanderling.plans.plan import NEVER, Window

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class PerKey:
    """n ROWS PER KEY: a reading leaves with the n-th reading of its object behind it."""

    def __init__(self, window: Window, history: History, leave: I64):
        self.window, self.history = window, history
        self.leave = Growing(leave, NEVER)
        n = len(history.keys)
        self._first, self._count = Growing(np.full(n, -1), -1), Growing(np.zeros(n, np.int64), 0)
        recount(history.object, leave, self._first.all, self._count.all)

    def begin_anew(self) -> None:
        self._first, self._count = (
            Growing(np.full_like(c.all, d), d) for c, d in ((self._first, -1), (self._count, 0))
        )
        self._push(by_object(self.history))

    def advance(self, rows: I64, followed: I64, ended: I64) -> I64:
        self.leave.grow_to(len(self.history))
        for column in (self._first, self._count):
            column.grow_to(len(self.history.keys))
        return self._push(rows)

    def _push(self, rows: I64) -> I64:
        h = self.history
        tick = tick_ends(h.ts[rows], h.stream.tick_us)
        return push(
            self.window.size, rows, tick, h.object, h.after, self._first.all, self._count.all, self.leave.all
        )
