"""WINDOW: readings that come into a window and leave it, joined with the regions of its queries.

ticks close ──► readings that came    ──┐  in the region, as it was in       ┌──► +
            └─► readings that left     ─┴─► the reading's own tick? WHERE? ──┴──► −

What a reading meets when it leaves is found out again, as when it came: nothing is stored of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools, flat
from sanderling.batches import HIDDEN, DeltaBatch, LatestBatch, ListingBatch, SightingBatch
from sanderling.figures import Figures
from sanderling.kernels.inside.cross import Moves, Rules, cross
from sanderling.kernels.inside.grid import Grid, build_grid, no_grid
from sanderling.kernels.trigger.sightings import listed
from sanderling.operate.inside.tell import Tell, Told
from sanderling.operate.now import Moved, Now
from sanderling.operate.operator import Turned
from sanderling.operate.readings.pairs import MoveBatch, PairBatch
from sanderling.operate.where.asks import Asks, alike
from sanderling.operate.where.orders import Ordered, Orders
from sanderling.operate.where.probe import a_few, arrived, found
from sanderling.operate.where.slotted import MOST_PAIRS
from sanderling.operate.window.held import Held
from sanderling.operate.window.history import History
from sanderling.operate.window.rows import listing
from sanderling.plans import operator_ids
from sanderling.plans.plan import StreamPlan, Template
from sanderling.plans.window import Window
from sanderling.space.coverages import are_everywhere
from sanderling.space.geometry import Geometry
from sanderling.space.motion import hidden

# For fewer readings of a tick than this no grid over moving regions is made.
WORTH_A_GRID = 8


@dataclass(frozen=True, slots=True)
class Passage:
    """Readings that come into windows or leave them, in certain ticks; `windows` × readings: which."""

    row: I64
    tick: I64
    comes: Bools
    windows: Bools

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: npt.NDArray[Any]) -> Passage:
        return Passage(self.row[chosen], self.tick[chosen], self.comes[chosen], self.windows[:, chosen])


@dataclass(slots=True)
class WindowState:
    """Which regions live now, and a grid over those that stand still; rebuilt rather than saved."""

    is_live: Bools
    sighted: list[tuple[Template, I64]]  # of triggers that ask for no place, by template
    everywhere_ids: I64  # they hold any place
    still_ids: I64
    geometry: Geometry
    grid: Grid
    moving_ids: I64


class Windowed:
    """Joins what comes and leaves with regions, for all windows of a stream at once.

    Promises (tests/properties/test_window.py):
      exact     changes = difference of two answers computed from scratch
      chunking  cutting the input elsewhere gives the same changes per tick
      cost      a reading that neither comes nor leaves is not touched
    """

    def __init__(
        self, plan: StreamPlan, polygons: npt.NDArray[np.object_], figures: Figures | None = None,
        orders: Orders | None = None,
    ):  # fmt: skip
        self.plan = plan
        self.asks = Asks(plan, is_windowed=True, figures=figures, orders=orders)
        self.tell = Tell(plan, self.asks, polygons)
        self.is_mine = plan.is_windowed
        self.windows = plan.windows
        number = {window: i for i, window in enumerate(self.windows)}
        of_template = np.full(max((t.id for t in plan.templates), default=-1) + 1, -1)
        for template in plan.templates:
            if template.window is not None:
                of_template[template.id] = number[template.window]
        if not self.windows:
            n = len(plan.regions)
            self.window_of: I64 = alike(np.int64(-1), n)
            self.rule_of: I64 = self.window_of
            self.rule_window = self.rule_condition = np.empty(0, np.int64)
            return
        self.window_of = of_template[plan.regions.template]
        # What the kernel takes for a condition is one in one window: so one join does for all windows.
        n = len(self.asks.conditions) + 1
        codes, self.rule_of = np.unique(self.window_of * n + self.asks.condition_of, return_inverse=True)
        self.rule_window, self.rule_condition = codes // n, codes % n

    # ----- which regions live

    def new_state(self, at: Now) -> WindowState:
        """As that of INSIDE."""
        return self._with_live(self._lives(at.closed_to, at.ready))

    def _lives(self, tick: int, ready: int) -> Bools:
        return self.is_mine & self.plan.regions.lives(tick, ready)

    def _with_live(self, is_live: Bools) -> WindowState:
        regions = self.plan.regions
        is_still, is_everywhere = regions.focal < 0, are_everywhere(regions.kind)
        everywhere, still, moving = (
            np.flatnonzero(is_live & some)
            for some in (is_still & is_everywhere, is_still & ~is_everywhere, ~is_still)
        )
        sighted, is_sighted = self._sighted_of(everywhere)
        geometry = regions.written(still)
        return WindowState(
            is_live, sighted, everywhere[~is_sighted], still, geometry, build_grid(geometry), moving
        )

    def _sighted_of(self, ids: I64) -> tuple[list[tuple[Template, I64]], Bools]:
        """Those of the regions of which conditions say it all, judged by the reading."""
        template_of = self.plan.regions.template[ids]
        templates = [t for t in self.plan.templates if t.is_sighted and t.id not in self.asks.by_pair]
        is_sighted = np.isin(template_of, [t.id for t in templates])
        found = [(t, ids[template_of == t.id]) for t in templates]
        return [(t, mine) for t, mine in found if len(mine)], is_sighted

    def end(self, state: WindowState, tick: int, now: Now) -> Turned:
        r = self.plan.regions
        is_over, is_gone = r.end <= tick, r.is_gone(tick, now.ready)
        is_ending = state.is_live & (is_over | is_gone)
        if not is_ending.any():
            return Turned(state, [])
        leaving = is_ending & ~is_over
        told = self._whole(leaving, tick, now.held) if now.held is not None and leaving.any() else []
        # What a trigger has seen stays seen.
        turned = [_turned(b) for b in told if not isinstance(b, SightingBatch)]
        return Turned(self._with_live(state.is_live & ~is_ending), turned)

    def begin(self, state: WindowState, tick: int, now: Now) -> Turned:
        is_beginning = ~state.is_live & self._lives(tick, now.ready)
        if now.held is None or not is_beginning.any():
            return Turned(state, [])
        told = [self._marked(batch, now.held) for batch in self._whole(is_beginning, tick, now.held)]
        return Turned(self._with_live(state.is_live | is_beginning), told)

    def _marked(self, batch: Told, held: Held) -> Told:
        """Of the last of all: with a mark at those that met a region where it is hidden."""
        if not isinstance(batch, LatestBatch):
            return batch
        regions, history, rows = self.plan.regions, held.history, batch.rows
        mine = np.flatnonzero((regions.template == batch.template) & (regions.focal >= 0))
        if not len(mine) or not rows.num_rows:
            return batch
        by_number = np.argsort(history.number)
        number = rows.column("number").to_numpy()
        ticks = history.ticks(by_number[np.searchsorted(history.number[by_number], number)])
        focal_of = np.full(int(regions.query.max()) + 1, -1)
        focal_of[regions.query[mine]] = regions.focal[mine]
        focal = focal_of[rows.column("query").to_numpy()]
        is_hidden = (focal >= 0) & held.whereabouts.is_hidden(ticks, focal)
        return LatestBatch(batch.template, rows.append_column(HIDDEN, pa.array(is_hidden)))

    def answer(self, state: WindowState, queries: list[int], now: Now) -> list[DeltaBatch]:
        """But for the last of all, which the merge stage knows."""
        if now.held is None:
            return []
        is_of_all = np.array([w.is_of_all for w in self.windows] + [False])[self.window_of]
        is_asked = state.is_live & ~is_of_all & np.isin(self.plan.regions.query, queries)
        told = self._whole(is_asked, now.closed_to, now.held) if is_asked.any() else []
        return [batch for batch in told if isinstance(batch, DeltaBatch)]

    def merged_of(self, queries: list[int]) -> list[int]:
        """Those of the queries whose windows hold the last readings of all shards together."""
        is_of_all = np.array([w.is_of_all for w in self.windows] + [False])[self.window_of]
        mine: list[int] = np.intersect1d(queries, self.plan.regions.query[is_of_all]).tolist()
        return mine

    def _whole(self, is_wanted: Bools, tick: int, held: Held) -> list[Told]:
        """All that some regions hold now, as if every reading had just come."""
        state = self._with_live(is_wanted)
        history, is_used = held.history, self._used(is_wanted)
        is_in = np.stack([_held_by(history, w, used) for w, used in zip(self.windows, is_used, strict=True)])
        rows = np.flatnonzero(is_in.any(axis=0))
        comes = np.ones(len(rows), np.bool_)
        return self._told(state, Passage(rows, np.full(len(rows), tick), comes, is_in[:, rows]), held)

    # ----- what changes

    def apply(self, state: WindowState, given: Moved) -> list[Told | ListingBatch]:
        """The changes of all live queries over the ticks that have just closed."""
        held = given.now.held
        if held is None:
            return []
        with self.asks.figures.timed(operator_ids.windows_all(self.plan.stream.name)):
            due = [o for o in given.due if o.template.window is not None]
            told: list[Told | ListingBatch] = [*self._changes(state, held, due)]
        return [*told, listing(held.history)] if held.is_listed else told

    def _changes(self, state: WindowState, held: Held, due: Sequence[Ordered]) -> list[Told]:
        if not state.is_live.any():
            return []
        history, is_used = held.history, self._used(state.is_live)
        new = np.arange(history.changes.first, len(history))
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
            self._probe(state, ordered, passage, held)
        return self._told(state, passage, held)

    def _probe(self, state: WindowState, ordered: Ordered, passage: Passage, held: Held) -> None:
        """Among a few of the readings that come or leave; regions that move are taken where they are now."""
        regions, template = self.plan.regions, ordered.template
        mine = np.flatnonzero(state.is_live & (regions.template == template.id))
        if not len(mine):
            return
        some = a_few(len(passage), len(mine))
        row, is_in = passage.row[some], passage.windows[self.window_of[mine[0]], some]
        x, y = (np.where(is_in, place[row], np.nan) for place in (held.history.x, held.history.y))
        few = arrived(x, y)
        ordered.counts.sampled += len(some)
        still, moving = mine[regions.focal[mine] < 0], mine[regions.focal[mine] >= 0]
        for ids, geometry in (
            (still, regions.written(still)),
            (moving, regions.at(moving, held.focals.all_places())),
        ):
            ordered.counts.found += found(few, np.zeros(len(ids), np.uint64), geometry)

    def _leaving(self, number: int, window: Window, history: History) -> Passage:
        rows = history.changes.left[window]
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

    def _told(self, state: WindowState, passage: Passage, held: Held) -> list[Told]:
        if not len(passage):
            return []
        history = held.history
        self.asks.figures.add(operator_ids.windows_all(self.plan.stream.name), len(passage))
        truth = self.asks.judged(history, passage.row)
        told = [b for t, ids in state.sighted for b in self._sighted(t, ids, passage, truth, history)]
        if not (len(state.everywhere_ids) or len(state.still_ids) or len(state.moving_ids)):
            return told
        is_in = truth[self.rule_condition] & passage.windows[self.rule_window]
        pairs: list[PairBatch] = []
        # Every reading meets every one of these: some of them at a time, so that pairs do not fill memory.
        block = max(1, MOST_PAIRS // len(passage))
        for begin in range(0, len(state.everywhere_ids), block):
            told += self.tell.held(pairs, history, history.number)
            ids = state.everywhere_ids[begin : begin + block]
            pairs = [self._meet_everywhere(passage, is_in, ids, history)]
        if len(state.still_ids):
            pairs.append(
                self._meet(passage, is_in, state.still_ids, state.geometry, state.grid, None, history)
            )
        if len(state.moving_ids):
            pairs += self._meet_moving(state.moving_ids, passage, is_in, held)
        return told + self.tell.held(pairs, history, history.number)

    def _sighted(
        self, template: Template, ids: I64, passage: Passage, truth: Bools, history: History
    ) -> list[Told]:
        """Readings with the queries of one template that take them, wherever they are."""
        window = passage.windows[self.window_of[ids[0]]]
        is_there = passage.comes & window & ~np.isnan(history.x[passage.row])
        if template.id in self.asks.slots:
            at, start, queries = self.asks.listed(template, history, passage.row, is_there, ids)
        else:
            query = self.plan.regions.query[ids]
            at, start, queries = listed(truth, self.asks.condition_of[ids], query, is_there)
        if len(queries):
            self.asks.figures.add(operator_ids.inside(template.id), rows_out=len(queries))
        return self.tell.sightings(passage.row[at], passage.tick[at], start, queries, template, history)

    def _meet_everywhere(self, passage: Passage, is_in: Bools, ids: I64, history: History) -> PairBatch:
        """Readings with regions that hold any place: conditions say it all."""
        ids = ids[np.argsort(self.rule_of[ids], kind="stable")]
        rules, starts, counts = np.unique(self.rule_of[ids], return_index=True, return_counts=True)
        # Reading by reading: what is alike stands together, on the way and when it is put in order.
        is_met = is_in[rules] & ~np.isnan(history.x[passage.row])
        at, rule = np.nonzero(np.ascontiguousarray(is_met.T))
        some = counts[rule]
        # Those of a rule stand together, from its start on.
        ends = np.cumsum(some)
        region = ids[np.repeat(starts[rule] - ends + some, some) + np.arange(ends[-1] if len(ends) else 0)]
        at = np.repeat(at, some)
        row, comes = passage.row[at], passage.comes[at]
        old, new = np.where(comes, -1, row), np.where(comes, row, -1)
        return PairBatch(passage.tick[at], region, old, new, ~comes, comes, np.zeros(len(at), np.uint64))

    def _meet_moving(self, ids: I64, passage: Passage, is_in: Bools, held: Held) -> list[PairBatch]:
        """Each reading with the regions as they were in its own tick; so a tick of readings at a time."""
        history, regions = held.history, self.plan.regions
        some = np.flatnonzero(is_in[np.unique(self.rule_of[ids])].any(axis=0))
        ticks = history.ticks(passage.row[some])
        by_tick = np.argsort(ticks, kind="stable")
        some, ticks = some[by_tick], ticks[by_tick]
        # Which of the last of all may be looked up where it is hidden, the merge stage knows.
        may_look = np.array([w.is_of_all for w in self.windows])[self.window_of[ids]]
        keys = flat(history.store.column(self.plan.stream.key).take(passage.row[some]))
        focal = held.focals.keys.find(keys)
        edges = [0, *(np.flatnonzero(np.diff(ticks)) + 1), len(ticks)] if len(ticks) else []
        pairs = []
        for start, end in pairwise(edges):
            tick = int(ticks[start])
            is_hidden = held.whereabouts.is_hidden(tick, regions.focal[ids]) & ~may_look
            geometry = hidden(regions.at(ids, held.whereabouts.at(tick)), is_hidden)
            grid = build_grid(geometry) if end - start >= WORTH_A_GRID else no_grid(geometry)
            now = some[start:end]
            pairs.append(
                self._meet(passage.take(now), is_in[:, now], ids, geometry, grid, focal[start:end], history)
            )
        return pairs

    def _meet(
        self, passage: Passage, is_in: Bools, ids: I64, geometry: Geometry, grid: Grid, focal: I64 | None,
        history: History,
    ) -> PairBatch:  # fmt: skip
        """Readings with regions; `focal` has for each reading the number of its object among focal ones."""
        n, comes, row = len(passage), passage.comes, passage.row
        x, y = history.x[row], history.y[row]
        nothing = np.zeros(n, np.uint64)
        moves = Moves(
            np.full(n, -2) if focal is None else focal,
            np.where(comes, np.nan, x), np.where(comes, np.nan, y),
            np.where(comes, x, np.nan), np.where(comes, y, np.nan), nothing, is_in & ~comes, is_in & comes,
        )  # fmt: skip
        without = np.full(len(ids), -1) if focal is None else self.plan.regions.focal[ids]
        rules = Rules(np.zeros(len(ids), np.uint64), self.rule_of[ids], without)
        met = cross(moves, rules, geometry, grid, geometry, grid)
        batch = MoveBatch(passage.tick, row, np.where(comes, -1, row), np.where(comes, row, -1))
        return PairBatch.of(met, batch, nothing, ids)


def _turned(batch: DeltaBatch | LatestBatch) -> Told:
    """What came, going."""
    if isinstance(batch, LatestBatch):
        at = batch.rows.column_names.index("number")
        number = pc.bit_wise_not(batch.rows.column("number"))
        return LatestBatch(batch.template, batch.rows.set_column(at, "number", number))
    at = batch.rows.column_names.index("sign")
    sign = pc.negate(batch.rows.column("sign"))
    return DeltaBatch(batch.template, batch.rows.set_column(at, "sign", sign))


def _held_by(history: History, window: Window, is_used: bool) -> Bools:
    return history.is_held(window) if is_used else np.zeros(len(history), np.bool_)


def _together(parts: list[Passage]) -> Passage:
    return Passage(
        np.concatenate([p.row for p in parts]), np.concatenate([p.tick for p in parts]),
        np.concatenate([p.comes for p in parts]), np.concatenate([p.windows for p in parts], axis=1),
    )  # fmt: skip
