"""What passes from shards to merge partitions: which batches, and to whom.

a shard's batches ──┬─► finished: straight to delivery
                    └─► to be merged ──► rows by query, sightings of triggers by space; plans and time to all
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import Bools, flat
from sanderling.batches import QUERIES, Batch, Kind, To
from sanderling.plans.plan import Plan
from sanderling.route.by_space import by_query, tracts_of


class Exchange:
    """From shards to so many merge partitions, under one version of a plan."""

    def __init__(self, plan: Plan, partitions: int):
        self.templates, self.gathered = plan.templates(), plan.gathered()
        self.tracts = tracts_of(plan)  # by template
        self.partitions = partitions

    def split(self, batches: Iterable[Batch]) -> tuple[list[Batch], list[tuple[int, Batch]]]:
        """What is finished, and what is to be merged, with the merge partition that each part goes to."""
        finished: list[Batch] = []
        sent: list[tuple[int, Batch]] = []
        for batch in batches:
            if self.is_merged(batch):
                sent += self._parts(batch)
            else:
                finished.append(batch)
        return finished, sent

    def is_merged(self, batch: Batch) -> bool:
        """Whether it goes to merge partitions, rather than straight to delivery."""
        match batch.kind:
            case Kind.ANSWER:
                return batch.template in self.gathered
            case Kind.DELTAS:
                return batch.template in self.gathered or self.templates[batch.template].is_merged
            case kind:
                return To.MERGE in kind.to

    def _parts(self, batch: Batch) -> Iterator[tuple[int, Batch]]:
        columns = batch.kind.columns
        if self.partitions == 1 or not {"query", QUERIES} & {*columns}:
            yield from ((number, batch) for number in range(self.partitions))
        else:
            shares = self._by_query(batch) if "query" in columns else self._sighted(batch)
            yield from ((number, replace(batch, table=rows)) for number, rows in shares)

    def _sighted(self, batch: Batch) -> Iterator[tuple[int, pa.Table]]:
        branch, own = self.tracts.get(batch.template, (0, None))
        if own is None:
            return by_query(batch.table, self.partitions)
        return own.shared_out(branch, batch.table, self.partitions)

    def _by_query(self, batch: Batch) -> Iterator[tuple[int, pa.Table]]:
        """Time goes to all, also where nothing begins or ends."""
        query = batch.table.column("query").to_numpy()
        home, is_everywhere = query % self.partitions, np.zeros(len(query), np.bool_)
        if batch.kind == Kind.CLOCK:
            for _, own in self.tracts.values():
                is_everywhere |= np.isin(query, own.queries)
        counts = np.bincount(home, minlength=self.partitions)
        numbers = range(self.partitions) if batch.kind == Kind.CLOCK else np.flatnonzero(counts).tolist()
        some = lists_where if batch.kind == Kind.CANDIDATES else rows_where
        for number in numbers:
            yield number, some(batch.table, (home == number) | is_everywhere)


def rows_where(table: pa.Table, is_wanted: Bools) -> pa.Table:
    return table.filter(pa.array(is_wanted))


def lists_where(table: pa.Table, is_wanted: Bools) -> pa.Table:
    """The same, where all lists of a row are as long as each other: so their values are picked at once."""
    columns, length = {name: flat(table.column(name)) for name in table.column_names}, None
    for name, column in columns.items():
        if not pa.types.is_list(column.type):
            columns[name] = column.filter(pa.array(is_wanted))
            continue
        if length is None:
            length = column.value_lengths().to_numpy(zero_copy_only=False)
            is_in = pa.array(np.repeat(is_wanted, length))
            starts = pa.array(np.append(0, np.cumsum(length[is_wanted])).astype(np.int32))
        columns[name] = pa.ListArray.from_arrays(starts, column.flatten().filter(is_in))
    return pa.table(columns)
