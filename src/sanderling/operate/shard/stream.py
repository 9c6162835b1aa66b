"""One stream's part of a shard: its objects' last readings and its queries; readings in, changes out.

readings ─► accept ──► close ──► inside, nearest, windows, sightings ──► changes
              └─► readings that are late or ahead come back
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I64, Bools, int64_of
from sanderling.batches import AHEAD_BELOW, LATE, LATE_FROM, PARTITION, ROW, TS, TURNS, Batch, Kind
from sanderling.clock import NOTHING_YET, Clock, Furthest, closed_by, tick_end, tick_ends
from sanderling.figures.figures import Figures
from sanderling.operate.inside.tell import Tell
from sanderling.operate.inside.waited import TurnMoves, Waited, Wanted
from sanderling.operate.operators import operators_over
from sanderling.operate.readings.pairs import NO_MOVES, MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.readings.waiting import Wait, Waiting, is_in
from sanderling.operate.shard.now import Moved, Now, Settled
from sanderling.operate.shard.working import Working
from sanderling.operate.where.asks import Asks
from sanderling.operate.where.orders import ANEW, Chooser, Orders
from sanderling.operate.window.kept import kept_readings
from sanderling.operate.window.past import Past
from sanderling.plans import operator_ids
from sanderling.plans.past import begins_before, needs_readings
from sanderling.plans.plan import ALWAYS, NEVER, Regions, StreamPlan
from sanderling.route.pack import focal_columns
from sanderling.space.outlines.polygons import NO_POLYGONS
from sanderling.state.frame import Frame


class Replayed(NamedTuple):
    """What moved in a batch that others told of, and the clock before it."""

    moves: MoveBatch
    focal_moves: MoveBatch
    before: Clock


class Lives(NamedTuple):
    """Queries in order: when each begins and ends, and the version it came with."""

    query: npt.NDArray[np.int32]
    begin: I64
    came: npt.NDArray[np.int32]
    end: I64


def lives_in(regions: Regions, queries: I64) -> Lives:
    order = np.argsort(regions.query, kind="stable")
    order = order[np.isin(regions.query[order], queries)]
    mine, row = np.unique(regions.query[order], return_index=True)
    # A table's regions come and go; the query begins with the first of them.
    begin, came = regions.begin[order], regions.came[order]
    if len(row):
        begin, came = np.minimum.reduceat(begin, row), np.minimum.reduceat(came, row)
    return Lives(mine, begin, came, regions.end[order][row])


class StreamShard:
    """One stream's part of a shard."""

    asks: Asks
    working: Working
    waited: Waited
    turns: list[int]

    def __init__(self, plan: StreamPlan, schema: pa.Schema, chooser: Chooser | None = None):
        self.plan = plan
        self.stream = plan.stream
        self.clock = Clock()
        self.furthest: Furthest | None = None  # the reading that the clock has moved to in this turn
        self.figures = Figures()
        self.orders = Orders(chooser)
        self.first_own = NOTHING_YET  # the first tick in which an object of this shard reported
        self.objects = LastReadings(plan.stream, schema, previous=plan.previous)
        narrow = pa.schema([schema.field(name) for name in focal_columns(plan.stream)])
        self.focals = LastReadings(plan.stream, narrow, plan.focals)
        self.waiting = Waiting(plan.stream.key, narrow)
        self.filled: list[tuple[pa.Table, pa.Table]] = []  # in this turn: of its objects, of focal objects
        self.retold: list[Batch] = []  # what queries that have not begun held when their past had been told
        self.past = Past(self.objects, self.focals, plan)
        self.polygons = NO_POLYGONS
        self.moved = TurnMoves()
        self._known_lives: tuple[Regions, I64, Lives] | None = None
        self.rebuild()

    def rebuild(self) -> None:
        """What follows from the plan and the readings."""
        regions, is_globe = self.plan.regions, self.plan.stream.is_globe
        self.polygons = self.polygons.of(regions.wkb, regions.focal >= 0, is_globe)
        self._operators()
        regions = self.plan.regions
        times = np.concatenate([regions.begin, regions.end, regions.gone])
        self.turns = [int(t) for t in np.unique(times) if t not in (ALWAYS, NEVER)]
        self.refresh()

    def _operators(self) -> None:
        plan, figures, orders = self.plan, self.figures, self.orders
        self.asks = Asks(plan, figures=figures, orders=orders)
        self.working = Working(operators_over(plan, self.polygons, self.asks, figures, orders))
        self.waited = Waited(plan, Tell(plan, self.asks, self.polygons))

    def _reorder(self) -> None:
        """Of some template WHERE or INSIDE may come first from now on; no answer changes by it."""
        if self.orders.turn(self.price):
            self._operators()
            self.refresh()

    @property
    def price(self) -> float:
        """What another order costs, in microseconds."""
        objects = len(self.objects.row_of) if self.working.places_objects() else 0
        return ANEW * (len(self.plan.regions) + objects)

    # ----- another plan

    def turn_to(self, plan: StreamPlan) -> pa.Table:
        """Goes on under another plan, which `rebuild` has to follow.

        What is known here of focal objects that nobody followed before comes back, in order of arrival.
        """
        came = plan.focals.filter(pa.array(~is_in(plan.focals, self.plan.focals)))
        before, self.plan = self.plan, plan
        self.focals.follow(plan.focals)
        self.past.turn_to(plan, self.clock.closed_to)
        self.waiting.keep(plan.focals)
        if len(came):
            self.waiting.begin(Wait(plan.version, came))
        closed_to = self.clock.closed_to
        if closed_to != NOTHING_YET and (needs_readings(before, plan) or begins_before(plan, closed_to)):
            self.waiting.fills.append(plan.version)
        self.clock.begun = min(self.clock.begun, plan.version)
        self._begin_if_nothing_closed()
        return self.objects.known_of(came).select(self.focals.schema.names)

    def activate(self, version: int, said: pa.Table) -> None:
        """The queries of a version need not wait any longer: this is what other shards knew."""
        self.focals.accept(self.waiting.end(version, said))
        if self.clock.closed_to != NOTHING_YET:
            # Ticks that have closed since: nobody has asked about these objects in them.
            moves = self.past.close_focals(self.clock.closed_to)
            self.working.settle(Settled(self.now, NO_MOVES, moves))
        if self._begin_if_nothing_closed():
            self.refresh()

    # ----- what was before a version, from the archive

    def fill(self, version: int, own: pa.Table, followed: pa.Table) -> bool:
        """Queries of a version need not wait for the past any longer; whether `rebuild` has to follow."""
        if version not in self.waiting.fills:
            return False  # it was told before
        self.waiting.fills.remove(version)
        if not own.num_columns:
            return False  # nothing is needed, or nothing is kept
        self.filled.append((own, followed.select(self.focals.schema.names)))
        self._fill(*self.filled[-1])
        return True

    def _fill(self, own: pa.Table, followed: pa.Table) -> None:
        self.past.fill(own, followed, self.plan, self.clock.closed_to)

    def tell_past(self, batch: Batch) -> list[Batch]:
        """Updates of ticks before a query begins; what is held is taken back when it begins."""
        if batch.version not in self.waiting.fills:
            return []
        if batch.kind == Kind.HELD:
            self.retold.append(batch)
            return []
        return [Batch(Kind.PAST, batch.table, batch.stream, batch.template)]

    def told_before(self, queries: list[int]) -> Iterator[Batch]:
        """What queries hold that have told of the past and have not begun."""
        for batch in self.retold:
            is_asked = np.isin(batch.table.column("query").to_numpy(), queries)
            rows = batch.table.filter(pa.array(is_asked))
            at = rows.column_names.index("sign")
            sign = pa.array(-rows.column("sign").to_numpy()).cast(rows.schema.field(at).type)
            if rows.num_rows:
                rows = rows.set_column(at, rows.schema.field(at), sign)
                yield Batch(Kind.ANSWER, rows, batch.stream, batch.template)

    def _taken_back(self, tick: int) -> list[Batch]:
        begun = [batch for batch in self.retold if batch.version < self.clock.begun]
        self.retold = [batch for batch in self.retold if batch.version >= self.clock.begun]
        told = []
        for batch in begun:
            at = batch.table.column_names.index("tick")
            rows = batch.table.set_column(at, "tick", pa.array(np.full(batch.table.num_rows, tick)))
            told.append(Batch(Kind.PAST, rows, batch.stream, batch.template))
        return told

    def _begin_if_nothing_closed(self) -> bool:
        """Before the first tick a query is as good as there from the start."""
        if self.clock.closed_to == NOTHING_YET:
            self.clock.begun = self.waiting.ready
        return self.clock.closed_to == NOTHING_YET

    # ----- readings in

    def accept(self, batches: list[Batch]) -> list[Batch]:
        """Takes readings, slice by slice in order of arrival; those that are late or ahead come back."""
        refused: list[Batch] = []
        self.furthest = None
        for number in sorted({b.slice.number for b in batches}):
            mine = [b for b in batches if b.slice.number == number]
            for batch in mine:
                refused += self._accept_one(batch)
            # Once: each batch of a slice says the same of it.
            rise = self.clock.see(mine[0].rises, mine[0].min_ts, self.stream.tick_us)
            if rise is not None:
                file = "" if mine[0].slice.is_live else mine[0].slice.file
                self.furthest = Furthest(rise.ts, rise.key, file, rise.row)
            self.clock.is_ended |= mine[0].slice.is_last
        return refused

    def _accept_one(self, batch: Batch) -> Iterator[Batch]:
        table = batch.table
        ends = tick_ends(int64_of(table, TS), self.stream.tick_us)
        is_late, is_ahead = self._judged(batch, ends)
        last = self.objects if batch.kind == Kind.READINGS else self.focals
        readings = table.select(last.schema.names)
        is_refused = is_late | is_ahead
        if is_refused.any():
            readings = readings.filter(pa.array(~is_refused))
        if batch.kind == Kind.READINGS:
            self._see_first(ends[~is_refused])
            self.figures.add(operator_ids.readings(self.stream.name), readings.num_rows)
            self.objects.accept(readings)
            self._accept_focals(self._followed(readings), is_own=True)
        else:
            # There may be objects that nobody follows any more, or that only the next version will.
            self._accept_focals(self._followed(readings), is_own=False)
        if batch.kind == Kind.FOCALS:
            return
        # What came from a file is read there again; a row that was brought comes along.
        kept = [ROW] if self.stream.path or self.stream.format else [*self.objects.schema.names, ROW]
        if self.plan.archive is not None and self.plan.archive.late == "keep" and is_late.any():
            late = table.filter(pa.array(is_late)).select(self.objects.schema.names)
            yield Batch(Kind.LATE_READINGS, late, self.stream.name)
        for kind, is_it in ((Kind.LATE_ROWS, is_late), (Kind.AHEAD_ROWS, is_ahead)):
            if is_it.any():
                rows = table.filter(pa.array(is_it)).select(kept)
                yield Batch(kind, rows, self.stream.name, slice=batch.slice)

    def _judged(self, batch: Batch, ends: I64) -> tuple[Bools, Bools]:
        """Which readings are late, and which are ahead, by the clock as it is before their slice."""
        table = batch.table
        is_late = np.asarray(table.column(LATE).to_numpy(), np.bool_) | (ends <= self.clock.closed_to)
        is_ahead = np.zeros(len(ends), np.bool_)
        if not batch.slice.is_ordered:
            return is_late, is_ahead
        known = _known_of(batch, self.clock.highs)
        if AHEAD_BELOW not in table.column_names:
            return is_late | (ends + self.stream.lateness_us < known), is_ahead
        is_ahead = known < int64_of(table, AHEAD_BELOW)
        return (is_late | (known >= int64_of(table, LATE_FROM))) & ~is_ahead, is_ahead

    def _see_first(self, ends: I64) -> None:
        if len(ends):
            first = int(ends.min())
            self.first_own = first if self.first_own == NOTHING_YET else min(first, self.first_own)

    def _accept_focals(self, readings: pa.Table, is_own: bool) -> None:
        """Focal objects that live here are saved as objects; those of other shards come by other batches."""
        self.focals.accept(self.waiting.take(readings), is_saved=is_own)

    def _followed(self, readings: pa.Table) -> pa.Table:
        """Readings of focal objects, as much of them as others get."""
        if not len(self.plan.focals):
            return self.focals.schema.empty_table()
        keys = readings.column(self.stream.key)
        numbers = self.focals.keys.find(
            pa.concat_arrays(keys.chunks) if len(keys) else self.focals.keys.all[:0]
        )
        mine = readings.select(self.focals.schema.names)
        return mine if (numbers >= 0).all() else mine.filter(pa.array(numbers >= 0))

    # ----- ticks

    def close(self) -> list[Batch]:
        """Closes every tick that the clock has passed."""
        clock, tick_us = self.clock, self.stream.tick_us
        time = clock.max_ts if clock.is_ended else clock.time(self.stream.idle_after_us)
        if time == NOTHING_YET:
            return []
        target = closed_by(time - self.stream.lateness_us, tick_us)
        if clock.is_ended:
            target = tick_end(time, tick_us)
        changes = self.close_to(target)
        self._reorder()
        return changes

    @property
    def told_to(self) -> int:
        """The last tick that closed; of an input that has ended, its last, though time goes on for others."""
        clock = self.clock
        end = tick_end(clock.max_ts, self.stream.tick_us) if clock.is_ended else clock.closed_to
        return min(clock.closed_to, end)

    def go_on_to(self, target: int) -> list[Batch]:
        """Of an input that has ended: what leaves and falls silent while other streams of its queries run.

        Only they are told of it; for all else the input has ended.
        """
        clock = self.clock
        if not clock.is_ended or clock.max_ts == NOTHING_YET or target <= clock.closed_to:
            return []
        branches = {t.id for t in self.plan.templates if t.is_branch}
        changes = self.close_to(target)
        return [c for c in changes if c.kind == Kind.LISTING or c.template in branches]

    def close_to(self, target: int) -> list[Batch]:
        """Closes all ticks up to `target`, stopping where queries begin or end."""
        deltas: list[Batch] = []
        for turn in self._turns_after(self.clock.closed_to):
            if self.clock.closed_to < turn <= target:
                deltas += self._step(turn - self.stream.tick_us)
                if self.clock.begun != self.waiting.ready:
                    self.moved.turn(turn, self.clock.begun)
                self.clock.begun = self.waiting.ready
                taken_back = self.working.end(turn, self.now)
                deltas += self._step(turn)
                deltas += self.working.begin(turn, self.now, taken_back)
                deltas += self._taken_back(turn) if self.retold else []
        deltas += self._step(target)
        if not self.waited.is_any:
            self.tidy()
        return deltas

    def look(self, wanted: Wanted) -> pa.Table:
        """Of objects that a pattern waits for: what its step says of them, in this turn."""
        return self.waited.looked(wanted, self.moved, self.objects, self.clock.begun)

    def tidy(self) -> None:
        """What was replaced is forgotten, now that nobody looks at the turn any more."""
        if self.compact():
            self.refresh()

    def compact(self) -> bool:
        """Whether objects have other numbers now."""
        self.moved.clear()
        self.focals.compact()
        return self.objects.compact()

    def _turns_after(self, closed_to: int) -> list[int]:
        """Ticks at which queries begin or end; the very next one, if some wait for nothing else."""
        if closed_to == NOTHING_YET or self.clock.begun == self.waiting.ready:
            return self.turns
        return sorted({closed_to + self.stream.tick_us, *self.turns})

    def answer(self, queries: list[int]) -> list[Batch]:
        """The whole answers of some queries, as at the last tick that closed."""
        return self.working.answer(queries, self.now)

    def kept(self) -> pa.Table:
        """All readings that are here, as at the last tick that closed."""
        return kept_readings(self.stream, self.objects, self.past.history)

    def merged_of(self, queries: list[int]) -> list[int]:
        """The queries among some whose answers only the merge stage knows."""
        return self.working.merged_of(queries)

    def refresh(self) -> None:
        """What follows from the readings, made anew."""
        self.working.refresh(self.now)

    @property
    def now(self) -> Now:
        return Now(self.objects, self.focals, self.clock.closed_to, self.clock.begun, self.past)

    def settle(self, replayed: Replayed) -> None:
        """What follows from the readings, after moves whose changes have been told by another copy."""
        clock, before = self.clock, replayed.before
        has_turned = before.begun != clock.begun or any(
            before.closed_to < turn <= clock.closed_to for turn in self.turns
        )
        if self.compact() or has_turned:
            self.refresh()
            return
        self.working.settle(Settled(self.now, replayed.moves, replayed.focal_moves))

    def _step(self, target: int) -> list[Batch]:
        if target <= self.clock.closed_to:
            return []
        rows_before = self.objects.row_of.copy()
        moves, focal_moves = self.close_readings(target)
        if self.waited.is_any:
            self.moved.add(moves, self.clock.closed_to)
        self.clock.closed_to = target
        self.figures.add(operator_ids.readings(self.stream.name), rows_out=len(moves))
        if not self.working.operators:
            return []
        columns, due = self.asks.moves(moves, self.objects), self.orders.due(self.price)
        return self.working.apply(Moved(self.now, moves, columns, rows_before, focal_moves, due))

    def close_readings(self, target: int) -> tuple[MoveBatch, MoveBatch]:
        """Readings of ticks up to `target` count from now on: how objects, and focal objects, moved."""
        focal_moves = self.past.close_focals(target)
        return self.objects.close(target), focal_moves

    def told_of(self, queries: I64, before: Clock) -> Batch:
        """How far time has come, and which of these queries have begun since, or ended.

        What is there from the start begins with the first reading that counts; its shard knows.
        """
        clock = self.clock
        mine, begin, came, end = self._lives(queries)
        since = before.closed_to
        had_readings = NOTHING_YET not in (since, self.first_own) and self.first_own <= since
        first = since + self.stream.tick_us if had_readings else self.first_own
        at = np.maximum(begin, first)
        had_begun = (begin <= since) & (came < before.begun) & had_readings
        has_begun = ~had_begun & (at <= clock.closed_to) & (came < clock.begun) & (at < end)
        has_begun &= self.first_own != NOTHING_YET
        has_ended = (since < end) & (end <= clock.closed_to)
        turns = {
            "query": np.concatenate([mine[has_begun], mine[has_ended]]),
            "tick": np.concatenate([at[has_begun], end[has_ended]]),
            "sign": np.repeat([1, -1], [int(has_begun.sum()), int(has_ended.sum())]),
        }
        n = len(turns["query"])
        turns |= {"stream": np.full(n, self.stream.name), "has_past": np.full(n, had_readings)}
        table, closed_to = pa.table(turns, schema=TURNS), int(self.told_to)
        return Batch(Kind.CLOCK, table, self.stream.name, closed_to=closed_to, is_ended=clock.is_ended)

    def _lives(self, queries: I64) -> Lives:
        """Of these queries; looked up once for a plan."""
        regions, known = self.plan.regions, self._known_lives
        if known is None or known[0] is not regions or known[1] is not queries:
            self._known_lives = regions, queries, lives_in(regions, queries)
            return self._known_lives[2]
        return known[2]

    def counted(self) -> Figures:
        """What was done in this batch, and what is held now."""
        figures, name = self.figures, self.stream.name
        figures.hold(operator_ids.readings(name), int(np.count_nonzero(self.objects.row_of >= 0)))
        if self.past.history is not None:
            figures.hold(operator_ids.history(name), len(self.past.history))
        self.orders.tell(figures)
        return figures

    def ticks_closed(self) -> int:
        clock = self.clock
        if NOTHING_YET in (clock.first_tick, clock.closed_to):
            return 0
        return max(0, (self.told_to - clock.first_tick) // self.stream.tick_us + 1)

    # ----- saved and restored

    def saved(self, is_whole: bool) -> Frame:
        """The readings, and what does not follow from them."""
        frame = Frame(values={"clock": asdict(self.clock), "first_own": self.first_own})
        frame.put(self.waiting.saved(), "waiting")
        frame.put(self.objects.saved(is_whole), "objects")
        frame.put(self.focals.saved(is_whole), "focals")
        if is_whole:
            frame.put(self.past.saved(), "past")
        else:
            frame.put(_filled_frame(self.filled), "filled")
        frame.put(_retold_frame(self.retold), "retold")
        self.filled = []
        return frame

    def restore(self, frame: Frame) -> None:
        """Of a new one, what was saved whole; `rebuild` has to follow."""
        self._take_up(frame)
        self.objects.restore(frame.part("objects"))
        self.focals.restore(frame.part("focals"))
        self.past.restore(frame.part("past"), self.clock.closed_to)

    def replay(self, frame: Frame) -> Replayed:
        """What changed in a batch."""
        before = self.clock
        for filled in _filled_in(frame.part("filled")):
            self._fill(*filled)
        self._take_up(frame)
        own = self.objects.changed(frame.part("objects"))
        self.objects.accept(own)
        # First: what waited is older than what came in the batch.
        self.focals.accept(self.focals.changed(frame.part("focals")))
        mine = self._followed(own)
        self.focals.accept(mine.filter(pa.array(~self.waiting.must_wait(mine))))
        moves, focal_moves = self.close_readings(self.clock.closed_to)
        for readings in (self.objects, self.focals):
            readings.drain()
        self.past.archived()  # which was told by whoever was there
        return Replayed(moves, focal_moves, before)

    def _take_up(self, frame: Frame) -> None:
        self.clock, self.first_own = Clock(**frame.values["clock"]), frame.values["first_own"]
        self.waiting.restore(frame.part("waiting"))
        self.retold = _retold_in(frame.part("retold"))


def _filled_frame(filled: list[tuple[pa.Table, pa.Table]]) -> Frame:
    named = [zip((f"own {n}", f"followed {n}"), pair, strict=True) for n, pair in enumerate(filled)]
    return Frame({name: table for pair in named for name, table in pair})


def _filled_in(frame: Frame) -> list[tuple[pa.Table, pa.Table]]:
    return [(frame.tables[f"own {n}"], frame.tables[f"followed {n}"]) for n in range(len(frame.tables) // 2)]


def _retold_frame(retold: list[Batch]) -> Frame:
    tables = {f"{n}": batch.table for n, batch in enumerate(retold)}
    whose = [[batch.stream, batch.template, batch.version] for batch in retold]
    return Frame(tables, {"whose": whose} if whose else {})


def _retold_in(frame: Frame) -> list[Batch]:
    return [
        Batch(Kind.HELD, frame.tables[f"{n}"], stream, template, version=version)
        for n, (stream, template, version) in enumerate(frame.values.get("whose", ()))
    ]


def _known_of(batch: Batch, before: Mapping[str, int]) -> I64:
    """How far the partition of each reading had come; where they are not known, one number for all."""
    clocks = [rises.known(before.get(name, NOTHING_YET)) for name, rises in batch.rises.items()]
    known = np.array(clocks, np.int64)
    return known[int64_of(batch.table, PARTITION)] if PARTITION in batch.table.column_names else known
