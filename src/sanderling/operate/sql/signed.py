"""Signed rows on their way through a tree: whose, when, how often more or less, and what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.rows.codes import Coder, Column
from sanderling.operate.sql.rows.numbered import Numbered
from sanderling.plans.columns import by_places

NO_QUERY = -1  # of the rows of a table, which are for all


@dataclass(frozen=True, slots=True)
class Signed:
    """A sign here says how often: it is not 0, and rows need not be put together."""

    query: I64
    tick: I64
    sign: I64
    columns: list[Column]

    def __len__(self) -> int:
        return len(self.query)

    @classmethod
    def of(cls, rows: pa.Table, names: Sequence[str], types: Sequence[pa.DataType]) -> Signed:
        """Those of a table, whose columns are by these names."""
        query, tick, sign = (
            np.asarray(rows.column(name).to_numpy(), np.int64) for name in ("query", "tick", "sign")
        )
        columns = [rows.column(name).cast(type_) for name, type_ in zip(names, types, strict=True)]
        return cls(query, tick, sign, columns)

    @classmethod
    def none(cls, types: Sequence[pa.DataType]) -> Signed:
        empty = np.empty(0, np.int64)
        return cls(empty, empty, empty, [pa.array([], t) for t in types])

    def table(self) -> pa.Table:
        names = ["query", "tick", "sign", *by_places(len(self.columns))]
        fixed = [pa.array(self.query, pa.int32()), pa.array(self.tick), pa.array(self.sign)]
        return pa.Table.from_arrays([*fixed, *self.columns], names=names)

    def take(self, rows: I64) -> Signed:
        at = pa.array(rows)
        columns = [column.take(at) for column in self.columns]
        return Signed(self.query[rows], self.tick[rows], self.sign[rows], columns)

    def consolidated(self) -> Signed:
        """Equal rows of a tick as one, and none where they cancel."""
        coder = Coder([c.type for c in self.columns])
        numbered = Numbered(2 + coder.width)
        number = numbered.number(coder.codes(self.columns, self.query, self.tick))
        sign = np.zeros(len(numbered), np.int64)
        np.add.at(sign, number, self.sign)
        first = np.empty(len(numbered), np.int64)
        first[number[::-1]] = np.arange(len(self))[::-1]
        left = np.flatnonzero(sign)
        return replace(self.take(first[left]), sign=sign[left])


def put_together(parts: Sequence[Signed]) -> Signed:
    """The rows of all parts."""
    query, tick, sign = (
        np.concatenate([getattr(p, name) for p in parts]) for name in ("query", "tick", "sign")
    )
    columns = [_joined(list(c)) for c in zip(*(p.columns for p in parts), strict=True)]
    return Signed(query, tick, sign, columns)


def _joined(columns: list[Column]) -> pa.ChunkedArray:
    chunks = [
        c for column in columns for c in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])
    ]
    return pa.chunked_array(chunks, columns[0].type)
