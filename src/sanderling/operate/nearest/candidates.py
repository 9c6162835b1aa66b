"""Lists of the nearest to rows: the select list, evaluated only for what is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, key_ranks
from sanderling.batches import Batch, Kind
from sanderling.kernels.nearest.seekers import Lists
from sanderling.operate.inside.rows import Emission, signed_rows
from sanderling.operate.readings.readings import LastReadings
from sanderling.plans.plan import StreamPlan, Template


@dataclass(frozen=True, slots=True)
class Candidates:
    """Makes the rows of the kNN queries of a stream."""

    plan: StreamPlan

    def of(self, lists: Lists, ids: I64, objects: LastReadings) -> Iterator[Batch]:
        """By template; the queries of `lists` are counted as `ids` has them."""
        if not len(lists.tick):
            return
        plan = self.plan
        region = plan.nearest.region[ids[lists.query]]
        k = plan.nearest.k[ids[lists.query]]
        owner = np.repeat(np.arange(len(region)), lists.length)
        row, d2 = lists.row, lists.d2
        if (lists.length > k).any():
            chosen = self._cut(owner, lists, k, objects)
            owner, row, d2 = owner[chosen], row[chosen], d2[chosen]
        template_of = plan.regions.template[region]
        for template, constants in zip(plan.templates, plan.constants, strict=True):
            is_mine = template_of == template.id
            if not is_mine.any():
                continue
            # Whole lists are not copied where one template has them all.
            mine = slice(None) if is_mine.all() else np.flatnonzero(is_mine[owner])
            whose, its_row = owner[mine], row[mine]
            emission = Emission(lists.tick[whose], region[whose], its_row, np.ones(len(whose), np.int8))
            rows = signed_rows(emission, template, constants, plan.regions, objects.store)
            key = objects.store.column(plan.stream.key).take(pa.array(its_row))
            schema = candidate_schema(template, plan)
            told = pa.Table.from_arrays(
                [*rows.columns[:2], pa.array(d2[mine]), key, *rows.columns[3:]], schema=schema
            )
            empty = np.flatnonzero(is_mine & (lists.length == 0))
            if len(empty):
                told = pa.concat_tables([told, self._nobody(lists.tick[empty], region[empty], schema)])
            yield Batch(Kind.CANDIDATES, told, plan.stream.name, template.id)

    def _nobody(self, tick: I64, region: I64, schema: pa.Schema) -> pa.Table:
        """Lists that are empty: one row of NULLs each."""
        known = {"query": self.plan.regions.query[region], "tick": tick}
        columns = [
            pa.array(known[f.name], f.type) if f.name in known else pa.nulls(len(tick), f.type)
            for f in schema
        ]
        return pa.Table.from_arrays(columns, schema=schema)

    def _cut(self, owner: I64, lists: Lists, k: I64, objects: LastReadings) -> I64:
        """Of lists that are longer than k, since some are as far as the k-th, the first k by key.

        The rows that are left, list by list, nearest first.
        """
        is_long = (lists.length > k)[owner]
        some = np.flatnonzero(is_long)
        keys = objects.store.column(self.plan.stream.key).take(pa.array(lists.row[some]))
        order = some[np.lexsort((key_ranks(keys), lists.d2[some], owner[some]))]
        place = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
        left = np.concatenate([np.flatnonzero(~is_long), order[place < k[owner[order]]]])
        return np.asarray(left[np.argsort(owner[left], kind="stable")])


def candidate_schema(template: Template, plan: StreamPlan) -> pa.Schema:
    """The columns of a template's candidates."""
    fixed = [
        ("query", pa.int32()), ("tick", pa.int64()), ("d2", pa.float64()),
        ("key", plan.stream.key_type.arrow),
    ]  # fmt: skip
    return pa.schema([*fixed, *((f.name, f.type) for f in list(template.schema())[3:])])
