"""What each region asks beside its place: which condition, and which columns' changes matter.

Columns get a bit each. A change of an object that stays inside matters only to regions that watch
one of the bits it changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I32, I64, U64, Bools, differs
from sanderling.figures.figures import Figures
from sanderling.kernels.inside.cross import PLACE_BIT, Moves, Rules, moved
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings, Stored
from sanderling.operate.where.comparisons import is_compared
from sanderling.operate.where.conditions import Columns, Condition, distinct_conditions, truth
from sanderling.operate.where.orders import BY_DUCKDB, PLAINLY, First, Ordered, Orders
from sanderling.operate.where.slots import slots_of
from sanderling.operate.where.slotted import Slotted
from sanderling.plans import operator_ids
from sanderling.plans.columns import of_reading, previous_of
from sanderling.plans.plan import Over, StreamPlan, Template
from sanderling.space.coverages import are_by_bounds, are_everywhere

LAST_BIT = 63


class Asks:
    """The asks of all regions of a stream as columns, made once from the plan: of NOW, windows or events."""

    def __init__(
        self, plan: StreamPlan, over: Over = Over.NOW, figures: Figures | None = None,
        orders: Orders | None = None,
    ):  # fmt: skip
        regions = plan.regions
        self.plan = plan
        # Beyond 62 columns the last bit is shared: more is looked at than need be, never less.
        self.bit_of = {name: np.uint64(1 << min(i + 1, LAST_BIT)) for i, name in enumerate(plan.watched)}
        self.are_bits_shared = len(self.bit_of) >= LAST_BIT
        self.figures = Figures() if figures is None else figures
        self.orders = Orders() if orders is None else orders
        self.ordered: list[Ordered] = []  # templates of which WHERE or INSIDE may come first
        self.conditions: list[Condition] = []
        self.templates_of: list[int] = []  # by condition
        self.condition_of = np.zeros(len(regions), np.int64)
        self.by_pair: set[int] = set()
        self.slots: dict[int, Slotted] = {}  # by template of triggers
        shows = np.zeros(max((t.id for t in plan.templates), default=-1) + 1, np.uint64)
        asks = shows.copy()
        for template, constants in zip(plan.templates, plan.constants, strict=True):
            if template.over is not over:
                continue
            shown = [o.expression for o in template.outputs]
            shows[template.id] = self._bits(name for e in shown for name in e.of_reading)
            if template.where is not None:
                asks[template.id] = self._bits(template.where.of_reading)
                self._put_in_order(template, constants)
        if not any(t.over is over for t in plan.templates):
            # Nobody asks: many regions are not to fill memory with nothing.
            self.shows: U64 = alike(np.uint64(0), len(regions))
            self.watch: U64 = self.shows
            self.watch_by_pair: U64 = self.shows
            self.condition_of = alike(np.int64(0), len(regions))
            return
        polygon = np.where(are_by_bounds(regions.kind), PLACE_BIT, np.uint64(0))
        self.shows = shows[regions.template]
        self.watch = self.shows | asks[regions.template] | polygon
        # Whatever a pair would be judged by is watched; what readings are judged by shows by itself.
        self.watch_by_pair = self.watch
        if self.templates_of:
            asks[self.templates_of] = 0
            self.watch = self.shows | asks[regions.template] | polygon

    def _bits(self, names: Iterable[str]) -> np.uint64:
        bits = np.uint64(0)
        for name in names:
            bits |= self.bit_of.get(name, np.uint64(0))
        return bits

    def _put_in_order(self, template: Template, constants: pa.Table) -> None:
        """Which comes first, WHERE or INSIDE: judged by the reading, or by the pair."""
        if template.is_waited:
            self.by_pair.add(template.id)
            return
        kinds = self.plan.regions.kind[self.plan.regions.template == template.id]
        is_everywhere = template.over is not Over.NOW and bool(are_everywhere(kinds).all())
        by_reading = self.orders.chooser.judges_readings()
        found = distinct_conditions(template, constants, is_everywhere) if by_reading else None
        if is_everywhere and template.is_sighted:
            assert template.where is not None
            slots = slots_of(template.where, constants, self._types())
            # Few conditions that are more than stretches of one column are judged one by one.
            if slots is not None and (slots.is_exact or found is None):
                self.slots[template.id] = Slotted(slots, template, constants)
                return
        if is_everywhere and found is not None:
            # Every reading meets every region: there is nothing to choose.
            self._judge_by_reading(template, *found)
            return
        weights = PLAINLY if self._is_plain(template, constants) else BY_DUCKDB
        first = self.orders.first(template, None if found is None else len(found[0]), weights)
        ordered = self.orders.get(template.id)
        if ordered is not None:
            self.ordered.append(ordered)
        if found is None or first is First.INSIDE:
            self.by_pair.add(template.id)
        else:
            self._judge_by_reading(template, *found)

    def _is_plain(self, template: Template, constants: pa.Table) -> bool:
        """Whether the condition is judged without DuckDB."""
        assert template.where is not None
        found = template.where.comparisons
        if found is None:
            return False
        types = self._types() | {field.name: field.type for field in constants.schema}
        return all(is_compared(c, types) for c in found)

    def _types(self) -> dict[str, pa.DataType]:
        columns = self.plan.stream.columns
        return {of_reading(name(c.name)): c.type.arrow for c in columns for name in (str, previous_of)}

    def listed(
        self, template: Template, objects: Stored, rows: I64, is_there: Bools, ids: I64
    ) -> tuple[I64, I32, I32]:  # fmt: skip
        """Readings, by their place in `rows`, with the queries of these regions that take them, by slots."""
        started, regions = time.perf_counter(), self.plan.regions
        in_template = regions.row_in_template[ids]
        found = self.slots[template.id].listed(
            is_there, lambda some: columns_of(objects, rows[some]), in_template
        )
        seconds = time.perf_counter() - started
        self.figures.add(operator_ids.where(template.id), found.judged, found.passed, seconds)
        return found.at, found.start, regions.query[ids[found.who]]

    def _judge_by_reading(self, template: Template, conditions: list[Condition], which: I64) -> None:
        regions = self.plan.regions
        mine = regions.template == template.id
        # Condition 0 always holds, so ours begin at 1.
        self.condition_of[mine] = which[regions.row_in_template[mine]] + len(self.conditions) + 1
        self.conditions += conditions
        self.templates_of += [template.id] * len(conditions)

    def rules(self, ids: I64, objects: LastReadings) -> Rules:
        """The asks of some regions, for the kernel."""
        focal = self.plan.regions.focal[ids]
        without = np.full(len(ids), -1)
        follows = np.flatnonzero(focal >= 0)
        if len(follows):
            without[follows] = objects.keys.find(self.plan.focals)[focal[follows]]
        return Rules(self.watch[ids], self.condition_of[ids], without)

    def moves(self, moves: MoveBatch, objects: LastReadings) -> Moves:
        """Moves with what the kernel needs to know of them."""
        old_x, old_y, new_x, new_y, changed = moved(objects.x, objects.y, moves.old_row, moves.new_row)
        self.mark_changes(changed, moves, objects)
        held = self.truth(objects, moves.old_row)
        holds = self.judged(objects, moves.new_row)
        self._count(moves.old_row)
        return Moves(moves.object, old_x, old_y, new_x, new_y, changed, held, holds)

    def truth(self, objects: Stored, rows: I64) -> Bools:
        """Which condition each reading satisfies: conditions × readings."""
        return truth(self.conditions, len(rows), columns_of(objects, rows))

    def judged(self, objects: Stored, rows: I64) -> Bools:
        """The same of readings that are judged for the first time."""
        started = time.perf_counter()
        found = self.truth(objects, rows)
        seconds = (time.perf_counter() - started) / max(1, len(self.templates_of))
        is_there = rows >= 0 if self.templates_of else rows
        n = int(np.count_nonzero(is_there))
        for template, holds in zip(self.templates_of, found[1:], strict=True):
            passed = int(np.count_nonzero(holds & is_there))
            self.figures.add(operator_ids.where(template), n, passed, seconds)
            ordered = self.orders.get(template)
            if ordered is not None:
                ordered.counts.judged += n
                ordered.counts.passed += passed
        self._count(rows)
        return found

    def _count(self, rows: I64) -> None:
        """Readings that were, or would have been, judged by each condition."""
        for ordered in self.ordered:
            ordered.counts.readings += len(rows)
            ordered.counts.calls += 1

    def mark_changes(self, changed: U64, moves: MoveBatch, objects: LastReadings) -> None:
        """Sets the bits of columns that differ."""
        if not self.bit_of:
            return
        both = np.flatnonzero((moves.old_row >= 0) & (moves.new_row >= 0))
        if len(both):
            old, new = pa.array(moves.old_row[both]), pa.array(moves.new_row[both])
            for name, bit in self.bit_of.items():
                column = objects.store.column(name)
                changed[both] |= np.where(differs(column.take(old), column.take(new)), bit, np.uint64(0))


def alike(value: np.generic, n: int) -> npt.NDArray[Any]:
    """A column of n times one value, which takes the room of one; not to be written into."""
    return np.broadcast_to(value, n)


def columns_of(objects: Stored, rows: I64) -> Columns:
    """Columns of readings by row; NULL for absent ones."""

    @cache
    def indices() -> pa.Array:
        return pa.array(rows, mask=rows < 0)

    return lambda name: objects.store.column(name).take(indices())
