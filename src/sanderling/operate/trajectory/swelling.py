"""STAY_WITHIN and PASS_WITHIN of a distance that changes with time: rows that are within it, tick by tick.

rows with how far apart they are ──► from which tick on they are within it, up to which ─┐
                                     when they come and go ──────────────────────────────┴─► signed rows

It only grows, or only shrinks: a row has one tick at which that changes, which is known when it comes.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.clock import ALWAYS, NEVER, tick_ends
from sanderling.operate.sql.rows.codes import Column, as_doubles
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.trajectory.turning import Turning, Turns
from sanderling.plans import nodes


class Swelling(Turns):
    """Promises (tests/operate/test_swelling.py): exact at every tick, however batches are cut, also where
    nothing comes; what is gone is freed.
    """

    def __init__(self, node: nodes.Swelling):
        self.node = node

    def new_state(self, at: None) -> Turning:
        return Swelled(self.node)


class Swelled(Turning):
    """Of each row from which tick on, up to which, it is within the distance."""

    def __init__(self, node: nodes.Swelling):
        self.node = node
        super().__init__([t.arrow for t in node.types])

    def _begin(self) -> None:
        super()._begin()
        self._opens, self._closes = Grown(NEVER, np.int64), Grown(NEVER, np.int64)

    def _learn(self, rows: I64, columns: list[Column]) -> None:
        n = len(self.numbered)
        values, is_null = as_doubles(columns[self.node.distance])
        opens, closes = bounds(self.node, np.where(is_null, np.nan, values))
        self._opens.up_to(n)[rows], self._closes.up_to(n)[rows] = opens, closes

    def _turns(self, there: I64, first: int, last: int) -> tuple[I64, I64]:
        found = []
        for kept in (self._opens, self._closes):
            ticks = kept.up_to(len(self.numbered))[there]
            mine = (ticks >= first) & (ticks <= last)
            found.append((there[mine], ticks[mine]))
        (one, opens), (other, closes) = found
        return np.concatenate([one, other]), np.concatenate([opens, closes])

    def _are_in(self, row: I64, tick: I64) -> Bools:
        n = len(self.numbered)
        return np.asarray((self._opens.up_to(n)[row] <= tick) & (tick < self._closes.up_to(n)[row]))

    def look_ahead(self) -> None:
        rows, n = self.alive, len(self.numbered)
        ticks = np.concatenate([kept.up_to(n)[rows] for kept in (self._opens, self._closes)])
        self.next_due = int(ticks[ticks > self.walked_to].min(initial=NEVER))


def bounds(node: nodes.Swelling, values: F64) -> tuple[I64, I64]:
    """By distance the first tick at which it is within, and the first at which it is not any more."""
    grows = node.growth >= 0
    # The first step at which that changes, by halves; behind the last one: never.
    low, high = np.zeros(len(values), np.int64), np.full(len(values), _last_step(node) + 1)
    while (low < high).any():
        middle = (low + high) // 2
        is_over = is_within(node, middle, values) == grows
        low, high = np.where(is_over, low, np.minimum(middle + 1, high)), np.where(is_over, middle, high)
    tick = tick_ends(node.begin_us + low * node.every_us, node.tick_us)
    is_never, is_first = low > _last_step(node), low == 0
    if grows:
        return np.where(is_never, NEVER, np.where(is_first, ALWAYS, tick)), np.full(len(values), NEVER)
    return np.where(is_first, NEVER, ALWAYS), np.where(is_never, NEVER, tick)


def is_within(node: nodes.Swelling, step: I64, values: F64) -> Bools:
    times = 1 + step * node.growth
    radius = node.radius * times
    return np.asarray((times > 0) & (values <= (radius * radius if node.is_square else radius)))


def _last_step(node: nodes.Swelling) -> int:
    """Behind it nothing changes: it ends, or nothing is left."""
    steps = (node.until_us - node.begin_us) // node.every_us
    return steps if node.growth >= 0 else min(steps, int(2 / -node.growth) + 1)
