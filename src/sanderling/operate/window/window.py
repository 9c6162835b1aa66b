"""WINDOW: readings that come into a window and leave it, joined with the regions of its queries.

ticks close ──► readings that came    ──┐  in the region, as it was in       ┌──► +
            └─► readings that left     ─┴─► the reading's own tick? WHERE? ──┴──► −

What a reading meets when it leaves is found out again, as when it came: nothing is stored of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools
from sanderling.batches import HIDDEN, Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.operate.inside.meet import Live, Meet, Passage
from sanderling.operate.inside.tell import Tell
from sanderling.operate.operator import Turned
from sanderling.operate.shard.now import Moved, Now
from sanderling.operate.where.asks import Asks
from sanderling.operate.where.orders import Ordered, Orders
from sanderling.operate.window.history import History
from sanderling.operate.window.past import Past
from sanderling.operate.window.rows import listing
from sanderling.plans import operator_ids
from sanderling.plans.plan import Over, StreamPlan
from sanderling.plans.window import Window
from sanderling.space.outlines.polygons import Polygons


class Windowed:
    """Joins what comes and leaves with regions, for all windows of a stream at once.

    Promises (tests/properties/test_window.py):
      exact     changes = difference of two answers computed from scratch
      chunking  cutting the input elsewhere gives the same changes per tick
      cost      a reading that neither comes nor leaves is not touched
    """

    def __init__(self, plan: StreamPlan, polygons: Polygons, figures: Figures, orders: Orders):
        self.plan = plan
        self.asks = Asks(plan, Over.WINDOW, figures, orders)
        self.tell = Tell(plan, self.asks, polygons)
        self.poses = polygons.poses
        self.is_mine = plan.is_over(Over.WINDOW)
        self.windows = plan.windows
        number = {window: i for i, window in enumerate(self.windows)}
        of_template = np.full(max((t.id for t in plan.templates), default=-1) + 1, -1)
        for template in plan.templates:
            if template.window is not None:
                of_template[template.id] = number[template.window]
        self.window_of: I64 = of_template[plan.regions.template]
        # What the kernel takes for a condition is one in one window: so one join does for all windows.
        n = len(self.asks.conditions) + 1
        codes, rule_of = np.unique(self.window_of * n + self.asks.condition_of, return_inverse=True)
        self.rule_window, self.rule_condition = codes // n, codes % n
        # Which of the last of all may be looked up where it is hidden, the merge stage knows.
        self.meet = Meet(plan, rule_of, polygons, self._is_of_all)

    @property
    def _is_of_all(self) -> Bools:
        """By region whether its window holds the last readings of all shards together."""
        return np.array([w.is_of_all for w in self.windows] + [False])[self.window_of]

    # ----- which regions live

    def new_state(self, at: Now) -> Live:
        """As that of INSIDE."""
        return Live.of(self.plan.regions, self._lives(at.closed_to, at.ready), self.poses)

    def _lives(self, tick: int, ready: int) -> Bools:
        return self.is_mine & self.plan.regions.lives(tick, ready)

    def end(self, state: Live, tick: int, now: Now) -> Turned:
        r = self.plan.regions
        is_over, is_gone = r.end <= tick, r.is_gone(tick, now.ready)
        is_ending = state.is_live & (is_over | is_gone)
        if not is_ending.any():
            return Turned(state, [])
        told = self._whole(is_ending & ~is_over, tick, now.past)
        return Turned(Live.of(r, state.is_live & ~is_ending, self.poses), [_turned(batch) for batch in told])

    def begin(self, state: Live, tick: int, now: Now) -> Turned:
        is_beginning = ~state.is_live & self._lives(tick, now.ready)
        if not is_beginning.any():
            return Turned(state, [])
        told = [self._marked(batch, now.past) for batch in self._whole(is_beginning, tick, now.past)]
        return Turned(Live.of(self.plan.regions, state.is_live | is_beginning, self.poses), told)

    def _marked(self, batch: Batch, past: Past) -> Batch:
        """Of the last of all: with a mark at those that met a region where it is hidden."""
        if batch.kind != Kind.LATEST:
            return batch
        regions, history, rows = self.plan.regions, past.held, batch.table
        mine = np.flatnonzero((regions.template == batch.template) & (regions.focal >= 0))
        if not len(mine) or not rows.num_rows:
            return batch
        by_number = np.argsort(history.number)
        number = rows.column("number").to_numpy()
        ticks = history.ticks(by_number[np.searchsorted(history.number[by_number], number)])
        focal_of = np.full(int(regions.query.max()) + 1, -1)
        focal_of[regions.query[mine]] = regions.focal[mine]
        focal = focal_of[rows.column("query").to_numpy()]
        is_hidden = (focal >= 0) & past.whereabouts.is_hidden(ticks, focal)
        return replace(batch, table=rows.append_column(HIDDEN, pa.array(is_hidden)))

    def answer(self, state: Live, queries: list[int], now: Now) -> list[Batch]:
        """But for the last of all, which the merge stage knows."""
        is_asked = state.is_live & ~self._is_of_all & np.isin(self.plan.regions.query, queries)
        return self._whole(is_asked, now.closed_to, now.past)

    def merged_of(self, queries: list[int]) -> list[int]:
        """Those of the queries whose windows hold the last readings of all shards together."""
        mine: list[int] = np.intersect1d(queries, self.plan.regions.query[self._is_of_all]).tolist()
        return mine

    def _whole(self, is_wanted: Bools, tick: int, past: Past) -> list[Batch]:
        """All that some regions hold now, as if every reading had just come."""
        if not is_wanted.any():
            return []
        history, is_used = past.held, self._used(is_wanted)
        is_in = np.stack([_held_by(history, w, used) for w, used in zip(self.windows, is_used, strict=True)])
        rows = np.flatnonzero(is_in.any(axis=0))
        passage = Passage(rows, np.full(len(rows), tick), np.ones(len(rows), np.bool_), is_in[:, rows])
        return self._told(Live.of(self.plan.regions, is_wanted, self.poses), passage, past)

    # ----- what changes

    def apply(self, state: Live, given: Moved) -> list[Batch]:
        """The changes of all live queries over the ticks that have just closed."""
        past = given.now.past
        with self.asks.figures.timed(operator_ids.windows_all(self.plan.stream.name)):
            due = [o for o in given.due if o.template.window is not None]
            told: list[Batch] = [*self._changes(state, past, due)]
        return [*told, listing(past.held)] if past.held.is_listed else told

    def _changes(self, state: Live, past: Past, due: Sequence[Ordered]) -> list[Batch]:
        if not state.is_live.any():
            return []
        history, is_used = past.held, self._used(state.is_live)
        new = np.arange(history.first_new, len(history))
        ticks = history.ticks(new)
        leaves = [history.leaves(w, new) > ticks for w in self.windows]
        is_in = np.stack(leaves) & is_used[:, None]
        figures = self.asks.figures
        for window, came in zip(self.windows, is_in, strict=True):
            figures.add(operator_ids.window(self.plan.stream.name, window), np.count_nonzero(came))
        parts = [Passage(new, ticks, np.ones(len(new), np.bool_), is_in).take(np.asarray(is_in.any(axis=0)))]
        for number, window in enumerate(self.windows):
            if is_used[number]:
                parts.append(self._leaving(number, window, history))
        passage = _together(parts)
        for ordered in due if len(passage) else ():
            assert ordered.template.window is not None
            is_there = passage.is_in[self.windows.index(ordered.template.window)]
            self.meet.probe(state, ordered, passage.row, is_there, history, past.focals)
        return self._told(state, passage, past)

    def _leaving(self, number: int, window: Window, history: History) -> Passage:
        rows = history.left[window]
        tick = history.leaves(window, rows)
        # One that leaves in the tick in which it came has never been in.
        has_been = tick > history.ticks(rows)
        rows, tick = rows[has_been], tick[has_been]
        operator = operator_ids.window(self.plan.stream.name, window)
        self.asks.figures.add(operator, rows_out=len(rows))
        windows = np.zeros((len(self.windows), len(rows)), np.bool_)
        windows[number] = True
        return Passage(rows, tick, np.zeros(len(rows), np.bool_), windows)

    def _used(self, is_live: Bools) -> Bools:
        """The windows of these regions."""
        is_used = np.zeros(len(self.windows), np.bool_)
        is_used[self.window_of[is_live]] = True
        return is_used

    # ----- readings meet regions

    def _told(self, live: Live, passage: Passage, past: Past) -> list[Batch]:
        if not len(passage):
            return []
        history, told = past.held, list[Batch]()
        self.asks.figures.add(operator_ids.windows_all(self.plan.stream.name), len(passage))
        truth = self.asks.judged(history, passage.row)
        judged = replace(passage, is_in=truth[self.rule_condition] & passage.is_in[self.rule_window])
        for pairs in self.meet.pairs(live, judged, history, past):
            told += self.tell.rows(pairs, history, history.number)
        return told


def _turned(batch: Batch) -> Batch:
    """What came, going."""
    name, turn = ("number", pc.bit_wise_not) if batch.kind == Kind.LATEST else ("sign", pc.negate)
    at = batch.table.column_names.index(name)
    return replace(batch, table=batch.table.set_column(at, name, turn(batch.table.column(name))))


def _held_by(history: History, window: Window, is_used: bool) -> Bools:
    return history.is_held(window) if is_used else np.zeros(len(history), np.bool_)


def _together(parts: list[Passage]) -> Passage:
    return Passage(
        np.concatenate([p.row for p in parts]), np.concatenate([p.tick for p in parts]),
        np.concatenate([p.comes for p in parts]), np.concatenate([p.is_in for p in parts], axis=1),
    )  # fmt: skip
