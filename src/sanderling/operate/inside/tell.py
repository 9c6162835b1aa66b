"""Pairs to signed rows: judged exactly, template by template, and evaluated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I32, I64
from sanderling.batches import Batch, Kind
from sanderling.kernels.order import ordered_by
from sanderling.operate.inside.rows import Emission, sightings, signed_rows
from sanderling.operate.readings.pairs import PairBatch
from sanderling.operate.readings.readings import Stored
from sanderling.operate.sql.consolidate import consolidate, put_together
from sanderling.operate.where.asks import Asks, columns_of
from sanderling.operate.where.conditions import pairs_judged
from sanderling.plans import operator_ids
from sanderling.plans.plan import StreamPlan, Template
from sanderling.space.outlines.polygons import Polygons

NO_NUMBERS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Tell:
    """Knows the plan and what each region asks; the readings are handed in."""

    plan: StreamPlan
    asks: Asks
    polygons: Polygons

    def rows(self, found: list[PairBatch], objects: Stored, number: I64 = NO_NUMBERS) -> list[Batch]:
        """What the pairs, found by bounds and by what is the same for many, turn out to say.

        Readings that windows hold have their numbers, by row.
        """
        found = [pairs for pairs in found if len(pairs)]
        if not found:
            return []
        pairs = self._exact(PairBatch.concat(found), objects)
        template_of = self.plan.regions.template[pairs.region]
        told: list[Batch] = []
        for template, constants in zip(self.plan.templates, self.plan.constants, strict=True):
            mine = pairs.take(template_of == template.id) if len(self.plan.templates) > 1 else pairs
            if len(mine):
                self.asks.figures.add(operator_ids.inside(template.id), rows_out=len(mine))
                self._count(mine, template)
                told += self._told(mine, template, constants, objects, number)
        return told

    def _told(
        self, pairs: PairBatch, template: Template, constants: pa.Table, objects: Stored, number: I64
    ) -> list[Batch]:
        emission = self._emission(pairs, template, constants, objects)
        if template.is_sighted:
            return self._sighted(emission, template, objects)
        started = time.perf_counter()
        rows = signed_rows(emission, template, constants, self.plan.regions, objects.store)
        found = rows.num_rows
        if template.is_of_last:
            rows = rows.set_column(2, "number", pa.array(number[emission.row]))
        else:
            rows = self._consolidated(rows, template)
        seconds = time.perf_counter() - started
        self.asks.figures.add(operator_ids.select(template.id), found, rows.num_rows, seconds)
        if template.is_of_last:
            return [self._batch(Kind.LATEST, rows, template)]
        return [self._batch(Kind.DELTAS, rows, template)] if rows.num_rows else []

    def _sighted(self, emission: Emission, template: Template, objects: Stored) -> list[Batch]:
        """Readings that met regions, by row; one that met several regions of a query has it several times."""
        order = ordered_by(np.arange(len(emission)), emission.row)
        row, first = np.unique(emission.row[order], return_index=True)
        start = np.append(first, len(order)).astype(np.int32)
        query = self.plan.regions.query[emission.region[order]]
        return self.sightings(row, emission.tick[order][first], start, query, template, objects)

    def sightings(
        self, row: I64, tick: I64, start: I32, query: I32, template: Template, objects: Stored
    ) -> list[Batch]:
        """Readings of a branch of triggers, with the queries that take them."""
        if not len(query):
            return []
        started = time.perf_counter()
        rows = sightings(row, tick, start, query, template, objects.store)
        seconds = time.perf_counter() - started
        self.asks.figures.add(operator_ids.select(template.id), len(query), len(query), seconds)
        return [self._batch(Kind.SIGHTINGS, rows, template)]

    def _batch(self, kind: Kind, rows: pa.Table, template: Template) -> Batch:
        return Batch(kind, rows, self.plan.stream.name, template.id)

    def _count(self, pairs: PairBatch, template: Template) -> None:
        ordered = self.asks.orders.get(template.id)
        if ordered is not None:
            ordered.counts.pairs += int(np.count_nonzero(pairs.was) + np.count_nonzero(pairs.is_))

    def _exact(self, pairs: PairBatch, objects: Stored) -> PairBatch:
        """The kernel judged polygons by bounds and rasters: now by their borders.

        Where outlines have poses, that is known already.
        """
        is_posed = self.polygons.poses.is_posed
        for is_in, rows in pairs.sides() if len(self.polygons) else ():
            some = np.flatnonzero(is_in & ~is_posed[pairs.region])
            x, y = objects.x[rows[some]], objects.y[rows[some]]
            is_in[some] = self.polygons.hold(pairs.region[some], x, y)
        return pairs

    def _emission(
        self, pairs: PairBatch, template: Template, constants: pa.Table, objects: Stored
    ) -> Emission:
        if template.id in self.asks.by_pair:
            self._judge(pairs, template, constants, objects)
        return Emission.of(pairs, (pairs.changed & self.asks.shows[pairs.region]) != 0)

    def _consolidated(self, rows: pa.Table, template: Template) -> pa.Table:
        may_cancel = template.needs_consolidation or self.asks.are_bits_shared
        if not may_cancel or not rows.num_rows:
            return rows
        return put_together(rows) if template.is_branch else consolidate(rows)

    def _judge(self, pairs: PairBatch, template: Template, constants: pa.Table, objects: Stored) -> None:
        """WHERE over readings and the constants of the very region they meet."""
        assert template.where is not None
        figures, where = self.asks.figures, operator_ids.where(template.id)
        for is_in, rows in pairs.sides():
            some = np.flatnonzero(is_in)
            if len(some):
                in_template = self.plan.regions.row_in_template[pairs.region[some]]
                with figures.timed(where):
                    is_in[some] = pairs_judged(
                        template, columns_of(objects, rows[some]), constants, in_template
                    )
                figures.add(where, len(some), np.count_nonzero(is_in[some]))


def cancelled(gone: Sequence[Batch], came: Sequence[Batch]) -> list[Batch]:
    """What regions took back and others began with: a row of a table may be there again, in another shape.

    The last of all shards, and what triggers saw, are put together elsewhere.
    """
    told = [*gone, *came]
    deltas = {batch.template: batch for batch in told if batch.kind == Kind.DELTAS}
    both = {b.template for b in gone} & {b.template for b in came} & deltas.keys()
    alone = [batch for batch in told if batch.template not in both]
    for template in both:
        parts = [batch.table for batch in told if batch.template == template]
        alone.append(replace(deltas[template], table=consolidate(pa.concat_tables(parts))))
    return [batch for batch in alone if batch.table.num_rows]
