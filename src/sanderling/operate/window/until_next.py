"""WINDOW UNTIL NEXT in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64, Growing
from sanderling.clock import tick_ends
from sanderling.plans.plan import NEVER, Window

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class UntilNext:
    """UNTIL NEXT: a reading leaves with the next one of its object, or when the object is gone or silent."""

    def __init__(self, window: Window, history: History, leave: I64):
        self.history = history
        self.leave = Growing(leave, NEVER)

    def begin_anew(self) -> None:
        self._look(np.arange(len(self.history)))

    def advance(self, rows: I64, followed: I64, ended: I64) -> I64:
        self.leave.grow_to(len(self.history))
        return self._look(np.unique(np.concatenate([followed, ended])))

    def _look(self, rows: I64) -> I64:
        h, leave = self.history, self.leave.all
        rows = rows[leave[rows] == NEVER]
        after = h.after[rows]
        following = np.where(after >= 0, tick_ends(h.ts[after], h.stream.tick_us), NEVER)
        leave[rows] = np.minimum(following, h.cut[h.segment[rows]])
        return np.asarray(rows[leave[rows] != NEVER])
