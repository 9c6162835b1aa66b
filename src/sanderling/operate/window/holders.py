"""Windows that later readings end: which readings each holds, and when the others left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Growing
from sanderling.clock import tick_ends
from sanderling.kernels.window.history import meet, push, rechain, recount, release
from sanderling.operate.where.conditions import judged
from sanderling.plans.columns import is_of_next, name_of
from sanderling.plans.plan import ALWAYS, NEVER, NEXT, PER_KEY, UNTIL, Window

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


# So many readings of an object are compared with those held at once: more, and readings are compared
# with some that others of them have ended; fewer, and a batch takes more rounds.
AT_ONCE = 8


class Holder(Protocol):
    """The readings of one window."""

    leave: Growing  # by row the tick in which it left; NEVER: it is held

    def advance(self, rows: I64, followed: I64, ended: I64) -> I64:
        """Takes new rows, in order of object and time; gives the rows that leave.

        `followed` have a row behind them now, `ended` are the last of an object that was gone or silent.
        """


def holder_of(window: Window, history: History, leave: I64 | None = None) -> Holder:
    """As it was with these `leave`; or as if all rows had come now."""
    kinds: dict[str, type[PerKey | UntilNext | Until]] = {PER_KEY: PerKey, NEXT: UntilNext, UNTIL: Until}
    kind = kinds[window.kind]
    if leave is not None:
        return kind(window, history, leave)
    holder = kind(window, history, np.where(history.is_own, NEVER, ALWAYS))
    if len(history):
        holder.begin_anew()
    return holder


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
        self._push(_by_object(self.history))

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


class Until:
    """UNTIL a condition: a reading leaves with a later one of its object that makes the condition true.

    Or when the object is gone or silent.
    """

    def __init__(self, window: Window, history: History, leave: I64):
        self.window, self.history = window, history
        self.leave = Growing(leave, NEVER)
        self._head = Growing(np.full(len(history.cut), -1), -1)
        self._before = Growing(np.full(len(history), -1), -1)
        rechain(history.segment, leave, self._head.all, self._before.all)

    def begin_anew(self) -> None:
        self._head, self._before = (Growing(np.full_like(c.all, -1), -1) for c in (self._head, self._before))
        h = self.history
        self._compare(_by_object(h))
        release(np.flatnonzero(h.cut != NEVER), self._head.all, self._before.all, self.leave.all, h.cut)

    def advance(self, rows: I64, followed: I64, ended: I64) -> I64:
        h = self.history
        for column in (self.leave, self._before):
            column.grow_to(len(h))
        self._head.grow_to(len(h.cut))
        left = self._compare(rows)
        gone = release(h.segment[ended], self._head.all, self._before.all, self.leave.all, h.cut)
        return np.concatenate([left, gone])

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
        h, store, until = self.history, self.history.store, self.window.until
        assert until is not None
        held_rows, coming_rows = pa.array(held), pa.array(coming)
        columns = {
            r: store.column(name_of(r)).take(coming_rows if is_of_next(r) else held_rows)
            for r in sorted(until.reads)
        }
        is_over = judged(until, columns, len(held))
        over, ticks = held[is_over], tick_ends(h.ts[coming[is_over]], h.stream.tick_us)
        np.minimum.at(self.leave.all, over, ticks)
        return np.unique(over)


def _by_object(history: History) -> I64:
    """All rows that windows of a shard may look at, in order of object and time."""
    own = np.flatnonzero(history.is_own)
    return np.asarray(own[np.argsort(history.object[own], kind="stable")])
