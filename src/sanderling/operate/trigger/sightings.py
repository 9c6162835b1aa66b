"""Sightings: readings with the queries that take them, as a tree has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I32, I64, Bools
from sanderling.operate.sql.rows.codes import Column
from sanderling.plans.columns import by_place
from sanderling.route.sightings import lists_in, starts_of


@dataclass(frozen=True, slots=True)
class Sightings:
    """Those of one branch. The queries of the r-th stand from `start[r]` to `start[r + 1]`."""

    tick: I64
    columns: list[Column]
    start: I32
    query: I32

    def __len__(self) -> int:
        """Each as often as there are queries that take it."""
        return len(self.query)

    @classmethod
    def of(cls, rows: pa.Table, types: Sequence[pa.DataType]) -> Sightings:
        rows = rows.combine_chunks()
        columns = [rows.column(by_place(i)).cast(type_) for i, type_ in enumerate(types)]
        return cls(np.asarray(rows.column("tick").to_numpy(), np.int64), columns, *lists_in(rows))

    @classmethod
    def none(cls, types: Sequence[pa.DataType]) -> Sightings:
        empty, nobody = np.empty(0, np.int64), np.empty(0, np.int32)
        return cls(empty, [pa.array([], t) for t in types], np.zeros(1, np.int32), nobody)

    def filtered(self, is_kept: Bools) -> Sightings:
        """Some of the readings."""
        size, kept = np.diff(self.start), pa.array(is_kept)
        return replace(
            self,
            tick=self.tick[is_kept],
            columns=[column.filter(kept) for column in self.columns],
            start=starts_of(size[is_kept]),
            query=self.query[np.repeat(is_kept, size)],
        )
