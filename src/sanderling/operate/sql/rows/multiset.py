"""Rows and how often each is there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.kernels.sql.steps import walk_presence
from sanderling.operate.sql.rows.codes import Coder, Column
from sanderling.operate.sql.rows.numbered import Grown, Numbered, Waste
from sanderling.operate.sql.rows.order import by_row_and_time
from sanderling.plans.columns import by_places


class Multiset:
    """Rows of an owner (a query, a group) and a few columns.

    A row that is not there any more keeps its number until most are such; then all are numbered anew.
    """

    def __init__(self, types: list[pa.DataType]):
        self.types = types
        self.waste = Waste()
        self._begin()

    def _begin(self) -> None:
        self.coder = Coder(self.types)
        self.numbered = Numbered(1 + self.coder.width)
        self._count = Grown(0, np.int64)

    @property
    def count(self) -> I64:
        return self._count.up_to(len(self.numbered))

    @property
    def alive(self) -> I64:
        """The numbers of the rows that are there."""
        return np.flatnonzero(self.count[: len(self.numbered)])

    @property
    def owner(self) -> I64:
        return self.numbered.rows[:, 0]

    def number(self, owner: I64, columns: list[Column]) -> I64:
        return self.numbered.number(self.coder.codes(columns, owner))

    def presence(self, row: I64, time: I64, sign: I64) -> tuple[I64, I64, I64]:
        """Takes in changes; gives those of being there at all: row, time, sign."""
        return walk_presence(by_row_and_time(row, time), row, time, sign, self.count)

    def columns(self, rows: I64) -> list[pa.Array]:
        return self.coder.columns(self.numbered.rows[rows, 1:])

    def forget(self, owners: I64) -> None:
        self.count[: len(self.numbered)][np.isin(self.owner, owners)] = 0

    def tidy(self, is_due: bool = False) -> None:
        """Numbers the rows that are there anew, if most of what is known is not there any more."""
        if self.is_wasteful(is_due):
            self.restore(self.saved())

    def is_wasteful(self, is_due: bool = False) -> bool:
        """Whether most of what is known is not there any more."""
        return self.waste.is_too_much(len(self.numbered), lambda: len(self.alive), is_due)

    def saved(self) -> pa.Table:
        rows = self.alive
        names = ["owner", "count", *by_places(len(self.types))]
        fixed = [pa.array(self.owner[rows]), pa.array(self.count[rows])]
        return pa.Table.from_arrays([*fixed, *self.columns(rows)], names=names)

    def restore(self, table: pa.Table) -> None:
        self._begin()
        rows = self.number(table.column("owner").to_numpy(), table.columns[2:])
        self.count[rows] = table.column("count").to_numpy()
