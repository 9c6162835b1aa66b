"""What patterns wait for: regions that are in no grid, and are looked at for some objects only.

who is waited for ─┬─► its last reading before ─┐
moves by object ───┴─► what it did since ───────┴─► in the region? WHERE? ─► signed rows
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import NOTHING_YET
from sanderling.kernels.inside.cross import PLACE_BIT
from sanderling.kernels.inside.held import held
from sanderling.kernels.inside.waited import Waiting, hang, meet
from sanderling.operate.inside.tell import Tell
from sanderling.operate.readings.pairs import MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.plans import operator_ids
from sanderling.plans.plan import ALWAYS, StreamPlan
from sanderling.space.geometry import Geometry


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of a template: queries, each with an object by its key, from `after` up to `until`.

    `is_new`: also what it was at `after`.
    """

    template: int
    query: I64
    key: pa.Array
    is_new: Bools
    after: int
    until: int


@dataclass(slots=True)
class TurnMoves:
    """How objects moved in a turn. Rows of readings that it names are kept until it is cleared."""

    since: int = NOTHING_YET  # the tick that had closed before
    batches: list[MoveBatch] = field(default_factory=list)

    def add(self, moves: MoveBatch, closed_to: int) -> None:
        self.since = closed_to if not self.batches else self.since
        self.batches.append(moves)

    def clear(self) -> None:
        self.batches = []


class Regions(NamedTuple):
    """Those of a template, by query: their numbers, and as they are written."""

    query: I64
    region: I64
    geometry: Geometry


class Waited:
    """Of one plan.

    Promise (tests/properties/test_patterns.py): patterns tell what they tell when all is looked at.
    """

    def __init__(self, plan: StreamPlan, tell: Tell):
        self.plan, self.tell = plan, tell
        self._regions: dict[int, Regions] = {}

    @cached_property
    def is_any(self) -> bool:
        return bool(self.plan.is_waited.any())

    def looked(self, wanted: Wanted, moved: TurnMoves, objects: LastReadings) -> pa.Table:
        """Signed rows of the template."""
        template = next(t for t in self.plan.templates if t.id == wanted.template)
        name = operator_ids.inside(template.id)
        with self.tell.asks.figures.timed(name):
            pairs = self._pairs(wanted, moved, objects)
        self.tell.asks.figures.add(name, len(pairs))
        told = self.tell.rows([pairs], objects)
        return told[0].table if told else template.schema().empty_table()

    def _pairs(self, wanted: Wanted, moved: TurnMoves, objects: LastReadings) -> PairBatch:
        known = self._of_template(wanted.template)
        at, number = _found(known.query, wanted.query), objects.keys.find(wanted.key)
        there = np.flatnonzero((at >= 0) & (number >= 0))
        at, number, is_new = at[there], number[there], wanted.is_new[there]
        # A query that begins in these ticks sees who is there then.
        r, region = self.plan.regions, known.region[at]
        begin = r.begin[region] - np.where(r.begin[region] == ALWAYS, 0, self.plan.stream.tick_us)
        after = np.maximum(begin, max(wanted.after, moved.since))
        n = len(number)
        waiting = Waiting(number, at, after, r.end[region], objects.row_of[number], np.zeros(n, np.bool_))
        parts = self._moved(waiting, known.geometry, moved, objects, wanted.until)
        row = waiting.row
        first = np.flatnonzero(is_new & (row >= 0))
        begun = operator_ids.begun(wanted.template)
        self.tell.asks.figures.add(begun, int(np.count_nonzero(is_new)), len(first))
        return self._seen([self._there(waiting, first, region, objects), *parts], region, objects)

    def _there(self, waiting: Waiting, first: I64, region: I64, objects: LastReadings) -> PairBatch:
        """Who was there when somebody began to wait, as if they had come."""
        ids, rows, nobody = region[first], waiting.row[first], np.full(len(first), -1)
        geometry = self.plan.regions.written(ids)
        is_in = held(geometry, np.arange(len(first)), *objects.places(rows))
        changed = np.zeros(len(first), np.uint64)
        return PairBatch(
            waiting.after[first], first, nobody, rows, np.zeros(len(first), np.bool_), is_in, changed
        ).take(is_in)

    def _moved(
        self, waiting: Waiting, geometry: Geometry, moved: TurnMoves, objects: LastReadings, until: int
    ) -> list[PairBatch]:
        """Pairs of who waits and a move that came, went, or stayed; regions are those of who waits."""
        most = max((int(moves.object.max(initial=-1)) for moves in moved.batches), default=-1)
        head, behind = hang(waiting.object, max(most, int(waiting.object.max(initial=-1))) + 1)
        found = []
        for moves in moved.batches:
            met = meet(
                waiting, head, behind, geometry, moves.tick, moves.object, moves.old_row, moves.new_row,
                objects.x, objects.y, until,
            )  # fmt: skip
            at, changed = met.move, np.zeros(len(met.move), np.uint64)
            old, new = moves.old_row[at], moves.new_row[at]
            found.append(PairBatch(moves.tick[at], met.who, old, new, met.was, met.is_, changed))
        return found

    def _seen(self, parts: list[PairBatch], region: I64, objects: LastReadings) -> PairBatch:
        """With their regions instead of who waits, and those only that a region watches."""
        pairs = PairBatch.concat(parts)
        pairs = replace(pairs, region=region[pairs.region])
        # Most are nowhere near: only of the others it is asked what else has changed.
        old_x, old_y = objects.places(pairs.old_row)
        new_x, new_y = objects.places(pairs.new_row)
        pairs.changed[(old_x != new_x) | (old_y != new_y)] = PLACE_BIT
        met = MoveBatch(pairs.tick, pairs.region, pairs.old_row, pairs.new_row)
        self.tell.asks.mark_changes(pairs.changed, met, objects)
        is_seen = (pairs.changed & self.tell.asks.watch_by_pair[pairs.region]) != 0
        return pairs.take((pairs.was != pairs.is_) | is_seen)

    def _of_template(self, template: int) -> Regions:
        if template not in self._regions:
            mine = np.flatnonzero(self.plan.regions.template == template)
            mine = mine[np.argsort(self.plan.regions.query[mine], kind="stable")]
            query = self.plan.regions.query[mine].astype(np.int64)
            self._regions[template] = Regions(query, mine, self.plan.regions.written(mine))
        return self._regions[template]


def _found(known: I64, wanted: I64) -> I64:
    """Where each stands among those that are known, in order; -1 of those that are not there."""
    if not len(known):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)
