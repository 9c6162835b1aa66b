"""What is remembered of tiles: by query and tile the last rows, in the order in which they came."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.kernels.tessellate.rings import NOBODY, Rings, walk_rings
from sanderling.operate.sql.rows.codes import Column, code
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown, Numbered

ENDLESS = int(np.iinfo(np.int64).max)


class Tiles(Multiset):
    """Rows that hang in rings; numbers of rows rise with their order."""

    def __init__(self, types: list[pa.DataType], tile: int):
        self.tile = tile
        super().__init__(types)

    def _begin(self) -> None:
        super()._begin()
        self.known = Numbered(3)  # query, whether the tile is NULL, its code
        self._first, self._last, self._behind = (Grown(NOBODY, np.int64) for _ in range(3))
        self._size, self.came = Grown(0, np.int64), Grown(ENDLESS, np.int64)

    def tiles_of(self, rows: I64) -> I64:
        """By row the tile that it is in."""
        codes = self.numbered.rows[rows]
        is_null = self.coder.is_null(codes[:, 1:], self.tile).astype(np.int64)
        value = codes[:, 1 + self.coder.place(self.tile)]
        return self.known.number(np.column_stack([codes[:, 0], is_null, value]))

    def called(self, names: Column) -> tuple[I64, I64]:
        """Tiles that are called like this, of all queries: which, and by which of the names."""
        flat = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
        codes, _ = code(flat, self.types[self.tile], self.coder.texts)
        order = np.argsort(codes, kind="stable")
        at = np.searchsorted(codes[order], self.known.rows[:, 2])
        at = np.minimum(at, len(codes) - 1)
        is_meant = (codes[order][at] == self.known.rows[:, 2]) & (self.known.rows[:, 1] == 0)
        found = np.flatnonzero(is_meant)
        return found, order[at[found]]

    def walk(self, n: int, tile: I64, row: I64, tick: I64) -> tuple[I64, I64]:
        """Events in their order; gives rows that leave, and when."""
        rows, tiles = len(self.numbered), len(self.known)
        first, last, size = (kept.up_to(tiles) for kept in (self._first, self._last, self._size))
        gone, when = walk_rings(Rings(first, last, size, self._behind.up_to(rows)), n, tile, row, tick)
        self.count[row[row != NOBODY]] = 1
        self.count[gone] = 0
        return gone, when

    def forget(self, owners: I64) -> None:
        super().forget(owners)
        self._size.up_to(len(self.known))[: len(self.known)][np.isin(self.known.rows[:, 0], owners)] = 0

    def restore(self, table: pa.Table) -> None:
        super().restore(table)
        rows = np.arange(len(self.numbered))
        self.walk(ENDLESS, self.tiles_of(rows), rows, np.zeros(len(rows), np.int64))
