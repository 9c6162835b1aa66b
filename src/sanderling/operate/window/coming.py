"""Readings that come and never leave, in a shard: who holds them elsewhere says when they go.

Here only those of the last tick are held: a region that begins at a tick begins with what comes in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.clock import NEVER
from sanderling.operate.window.holder import NO_ROWS, Closing
from sanderling.plans.window import Coming

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class ComingHolder:
    """Whoever begins holds nothing of what came before its first tick."""

    leave = None

    def __init__(self, window: Coming, history: History, leave: I64 | None):
        self.history = history

    def advance(self, closing: Closing) -> I64:
        return NO_ROWS

    def leaves(self, rows: I64) -> I64:
        return np.full(len(rows), NEVER)

    def is_held(self) -> Bools:
        h = self.history
        return np.asarray((h.ts >= self.oldest) & h.is_own)

    @property
    def oldest(self) -> int:
        return self.history.closed_to - self.history.stream.tick_us + 1
