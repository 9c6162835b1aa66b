"""What solutions show of the events that a search may still need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, is_worth_compacting
from sanderling.operate.sql.rows.codes import Column
from sanderling.plans.columns import by_place

# Of so many numbers one is an event that is shown, or they are searched for.
SPARSE = 16


class Shown:
    """Columns of a branch's events, by the events' numbers, in their order. An event is here once."""

    def __init__(self, types: Mapping[int, pa.DataType]):
        """Of those columns of the branch that are ever shown."""
        self.which = list(types)
        self.schema = pa.schema([(by_place(i), t) for i, t in types.items()])
        self.order: I64 = np.empty(0, np.int64)
        self.table: pa.Table = self.schema.empty_table()
        self._kept = 0

    def add(self, order: I64, rows: I64, columns: Sequence[Column]) -> None:
        """Events that are later than all that are here, in order, each once; where the columns have them."""
        if len(order):
            at = pa.array(rows)
            some = pa.Table.from_arrays([columns[i].take(at) for i in self.which], schema=self.schema)
            self.order = np.concatenate([self.order, order])
            # In one piece, since many are looked up.
            self.table = pa.concat_tables([self.table, some]).combine_chunks()

    def rows(self, order: I64) -> I64:
        """Where events are that are here."""
        if not len(self.order):
            return np.zeros(len(order), np.int64)
        span = int(self.order[-1] - self.order[0]) + 1
        if span > SPARSE * len(self.order):
            return np.searchsorted(self.order, order)
        # Looking up costs less than searching.
        row_of = np.empty(span, np.int64)
        row_of[self.order - self.order[0]] = np.arange(len(self.order))
        return np.asarray(row_of[order - self.order[0]])

    def column(self, column: int, rows: I64) -> Column:
        return self.table.column(by_place(column)).take(pa.array(rows))

    @property
    def is_large(self) -> bool:
        """Whether there is as much again as there was when all was forgotten but what lived."""
        return is_worth_compacting(len(self.order), self._kept)

    def keep(self, living: I64) -> None:
        is_kept = np.isin(self.order, living)
        self.order = self.order[is_kept]
        self.table = self.table.filter(pa.array(is_kept)).combine_chunks()
        self._kept = len(self.order)

    def saved(self, living: I64) -> pa.Table:
        self.keep(living)
        return self.table.append_column("order", pa.array(self.order))

    def restore(self, table: pa.Table) -> None:
        self.order = np.asarray(table.column("order").to_numpy(), np.int64)
        self.table = table.select(self.schema.names)
        self._kept = len(self.order)


def keep_living(all_shown: Sequence[Shown], living: Callable[[], I64]) -> None:
    """Forgets what need not be shown any more, where it is much."""
    large = [shown for shown in all_shown if shown.is_large]
    orders = living() if large else np.empty(0, np.int64)
    for shown in large:
        shown.keep(orders)
