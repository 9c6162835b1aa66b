"""SINCE: what is told of readings of which none ever leaves, and none is kept.

rows that come ──► aggregates, rows once, the first rows: what is kept is the size of the answer

What these hold does not follow from what is there now, so it is asked of them (`Present`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sanderling.arrays import I64, most_kept
from sanderling.operate.sql.aggregate.aggregate import Aggregate, AggregateState
from sanderling.operate.sql.distinct import Distinct
from sanderling.operate.sql.first import First, FirstState
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes


def coming(given: Changes) -> Changes:
    """Without what a shard takes back when a region goes: it has been there."""
    (rows,) = given.inputs
    return replace(given, inputs=[rows.take(np.flatnonzero(rows.sign > 0))])


class GrowingAggregate(Aggregate):
    """Promises (tests/operate/test_growing.py): as over all that ever came; of the least and the greatest
    no other values are kept.
    """

    def apply(self, state: AggregateState, given: Changes) -> Signed:
        found = super().apply(state, coming(given))
        for measured in state.measured.values():
            measured.shed(len(state.groups))
        return found

    def present(self, state: AggregateState, queries: I64, tick: int) -> Signed:
        groups = state.alive
        groups = groups[np.isin(state.groups.rows[groups, 0], queries)]
        steps = Steps.of(groups, np.full(len(groups), tick))
        _, told = self._measured(state, steps, Signed.none([t.arrow for t in self.node.child.types]))
        every = np.arange(len(steps))
        return self._shown(state, steps, told, every, np.ones(len(every), np.int64))


class GrowingDistinct(Distinct):
    """Promise (tests/operate/test_growing.py): each row that ever came, once."""

    def apply(self, state: Multiset, given: Changes) -> Signed:
        return super().apply(state, coming(given))

    def present(self, state: Multiset, queries: I64, tick: int) -> Signed:
        rows = state.alive
        rows = rows[np.isin(state.owner[rows], queries)]
        n = len(rows)
        return Signed(state.owner[rows], np.full(n, tick), np.ones(n, np.int64), state.columns(rows))


class GrowingFirst(First):
    """Promise (tests/operate/test_growing.py): the first of all that ever came; others are not kept."""

    def apply(self, state: FirstState, given: Changes) -> Signed:
        return super().apply(state, coming(given))

    def present(self, state: FirstState, queries: I64, tick: int) -> Signed:
        times = self._times(state)
        rows = np.flatnonzero(times)
        rows = rows[np.isin(state.query_of(rows), queries)]
        return Signed(
            state.query_of(rows), np.full(len(rows), tick), times[rows], state.ranking.columns(rows)
        )

    def _tidy(self, state: FirstState, is_due: bool) -> None:
        """Who is not shown now never will be."""
        rows, times = state.ranking, self._times(state)
        if is_due or len(rows.numbered) > most_kept(int(np.count_nonzero(times))):
            rows.count[: len(times)] = times
            self.restore(state, self.saved(state))

    def _times(self, state: FirstState) -> I64:
        """By row how often it is shown."""
        return np.asarray(state.shown.times[: len(state.ranking.numbered)])

    def held(self, state: FirstState) -> int:
        return int(np.count_nonzero(self._times(state)))
