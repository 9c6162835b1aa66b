"""WINDOW UNTIL a condition in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Growing
from sanderling.clock import NEVER, tick_ends
from sanderling.kernels.window.history import meet, rechain, release
from sanderling.operate.where.conditions import judged
from sanderling.operate.window.holder import Closing, Leaving, by_object
from sanderling.plans.columns import is_of_next, name_of
from sanderling.plans.window import Until

if TYPE_CHECKING:
    from sanderling.operate.window.history import History

# So many readings of an object are compared with those held at once: more, and readings are compared
# with some that others of them have ended; fewer, and a batch takes more rounds.
AT_ONCE = 8


class UntilHolder(Leaving):
    """A reading leaves with a later one of its object that makes the condition true.

    Or when the object is gone or silent.
    """

    def __init__(self, window: Until, history: History, leave: I64 | None):
        super().__init__(history, leave)
        self.condition = window.condition
        # The held rows of a segment, chained, the last first.
        self._head = Growing(np.full(len(history.cut), -1), -1)
        self._before = Growing(np.full(len(history), -1), -1)
        if leave is None:
            self._compare(by_object(history))
            self._release(np.flatnonzero(history.cut != NEVER))
        else:
            rechain(history.segment, leave, self._head.all, self._before.all)

    def advance(self, closing: Closing) -> I64:
        h = self.history
        for column in (self.leave, self._before):
            column.grow_to(len(h))
        self._head.grow_to(len(h.cut))
        left = self._compare(closing.rows)
        return np.concatenate([left, self._release(h.segment[closing.ended])])

    def _release(self, segments: I64) -> I64:
        return release(segments, self._head.all, self._before.all, self.leave.all, self.history.cut)

    def _compare(self, rows: I64) -> I64:
        """The new rows with those that are held: a few of each segment at a time, since they may end many."""
        h, left = self.history, [np.empty(0, np.int64)]
        segment = h.segment[rows]
        place = np.arange(len(rows)) - np.maximum.accumulate(
            np.where(np.append(True, segment[1:] != segment[:-1])[: len(rows)], np.arange(len(rows)), 0)
        )
        turn = place // AT_ONCE
        by_turn = np.argsort(turn, kind="stable")
        for some in np.split(rows[by_turn], np.flatnonzero(np.diff(turn[by_turn])) + 1):
            held, coming = meet(some, h.segment, self._head.all, self._before.all, self.leave.all)
            if len(held):
                left.append(self._end(held, coming))
        return np.concatenate(left)

    def _end(self, held: I64, coming: I64) -> I64:
        h, until = self.history, self.condition
        columns = {r: self._column(r, coming if is_of_next(r) else held) for r in sorted(until.reads)}
        is_over = judged(until, columns, len(held))
        over, ticks = held[is_over], tick_ends(h.ts[coming[is_over]], h.stream.tick_us)
        np.minimum.at(self.leave.all, over, ticks)
        return np.unique(over)

    def _column(self, name: str, rows: I64) -> pa.ChunkedArray | pa.Array:
        """What the condition reads by this name, of some rows."""
        return self.history.store.column(name_of(name)).take(pa.array(rows))
