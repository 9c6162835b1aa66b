"""Exact sums by group, kept in as few digits as each needs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I64, is_worth_compacting, most_kept, rows_of
from sanderling.kernels.sql.exact import Accounts
from sanderling.operate.sql.rows.numbered import Grown

FIELDS = ("start", "size", "room", "low")


class ExactSums:
    """The accounts of kernels/sql/exact.py. A sum that is zero needs no digits."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._columns = {name: Grown(0, np.int64) for name in FIELDS}
        self._is_negative = Grown(False, np.bool_)
        self.pool = np.zeros(64, np.uint32)
        self.used = 0

    def accounts(self, groups: int) -> Accounts:
        """With room for so many groups."""
        start, size, room, low = (self._columns[name].up_to(groups) for name in FIELDS)
        return Accounts(start, size, room, low, self._is_negative.up_to(groups))

    def keep(self, pool: npt.NDArray[np.uint32], used: int) -> None:
        """What a kernel has made of the pool; digits that nobody has any more go when they are the most."""
        self.pool, self.used = pool, used
        if used > most_kept(0) and is_worth_compacting(used, int(self._columns["size"].all.sum())):
            self._compact()

    def _compact(self) -> None:
        size = self._columns["size"].all
        digits = self.pool[rows_of(self._columns["start"].all, size)]
        self._columns["start"].all[:] = np.cumsum(size) - size
        self._columns["room"].all[:] = size
        self.pool, self.used = digits, len(digits)

    def forget(self, groups: I64) -> None:
        self._columns["size"].all[groups] = 0

    def saved(self, groups: I64) -> pa.Table:
        columns = self.accounts(int(groups.max(initial=-1)) + 1)
        size = columns.size[groups]
        digits = self.pool[rows_of(columns.start[groups], size)]
        offsets = pa.array(np.concatenate([[0], np.cumsum(size)]), pa.int32())
        return pa.table(
            {
                "digits": pa.ListArray.from_arrays(offsets, pa.array(digits)),
                "low": pa.array(columns.low[groups]),
                "is_negative": pa.array(columns.is_negative[groups]),
            }
        )

    def restore(self, table: pa.Table) -> None:
        """Group by group, from 0 on."""
        self._begin()
        n = table.num_rows
        columns = self.accounts(n)
        digits = table.column("digits").combine_chunks()
        size = np.diff(digits.offsets.to_numpy())
        columns.size[:n], columns.room[:n] = size, size
        columns.start[:n] = np.cumsum(size) - size
        columns.low[:n] = table.column("low").to_numpy()
        columns.is_negative[:n] = table.column("is_negative").to_numpy()
        self.pool = np.array(digits.flatten().to_numpy(), np.uint32)
        self.used = len(self.pool)
