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
from sanderling.clock import NEVER, NOTHING_YET
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
    """How objects moved in a turn. Rows of readings that it names are kept until it is cleared.

    Another version of the plan may have begun in it, at a tick: those from `begun` on did not count before.
    """

    since: int = NOTHING_YET  # the tick that had closed before
    batches: list[MoveBatch] = field(default_factory=list)
    turned_at: int = ALWAYS
    begun: int | None = None

    def turn(self, tick: int, begun: int) -> None:
        if self.begun is None:
            self.turned_at, self.begun = tick, begun

    def add(self, moves: MoveBatch, closed_to: int) -> None:
        self.since = closed_to if not self.batches else self.since
        self.batches.append(moves)

    def clear(self) -> None:
        self.batches = []
        self.turned_at, self.begun = ALWAYS, None


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

    def looked(self, wanted: Wanted, moved: TurnMoves, objects: LastReadings, begun: int) -> pa.Table:
        """Signed rows of the template. Versions from `begun` on count for nothing yet."""
        template = next(t for t in self.plan.templates if t.id == wanted.template)
        name = operator_ids.inside(template.id)
        with self.tell.asks.figures.timed(name):
            pairs = self._pairs(wanted, moved, objects, begun)
        self.tell.asks.figures.add(name, len(pairs))
        told = self.tell.rows([pairs], objects)
        return told[0].table if told else template.schema().empty_table()

    def _pairs(self, wanted: Wanted, moved: TurnMoves, objects: LastReadings, begun: int) -> PairBatch:
        known, since = self._of_template(wanted.template), max(wanted.after, moved.since)
        who, at = _all_of(known.query, wanted.query)
        number, region = objects.keys.find(wanted.key)[who], known.region[at]
        came, gone = self._lives(region, moved, begun)
        is_there = (number >= 0) & (came <= wanted.until) & (since < gone) & (came < gone)
        who, at, number, region, came, gone = (c[is_there] for c in (who, at, number, region, came, gone))
        # Who is there as a region begins came with it, whenever that was.
        is_new, has_begun = wanted.is_new[who], came > since
        after = np.where(has_begun, came - self.plan.stream.tick_us, since)
        end = np.minimum(gone, self.plan.regions.end[region])
        waiting = self._waiting(number, at, after, end, objects)
        parts = self._moved(waiting, known.geometry, moved, objects, wanted.until)
        first = np.flatnonzero((is_new | has_begun) & (waiting.row >= 0))
        begins = operator_ids.begun(wanted.template)
        self.tell.asks.figures.add(begins, int(np.count_nonzero(is_new)), len(first))
        tick = np.where(has_begun, came, after)[first]
        parts.insert(0, self._there(tick, first, waiting.row[first], region, objects))
        last = np.flatnonzero(gone <= wanted.until)
        if len(last):
            ends = gone[last] - self.plan.stream.tick_us
            leaving = self._waiting(number[last], at[last], ends, ends, objects)
            self._moved(leaving, known.geometry, moved, objects, wanted.until)
            parts.append(self._there(gone[last], last, leaving.row, region, objects, are_leaving=True))
        return self._seen(parts, region, objects)

    def _waiting(self, number: I64, at: I64, after: I64, end: I64, objects: LastReadings) -> Waiting:
        return Waiting(number, at, after, end, objects.row_of[number], np.zeros(len(number), np.bool_))

    def _lives(self, region: I64, moved: TurnMoves, begun: int) -> tuple[I64, I64]:
        """The first tick at which each is there, and the first at which it is not any more.

        What a query asked before it was replaced takes back what it held; one that ends says nothing.
        """
        r, before = self.plan.regions, begun if moved.begun is None else moved.begun
        came, gone = r.begin[region], r.gone[region]
        came = np.where(r.came[region] >= before, np.maximum(came, moved.turned_at), came)
        gone = np.where(r.left[region] >= before, np.maximum(gone, moved.turned_at), gone)
        came = np.where(r.came[region] >= begun, NEVER, came)
        return came, np.where(r.left[region] >= begun, NEVER, gone)

    def _there(
        self, tick: I64, who: I64, row: I64, region: I64, objects: LastReadings, are_leaving: bool = False
    ) -> PairBatch:
        """Of who waits those that are in their regions, as if they had come, or were leaving."""
        n, geometry = len(who), self.plan.regions.written(region[who])
        is_in = held(geometry, np.arange(n), *objects.places(row))
        nobody, nowhere, changed = np.full(n, -1), np.zeros(n, np.bool_), np.zeros(n, np.uint64)
        if are_leaving:
            return PairBatch(tick, who, row, nobody, is_in, nowhere, changed).take(is_in)
        return PairBatch(tick, who, nobody, row, nowhere, is_in, changed).take(is_in)

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
        if not len(pairs):
            return pairs
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


def _all_of(known: I64, wanted: I64) -> tuple[I64, I64]:
    """Where all of each stand among those that are known, in order, with whose they are: of what was
    replaced there are several.
    """
    first, last = (np.searchsorted(known, wanted, side) for side in ("left", "right"))
    count = last - first
    who = np.repeat(np.arange(len(wanted)), count)
    return who, np.arange(len(who)) - np.repeat(np.cumsum(count) - count, count) + first[who]
