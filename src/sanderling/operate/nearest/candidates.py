"""Lists of the nearest as rows: the select list, evaluated only for what is told.

A list is a row of lists: its query and tick, then of each of its objects the square of the distance, the key,
and what of the select list does not say the key again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, flat, key_ranks
from sanderling.batches import Batch, Kind
from sanderling.catalog import Stream
from sanderling.kernels.nearest.seekers import Lists
from sanderling.operate.inside.rows import shown
from sanderling.operate.readings.readings import LastReadings
from sanderling.plans.columns import by_place, of_reading
from sanderling.plans.plan import StreamPlan, Template

KEY = "key"


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
        row, d2, length = lists.row, lists.d2, lists.length
        if (length > k).any():
            chosen = self._cut(np.repeat(np.arange(len(region)), length), lists, k, objects)
            row, d2, length = row[chosen], d2[chosen], np.minimum(length, k)
        template_of = plan.regions.template[region]
        for template, constants in zip(plan.templates, plan.constants, strict=True):
            is_mine = template_of == template.id
            if not is_mine.any():
                continue
            # Whole lists are not copied where one template has them all.
            mine = slice(None) if is_mine.all() else np.repeat(is_mine, length)
            some = slice(None) if is_mine.all() else is_mine
            whose = np.repeat(region[some], length[some])
            columns = {"d2": pa.array(d2[mine])} | self._shown(template, constants, whose, row[mine], objects)
            starts = pa.array(np.append(0, np.cumsum(length[some])).astype(np.int32))
            table = {
                "query": pa.array(plan.regions.query[region[some]]),
                "tick": pa.array(lists.tick[some]),
                **{name: pa.ListArray.from_arrays(starts, column) for name, column in columns.items()},
            }
            yield Batch(Kind.CANDIDATES, pa.table(table), plan.stream.name, template.id)

    def _shown(
        self, template: Template, constants: pa.Table, region: I64, row: I64, objects: LastReadings
    ) -> dict[str, pa.Array]:
        told, store, stream = columns_told(template, self.plan.stream), objects.store, self.plan.stream
        columns = {KEY: flat(store.column(stream.key).take(pa.array(row)))}
        if set(told) != {KEY}:
            found = shown(template, constants, self.plan.regions.row_in_template[region], row, store)
            columns |= {
                name: flat(column.cast(output.type.arrow))
                for name, column, output in zip(told, found, template.outputs, strict=True)
                if name != KEY
            }
        return columns

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


def columns_told(template: Template, stream: Stream) -> list[str]:
    """By output the column of candidates that says it."""
    key = of_reading(stream.key)
    are_key = [o.expression.is_plain and o.expression.column == key for o in template.outputs]
    return [KEY if is_key else by_place(i) for i, is_key in enumerate(are_key)]


def count(candidates: pa.Table) -> int:
    """How many objects all its lists have together."""
    return len(flat(candidates.column("d2")).flatten())
