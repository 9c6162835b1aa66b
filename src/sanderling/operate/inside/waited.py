"""What patterns wait for: regions that are in no grid, and are looked at for some objects only.

who is waited for ─┬─► its last reading before ─┐
moves by object ───┴─► what it did since ───────┴─► in the region? WHERE? ─► signed rows
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import NOTHING_YET
from sanderling.kernels.inside.cross import PLACE_BIT
from sanderling.kernels.inside.held import held
from sanderling.kernels.readings.fold import rows_by_object
from sanderling.operate.inside.tell import Tell
from sanderling.operate.readings.pairs import NO_MOVES, MoveBatch, PairBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.plans import operator_ids
from sanderling.plans.plan import ALWAYS, StreamPlan


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


class ByObject(NamedTuple):
    """Moves, and those of each object in order of tick: they stand in `order` from its start to the next."""

    moves: MoveBatch
    starts: I64
    order: I64

    def of(self, number: I64) -> tuple[I64, I64]:
        """Where those of some objects begin and end."""
        most = len(self.starts) - 1
        return self.starts[np.minimum(number, most)], self.starts[np.minimum(number + 1, most)]


@dataclass(slots=True)
class TurnMoves:
    """How objects moved in a turn. Rows of readings that it names are kept until it is cleared."""

    since: int = NOTHING_YET  # the tick that had closed before
    batches: list[MoveBatch] = field(default_factory=list)
    _by_object: ByObject | None = None

    def add(self, moves: MoveBatch, closed_to: int) -> None:
        self.since = closed_to if not self.batches else self.since
        self.batches.append(moves)
        self._by_object = None

    def clear(self) -> None:
        self.batches, self._by_object = [], None

    @property
    def by_object(self) -> ByObject:
        if self._by_object is None:
            columns = ("tick", "object", "old_row", "new_row")
            parts = [NO_MOVES, *self.batches]
            moves = MoveBatch(*(np.concatenate([getattr(p, name) for p in parts]) for name in columns))
            count = np.bincount(moves.object, minlength=1)
            order = rows_by_object(moves.object, len(count), np.arange(len(moves)))
            self._by_object = ByObject(moves, np.concatenate([[0], np.cumsum(count)]), order)
        return self._by_object


class Waited:
    """Of one plan.

    Promise (tests/properties/test_patterns.py): patterns tell what they tell when all is looked at.
    """

    def __init__(self, plan: StreamPlan, tell: Tell):
        self.plan, self.tell = plan, tell
        self._regions: dict[int, tuple[I64, I64]] = {}

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
        region, number = self._of_queries(wanted.template, wanted.query), objects.keys.find(wanted.key)
        there = np.flatnonzero((region >= 0) & (number >= 0))
        region, number, is_new = region[there], number[there], wanted.is_new[there]
        known = moved.by_object
        (start, end), moves = known.of(number), known.moves
        move = known.order[_ranges(start, end)]
        of = np.repeat(np.arange(len(number)), end - start)
        # A query that begins in these ticks sees who is there then.
        r, tick = self.plan.regions, moves.tick[move]
        begin = r.begin[region] - np.where(r.begin[region] == ALWAYS, 0, self.plan.stream.tick_us)
        after = np.maximum(begin, max(wanted.after, moved.since))
        is_before = tick <= after[of]
        passed = np.bincount(of, is_before, len(number)).astype(np.int64)
        row = self._rows_before(known, start, start + passed, end, objects.row_of[number])
        first = np.flatnonzero(is_new & (row >= 0))
        begun = operator_ids.begun(wanted.template)
        self.tell.asks.figures.add(begun, int(np.count_nonzero(is_new)), len(first))
        is_asked = ~is_before & (tick <= wanted.until) & (tick < r.end[region[of]])
        move, of = move[is_asked], of[is_asked]
        nobody = np.full(len(first), -1)
        return self._met(
            np.concatenate([after[first], moves.tick[move]]),
            np.concatenate([region[first], region[of]]),
            np.concatenate([nobody, moves.old_row[move]]),
            np.concatenate([row[first], moves.new_row[move]]),
            objects,
        )

    def _rows_before(self, known: ByObject, start: I64, first: I64, end: I64, now: I64) -> I64:
        """Where objects were before the first of their moves that counts; `now` are their last readings."""
        row, moves, order = now.copy(), known.moves, known.order
        has_more, has_moved = first < end, start < end
        row[has_moved] = moves.new_row[order[end[has_moved] - 1]]
        row[has_more] = moves.old_row[order[first[has_more]]]
        return row

    def _met(self, tick: I64, region: I64, old: I64, new: I64, objects: LastReadings) -> PairBatch:
        """Who came, went, or stayed with a change that the region watches."""
        geometry, ids = self.plan.regions.written(region), np.arange(len(region))
        was, is_ = (held(geometry, ids, *objects.places(row)) for row in (old, new))
        changed = np.zeros(len(tick), np.uint64)
        pairs = PairBatch(tick, region, old, new, was, is_, changed).take(was | is_)
        # Most are nowhere near: only of the others it is asked what else has changed.
        old_x, old_y = objects.places(pairs.old_row)
        new_x, new_y = objects.places(pairs.new_row)
        pairs.changed[(old_x != new_x) | (old_y != new_y)] = PLACE_BIT
        met = MoveBatch(pairs.tick, pairs.region, pairs.old_row, pairs.new_row)
        self.tell.asks.mark_changes(pairs.changed, met, objects)
        is_seen = (pairs.changed & self.tell.asks.watch_by_pair[pairs.region]) != 0
        return pairs.take((pairs.was != pairs.is_) | is_seen)

    def _of_queries(self, template: int, queries: I64) -> I64:
        """Their regions; -1 of those that are gone."""
        if template not in self._regions:
            mine = np.flatnonzero(self.plan.regions.template == template)
            mine = mine[np.argsort(self.plan.regions.query[mine], kind="stable")]
            self._regions[template] = self.plan.regions.query[mine].astype(np.int64), mine
        query, region = self._regions[template]
        if not len(query):
            return np.full(len(queries), -1)
        at = np.minimum(np.searchsorted(query, queries), len(query) - 1)
        return np.where(query[at] == queries, region[at], -1)


def _ranges(start: I64, end: I64) -> I64:
    """All numbers from each start to its end, one after the other."""
    length = end - start
    skipped = (
        np.repeat(start - np.concatenate([[0], np.cumsum(length)[:-1]]), length) if len(start) else start
    )
    return np.arange(int(length.sum())) + skipped
