"""Arrays and columns: their types, how they grow, and when what is dead in them is let go."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Values = npt.NDArray[Any]

# Compaction waits for this much, so that little is not copied all the time.
WORTH_COMPACTING = 10_000


def is_worth_compacting(known: int, alive: int) -> bool:
    """Whether the greater part of what is known is dead, and it is enough to matter."""
    return known > most_kept(alive)


def most_kept(alive: int) -> int:
    """So much may be known, when so much of it is alive."""
    return 2 * alive + WORTH_COMPACTING


# ----- columns


def flat(column: pa.ChunkedArray) -> pa.Array:
    """In one piece."""
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def int64_of(table: pa.Table, column: str) -> I64:
    return np.asarray(table.column(column).to_numpy(), np.int64)


def float64_of(table: pa.Table, column: str) -> F64:
    return np.asarray(table.column(column).to_numpy(), np.float64)


def differs(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Bools:
    """Where two columns hold different values; NULL is the same as NULL, NaN as NaN."""
    is_same = pc.or_(pc.equal(old, new).fill_null(False), pc.and_(pc.is_null(old), pc.is_null(new)))
    if pa.types.is_floating(old.type):
        both_nan = pc.and_(pc.is_nan(old).fill_null(False), pc.is_nan(new).fill_null(False))
        is_same = pc.or_(is_same, both_nan)
    return ~np.asarray(is_same.to_numpy(), np.bool_)


def key_ranks(keys: pa.Array | pa.ChunkedArray) -> I64:
    """Numbers in the order of the keys, texts by their bytes; equal keys have equal numbers."""
    if pa.types.is_integer(keys.type):
        return np.asarray(keys.to_numpy(), np.int64)
    one = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    encoded = one.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), np.int64)
    rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
    return np.asarray(rank[encoded.indices.to_numpy(zero_copy_only=False)])


def order_of(*columns: I64) -> I64:
    """Rows in order of the first column, then of the next; which of equal ones comes first is not said.

    Where all columns together fit into one number, a single sort does: 10x over lexsort of three.
    """
    packed = _packed(columns)
    if packed is None:
        return np.asarray(np.lexsort(columns[::-1]), np.int64)
    return np.asarray(np.argsort(packed), np.int64)


def _packed(columns: tuple[I64, ...]) -> I64 | None:
    """Numbers in the order of some columns; None: they need more bits than there are."""
    if not len(columns[0]):
        return None
    packed, bits = np.zeros(len(columns[0]), np.int64), 0
    for column in columns:
        low, high = int(column.min()), int(column.max())
        unit = next((unit for unit in UNITS if high - low >= unit and not ((column - low) % unit).any()), 1)
        width = ((high - low) // unit).bit_length()
        bits += width
        if bits > 62:
            return None
        packed = packed << width | (column - low) // unit
    return packed


# Times are mostly whole seconds, and so take fewer bits than they could.
UNITS = (1_000_000, 1_000)


def rows_of(start: I64, length: I64) -> I64:
    """The rows of all lists, one list behind the other."""
    first = np.cumsum(length) - length
    return np.asarray(np.arange(int(length.sum())) + np.repeat(start - first, length))


# ----- what grows


class Growing:
    """An array with room behind it: appending costs by what is appended, not by what is there."""

    def __init__(self, values: Values, default: float):
        """What is not said is `default`."""
        self._room = values.copy()
        self._n = len(values)
        self._default = default

    def __len__(self) -> int:
        return self._n

    @property
    def all(self) -> Values:
        """A view, to be read and written; appending may end it."""
        return self._room[: self._n]

    def append(self, values: Values) -> None:
        first = self._n
        self.grow_to(self._n + len(values))
        self._room[first : self._n] = values

    def grow_to(self, n: int) -> None:
        if n > len(self._room):
            room = np.full(2 * n, self._default, self._room.dtype)
            room[: self._n] = self._room[: self._n]
            self._room = room
        self._n = max(n, self._n)

    def shrink_to(self, n: int) -> None:
        """Forgets what is behind."""
        self._room[n : self._n] = self._default
        self._n = n


class Pile:
    """A table that grows by a little, again and again.

    It is in a few pieces of very different size: each row is copied a few times at most.

    In a piece for each time, what is looked up in it would cost by how often it grew.
    """

    def __init__(self, table: pa.Table):
        self._pieces = [table.combine_chunks()]
        self._table: pa.Table | None = None

    @property
    def table(self) -> pa.Table:
        if self._table is None:
            self._table = pa.concat_tables(self._pieces)
        return self._table

    def append(self, table: pa.Table) -> None:
        if not table.num_rows:
            return
        self._table = None
        self._pieces.append(table.combine_chunks())
        while len(self._pieces) > 1 and self._pieces[-2].num_rows <= 2 * self._pieces[-1].num_rows:
            self._pieces[-2:] = [pa.concat_tables(self._pieces[-2:]).combine_chunks()]
