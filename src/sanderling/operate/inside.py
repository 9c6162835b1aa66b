"""INSIDE: who is in which region, told as entries (+1) and exits (-1).

moved objects ──► regions over the old place ──► minus ──► -1 left
              └─► regions over the new place ──► minus ──► +1 entered
still objects ──► regions that moved, before and after ──► the same two
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import shapely

from sanderling.batches import DeltaBatch, MoveBatch, PairBatch
from sanderling.kernels.cross import IS, WAS, Moves, Rules, cross
from sanderling.kernels.grid import ABSENT, CENTRED, DISC, Geometry, Grid, build_grid
from sanderling.operate.conditions import Condition, distinct_conditions, judged, truth
from sanderling.operate.readings import LastReadings
from sanderling.operate.rows import Emission, signed_rows
from sanderling.plan.plans import BOX, POLYGON, StreamPlan

Bools = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
U64 = npt.NDArray[np.uint64]

PLACE_BIT = np.uint64(1)
LAST_BIT = 63


@dataclass(slots=True)
class InsideState:
    """Which regions live now, and a grid over those that stand still. All of it follows from the
    plan and the clock, so it is rebuilt rather than saved."""

    is_live: Bools
    still_ids: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    moving_ids: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    still_geometry: Geometry | None = None
    still_grid: Grid | None = None


class Inside:
    """Joins moved objects with moved regions, for all range queries of a stream at once.

    Promises (tests/properties/test_inside.py):
      exact     changes = difference of two answers computed from scratch
      chunking  cutting the input elsewhere gives the same changes per tick
      cost      an object or region that did not move is not touched, but for still objects under moving regions
    """

    def __init__(self, plan: StreamPlan):
        self.plan = plan
        regions = plan.regions
        self.bit_of = {name: np.uint64(1 << min(i + 1, LAST_BIT)) for i, name in enumerate(plan.watched)}
        n_templates = max((t.id for t in plan.templates), default=-1) + 1
        shows = np.zeros(n_templates, np.uint64)
        asks = np.zeros(n_templates, np.uint64)
        self.conditions: list[Condition] = []
        self.condition_of = np.zeros(len(regions), np.int64)
        self.by_pair: set[int] = set()
        for template, constants in zip(plan.templates, plan.constants, strict=True):
            shows[template.id] = self._bits(r for o in template.outputs for r in o.reads)
            if template.where is not None and not self._judge_by_reading(template.id, template, constants):
                asks[template.id] = self._bits(template.where_reads)
        is_polygon = regions.kind == POLYGON
        self.shows = shows[regions.template]
        self.watch = self.shows | asks[regions.template] | np.where(is_polygon, PLACE_BIT, np.uint64(0))
        self.polygons = _prepared(regions.wkb)

    def _bits(self, reads: object) -> np.uint64:
        bits = np.uint64(0)
        for read in reads:  # type: ignore[attr-defined]
            bits |= self.bit_of.get(read[2:], np.uint64(0)) if read.startswith("r:") else np.uint64(0)
        return bits

    def _judge_by_reading(self, number: int, template: object, constants: pa.Table) -> bool:
        found = distinct_conditions(template, constants)  # type: ignore[arg-type]
        if found is None:
            self.by_pair.add(number)
            return False
        conditions, which = found
        mine = self.plan.regions.template == number
        # Condition 0 always holds, so ours begin at 1.
        self.condition_of[mine] = which[self.plan.regions.row_in_template[mine]] + len(self.conditions) + 1
        self.conditions += conditions
        return True

    # ----- which regions live

    def new_state(self, closed_to: int) -> InsideState:
        """The state after the tick `closed_to`: what has begun and not ended lives."""
        regions = self.plan.regions
        state = InsideState((regions.begin <= closed_to) & (closed_to < regions.end))
        self._rebuild(state)
        return state

    def _rebuild(self, state: InsideState) -> None:
        is_moving = self.plan.regions.focal >= 0
        state.moving_ids = np.flatnonzero(state.is_live & is_moving)
        state.still_ids = np.flatnonzero(state.is_live & ~is_moving)
        state.still_geometry = self._still_geometry(state.still_ids)
        state.still_grid = build_grid(state.still_geometry)

    def _still_geometry(self, ids: I64) -> Geometry:
        r = self.plan.regions
        return Geometry(r.kind[ids], r.a[ids], r.b[ids], r.c[ids], r.d[ids])

    def _moving_geometry(self, ids: I64, focal_x: F64, focal_y: F64) -> Geometry:
        r = self.plan.regions
        x, y = focal_x[r.focal[ids]], focal_y[r.focal[ids]]
        is_box = r.kind[ids] == BOX
        kind = np.where(np.isnan(x), ABSENT, np.where(is_box, CENTRED, DISC)).astype(np.int8)
        return Geometry(kind, x, y, np.where(is_box, r.a[ids] / 2, r.a[ids]), r.b[ids] / 2)

    def end(self, state: InsideState, tick: int) -> None:
        """Queries dropped at `tick` say nothing more, from this tick on."""
        ending = state.is_live & (self.plan.regions.end <= tick)
        if ending.any():
            state.is_live &= ~ending
            self._rebuild(state)

    def begin(self, state: InsideState, tick: int, objects: LastReadings, focals: LastReadings) -> list[DeltaBatch]:
        """Queries registered at `tick` begin with their whole answer, as at that tick."""
        r = self.plan.regions
        is_beginning = ~state.is_live & (r.begin <= tick) & (tick < r.end)
        if not is_beginning.any():
            return []
        present = np.flatnonzero(objects.row_of >= 0)
        rows = objects.row_of[present]
        arrivals = MoveBatch(np.full(len(rows), tick), present, np.full(len(rows), -1), rows)
        moves = self._moves(arrivals, objects)
        focal_x, focal_y = self._focal_places(focals, focals.row_of)
        pairs = []
        for ids in (np.flatnonzero(is_beginning & (r.focal < 0)), np.flatnonzero(is_beginning & (r.focal >= 0))):
            if len(ids):
                is_moving = r.focal[ids[0]] >= 0
                geometry = self._moving_geometry(ids, focal_x, focal_y) if is_moving else self._still_geometry(ids)
                grid = build_grid(geometry)
                found = cross(moves, self._rules(ids, objects), geometry, grid, geometry, grid)
                pairs.append(_pairs(found, arrivals, moves.changed, ids))
        state.is_live |= is_beginning
        self._rebuild(state)
        return self._emit(pairs, objects)

    # ----- what changes

    def apply(
        self, state: InsideState, moves: MoveBatch, objects: LastReadings,
        focal_moves: MoveBatch, focals: LastReadings,
        rows_before: I64, focal_rows_before: I64,
    ) -> list[DeltaBatch]:  # fmt: skip
        """The changes of all live queries over the ticks of `moves` and `focal_moves`."""
        columns = self._moves(moves, objects)
        pairs = []
        if len(state.still_ids) and len(moves):
            assert state.still_geometry is not None and state.still_grid is not None
            geometry, grid = state.still_geometry, state.still_grid
            found = cross(columns, self._rules(state.still_ids, objects), geometry, grid, geometry, grid)
            pairs.append(_pairs(found, moves, columns.changed, state.still_ids))
        if len(state.moving_ids):
            pairs += self._moving(
                state, moves, columns, objects, focal_moves, focals, rows_before, focal_rows_before
            )
        return self._emit(pairs, objects)

    def _moving(
        self, state: InsideState, moves: MoveBatch, columns: Moves, objects: LastReadings,
        focal_moves: MoveBatch, focals: LastReadings, rows_before: I64, focal_rows_before: I64,
    ) -> list[tuple[PairBatch, U64]]:  # fmt: skip
        """Tick by tick, since in each tick objects meet the regions as they are in that tick."""
        ids = state.moving_ids
        rules = self._rules(ids, objects)
        rows = np.full(len(objects.row_of), -1)
        rows[: len(rows_before)] = rows_before
        x, y = _places(objects, rows)
        holds = truth(self.conditions, len(rows), _columns_of(objects, rows))
        focal_x, focal_y = self._focal_places(focals, focal_rows_before)
        focal_of = self._focal_numbers(focals)
        geometry = self._moving_geometry(ids, focal_x, focal_y)
        grid = build_grid(geometry)
        pairs = []
        for tick in np.unique(np.concatenate([moves.tick, focal_moves.tick])):
            first, last = np.searchsorted(moves.tick, (tick, tick + 1))
            these = MoveBatch(*(getattr(moves, n)[first:last] for n in ("tick", "object", "old_row", "new_row")))
            here = Moves(*(c[..., first:last] for c in columns))
            old_geometry, old_grid = geometry, grid
            has_moved = self._move_focals(tick, focal_moves, focals, focal_of, focal_x, focal_y)
            if has_moved.any():
                geometry = self._moving_geometry(ids, focal_x, focal_y)
                grid = build_grid(geometry, old_grid.cell)
            if len(these):
                found = cross(here, rules, old_geometry, old_grid, geometry, grid)
                pairs.append(_pairs(found, these, here.changed, ids))
            affected = np.flatnonzero(has_moved[self.plan.regions.focal[ids]])
            if len(affected):
                is_still = rows >= 0
                is_still[these.object] = False
                still = np.flatnonzero(is_still)
                pairs.append(self._sweep(tick, still, rows, x, y, holds, rules, affected, old_geometry, geometry, ids))
            rows[these.object] = these.new_row
            x[these.object], y[these.object] = here.new_x, here.new_y
            holds[:, these.object] = here.holds
        return pairs

    def _sweep(
        self, tick: int, still: I64, rows: I64, x: F64, y: F64, holds: Bools,
        rules: Rules, affected: I64, old: Geometry, new: Geometry, ids: I64,
    ) -> tuple[PairBatch, U64]:  # fmt: skip
        """Objects that did not move, under regions that did."""
        nothing = np.zeros(len(still), np.uint64)
        verdicts = np.ascontiguousarray(holds[:, still])
        moves = Moves(still, x[still], y[still], x[still], y[still], nothing, verdicts, verdicts)
        some = Rules(*(c[affected] for c in rules))
        old, new = Geometry(*(c[affected] for c in old)), Geometry(*(c[affected] for c in new))
        found = cross(moves, some, old, build_grid(old), new, build_grid(new))
        same = MoveBatch(np.full(len(still), tick), still, rows[still], rows[still])
        return _pairs(found, same, nothing, ids[affected])

    # ----- columns for the kernel

    def _moves(self, moves: MoveBatch, objects: LastReadings) -> Moves:
        old_x, old_y = _places(objects, moves.old_row)
        new_x, new_y = _places(objects, moves.new_row)
        held = truth(self.conditions, len(moves), _columns_of(objects, moves.old_row))
        holds = truth(self.conditions, len(moves), _columns_of(objects, moves.new_row))
        return Moves(
            moves.object, old_x, old_y, new_x, new_y, self._changed(moves, objects, old_x, old_y, new_x, new_y), held, holds
        )

    def _changed(
        self, moves: MoveBatch, objects: LastReadings, old_x: F64, old_y: F64, new_x: F64, new_y: F64
    ) -> U64:
        """For each move, a bit for each watched column whose value differs."""
        changed = np.where((old_x != new_x) | (old_y != new_y), PLACE_BIT, np.uint64(0))
        both = np.flatnonzero((moves.old_row >= 0) & (moves.new_row >= 0))
        if len(both):
            old, new = pa.array(moves.old_row[both]), pa.array(moves.new_row[both])
            for name, bit in self.bit_of.items():
                column = objects.store.column(name)
                changed[both] |= np.where(differs(column.take(old), column.take(new)), bit, np.uint64(0))
        return changed

    def _rules(self, ids: I64, objects: LastReadings) -> Rules:
        focal = self.plan.regions.focal[ids]
        without = np.full(len(ids), -1)
        if len(ids) and focal[0] >= 0:
            without = objects.object_of(self.plan.focals)[focal]
        return Rules(self.watch[ids], self.condition_of[ids], without)

    def _focal_numbers(self, focals: LastReadings) -> I64:
        """For each object of `focals`, its number in the plan."""
        return np.asarray(pc.index_in(focals.keys, value_set=self.plan.focals).to_numpy(), np.int64)

    def _focal_places(self, focals: LastReadings, rows: I64) -> tuple[F64, F64]:
        """Where each focal object of the plan is; NaN where it is not."""
        x, y = np.full(len(self.plan.focals), np.nan), np.full(len(self.plan.focals), np.nan)
        if len(rows):
            numbers = self._focal_numbers(focals)[: len(rows)]
            x[numbers], y[numbers] = _places(focals, rows)
        return x, y

    def _move_focals(
        self, tick: int, moves: MoveBatch, focals: LastReadings, focal_of: I64, x: F64, y: F64
    ) -> Bools:
        """Sets the focal objects' places to those of this tick; which of them are other than before."""
        first, last = np.searchsorted(moves.tick, (tick, tick + 1))
        numbers = focal_of[moves.object[first:last]]
        new_x, new_y = _places(focals, moves.new_row[first:last])
        has_moved = np.zeros(len(x), np.bool_)
        same = ((x[numbers] == new_x) & (y[numbers] == new_y)) | (np.isnan(x[numbers]) & np.isnan(new_x))
        has_moved[numbers] = ~same
        x[numbers], y[numbers] = new_x, new_y
        return has_moved

    # ----- pairs to signed rows

    def _emit(self, found: list[tuple[PairBatch, U64]], objects: LastReadings) -> list[DeltaBatch]:
        found = [(pairs, changed) for pairs, changed in found if len(pairs)]
        if not found:
            return []
        pairs = PairBatch.concat([p for p, _ in found])
        changed = np.concatenate([c for _, c in found])
        pairs = self._exact(pairs, objects)
        template_of = self.plan.regions.template[pairs.region]
        deltas = []
        for template, constants in zip(self.plan.templates, self.plan.constants, strict=True):
            mine = np.flatnonzero(template_of == template.id) if len(self.plan.templates) > 1 else np.arange(len(pairs))
            if not len(mine):
                continue
            some = pairs.take(mine)
            if template.id in self.by_pair:
                some = self._judge_pairs(some, template, constants, objects)
            is_shown_changed = (changed[mine] & self.shows[some.region]) != 0
            emission = Emission.of(some, is_shown_changed)
            if len(emission):
                rows = signed_rows(emission, template, constants, self.plan.regions, objects.store)
                if template.needs_consolidation or len(self.bit_of) >= LAST_BIT:
                    from sanderling.merge.consolidate import consolidate

                    rows = consolidate(rows)
                if rows.num_rows:
                    deltas.append(DeltaBatch(template.id, rows))
        return deltas

    def _exact(self, pairs: PairBatch, objects: LastReadings) -> PairBatch:
        """The kernel judged polygons by their bounds: now by their borders."""
        which = np.flatnonzero(self.plan.regions.kind[pairs.region] == POLYGON)
        if len(which):
            for is_in, rows in ((pairs.was, pairs.old_row), (pairs.is_, pairs.new_row)):
                some = which[is_in[which]]
                shapes = self.polygons[pairs.region[some]]
                is_in[some] = shapely.intersects_xy(shapes, objects.x[rows[some]], objects.y[rows[some]])
        return pairs

    def _judge_pairs(
        self, pairs: PairBatch, template: object, constants: pa.Table, objects: LastReadings
    ) -> PairBatch:
        """WHERE over readings and the constants of the very region they meet."""
        row_in_template = self.plan.regions.row_in_template[pairs.region]
        for is_in, rows in ((pairs.was, pairs.old_row), (pairs.is_, pairs.new_row)):
            some = np.flatnonzero(is_in)
            if len(some):
                columns = {}
                for read in sorted(template.where_reads):  # type: ignore[attr-defined]
                    source, at = (objects.store, rows) if read.startswith("r:") else (constants, row_in_template)
                    name = read[2:] if read.startswith("r:") else read
                    columns[read] = source.column(name).take(pa.array(at[some]))
                is_in[some] = judged(template.where, columns, len(some))  # type: ignore[attr-defined]
        return pairs


def differs(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Bools:
    """Where two columns hold different values; NULL is the same as NULL, NaN as NaN."""
    is_same = pc.or_(pc.equal(old, new).fill_null(False), pc.and_(pc.is_null(old), pc.is_null(new)))
    if pa.types.is_floating(old.type):
        both_nan = pc.and_(pc.is_nan(old).fill_null(False), pc.is_nan(new).fill_null(False))
        is_same = pc.or_(is_same, both_nan)
    return ~np.asarray(is_same.to_numpy(), np.bool_)


def _pairs(
    found: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int8]],
    moves: MoveBatch, changed: U64, ids: I64,
) -> tuple[PairBatch, U64]:  # fmt: skip
    move, region, state = found
    pairs = PairBatch(
        moves.tick[move], ids[region], moves.old_row[move], moves.new_row[move], (state & WAS) > 0, (state & IS) > 0
    )
    return pairs, changed[move]


def _places(objects: LastReadings, rows: I64) -> tuple[F64, F64]:
    """The places of readings by row; NaN for absent ones."""
    if not len(objects.x):
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    is_absent = rows < 0
    x, y = objects.x[rows], objects.y[rows]
    x[is_absent], y[is_absent] = np.nan, np.nan
    return x, y


def _columns_of(objects: LastReadings, rows: I64) -> object:
    """Columns of readings by row; NULL for absent ones."""
    indices = pa.array(rows, mask=rows < 0)
    return lambda name: objects.store.column(name).take(indices)


def _prepared(wkb: tuple[bytes | None, ...]) -> npt.NDArray[np.object_]:
    """Geometries ready for many tests, None where a region is no polygon."""
    shapes = shapely.from_wkb(np.array(wkb, dtype=object))
    shapely.prepare(shapes)
    return np.asarray(shapes, dtype=object)
