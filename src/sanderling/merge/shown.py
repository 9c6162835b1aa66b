"""What solutions show of the events that a search may still need."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.merge.codes import Column

I64 = npt.NDArray[np.int64]

# Compaction waits for this much, so that little is not copied all the time.
WORTH_COMPACTING = 10_000


class Shown:
    """Columns of a branch's events, by the events' numbers, in their order. An event is here once."""

    def __init__(self, types: Sequence[pa.DataType]):
        self.schema = pa.schema([(f"c{i}", t) for i, t in enumerate(types)])
        self.order: I64 = np.empty(0, np.int64)
        self.table: pa.Table = self.schema.empty_table()
        self._kept = 0

    def add(self, order: I64, rows: I64, columns: Sequence[Column]) -> None:
        """Events that are later than all that are here, in order, each once; where the columns have them."""
        if len(order):
            some = pa.Table.from_arrays(list(columns), schema=self.schema).take(pa.array(rows))
            self.order = np.concatenate([self.order, order])
            self.table = pa.concat_tables([self.table, some])

    def rows(self, order: I64) -> I64:
        return np.searchsorted(self.order, order)

    def column(self, column: int, rows: I64) -> Column:
        return self.table.column(column).take(pa.array(rows))

    def keep(self, living: Callable[[], I64]) -> None:
        """Forgets all but those that live, once there is as much again as there was then."""
        if len(self.order) > 2 * self._kept + WORTH_COMPACTING:
            self._keep(living())

    def _keep(self, living: I64) -> None:
        is_kept = np.isin(self.order, living)
        self.order = self.order[is_kept]
        self.table = self.table.filter(pa.array(is_kept)).combine_chunks()
        self._kept = len(self.order)

    def saved(self, living: I64) -> pa.Table:
        self._keep(living)
        return self.table.append_column("order", pa.array(self.order))

    def restore(self, table: pa.Table) -> None:
        self.order = np.asarray(table.column("order").to_numpy(), np.int64)
        self.table = table.select(self.schema.names)
        self._kept = len(self.order)
