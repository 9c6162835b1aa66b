"""WINDOW UNTIL NEXT in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64
from sanderling.clock import NEVER, tick_ends
from sanderling.operate.window.holder import Closing, Leaving
from sanderling.plans.window import UntilNext

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class UntilNextHolder(Leaving):
    """A reading leaves with the next one of its object, or when the object is gone or silent."""

    def __init__(self, window: UntilNext, history: History, leave: I64 | None):
        super().__init__(history, leave)
        if leave is None:
            self._look(np.arange(len(history)))

    def advance(self, closing: Closing) -> I64:
        self.leave.grow_to(len(self.history))
        return self._look(np.unique(np.concatenate([closing.followed, closing.ended])))

    def _look(self, rows: I64) -> I64:
        h, leave = self.history, self.leave.all
        rows = rows[leave[rows] == NEVER]
        after = h.after[rows]
        following = np.where(after >= 0, tick_ends(h.ts[after], h.stream.tick_us), NEVER)
        leave[rows] = np.minimum(following, h.cut[h.segment[rows]])
        return np.asarray(rows[leave[rows] != NEVER])
