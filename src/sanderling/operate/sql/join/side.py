"""One side of a join: its rows, in chains by key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.sql.partners import Chains, Party, Places, take_in
from sanderling.operate.sql.join.cells import cells_of
from sanderling.operate.sql.rows.codes import Coder, Column, as_doubles, code
from sanderling.operate.sql.rows.numbered import Grown, Numbered
from sanderling.operate.sql.signed import Signed
from sanderling.plans.columns import by_place
from sanderling.route.keys import Keys
from sanderling.space.metric import chords_within, folded, vectors
from sanderling.space.sphere import FOLD_STRETCH

NOWHERE = np.empty(0)  # the third of numbers that only places on the globe have


@dataclass(frozen=True, slots=True)
class Shape:
    """What a side is asked for: its columns, those that are compared (as what), and where its places are."""

    types: tuple[pa.DataType, ...]
    keys: tuple[int, ...]
    key_types: tuple[pa.DataType, ...]
    place: tuple[int, int] | None
    is_by_query: bool  # rows meet those of their own query only
    is_in_cells: bool
    is_globe: bool = False


@dataclass(frozen=True, slots=True)
class Coming:
    """Changes of a side on their way in: by number of their row, with what each meets others by."""

    row: I64
    tick: I64
    sign: I64
    key: I64
    key_codes: I64


class Side:
    """Rows of a query and columns; a row that is there is in the chain of its key."""

    def __init__(self, shape: Shape, texts: Keys):
        self.shape = shape
        self.coder = Coder(shape.types, texts)
        self.numbered = Numbered(1 + self.coder.width)
        self._count, self._matches = Grown(0, np.int64), Grown(0, np.int64)
        self._key, self._next, self._before = (Grown(-1, np.int64) for _ in range(3))
        self._head = Grown(-1, np.int64)
        self._places = [Grown(0.0, np.float64) for _ in range(4)]

    def number(self, changes: Signed, radius: F64 | None, keys: Numbered) -> Coming:
        """Changes with numbers for their rows and keys; nothing is counted yet."""
        codes = self.coder.codes(changes.columns, changes.query)
        row = self.numbered.number(codes)
        key_codes, has_key, places = self._keys(changes, codes, radius)
        key = np.full(len(row), -1, np.int64)
        key[has_key] = keys.number(key_codes[has_key])
        self._key.up_to(len(self.numbered))[row] = key
        for kept, values in zip(self._places, places, strict=True):
            if len(values):
                kept.up_to(len(self.numbered))[row] = values
        return Coming(row, changes.tick, changes.sign, key, key_codes)

    def _keys(self, changes: Signed, codes: I64, radius: F64 | None) -> tuple[I64, Bools, Places]:
        """What rows meet by: query, equal columns, cell; and whether a row can meet anyone at all."""
        n = len(changes)
        columns = [changes.query if self.shape.is_by_query else np.zeros(n, np.int64)]
        has_key = np.ones(n, np.bool_)
        for column, type_ in zip(self.shape.keys, self.shape.key_types, strict=True):
            columns.append(self._compared(column, type_, changes.columns[column], codes))
            has_key &= ~self.coder.is_null(codes[:, 1:], column)
        places = Places(NOWHERE, NOWHERE, NOWHERE, NOWHERE)
        if self.shape.place is not None:
            assert radius is not None
            (x, no_x), (y, no_y) = (as_doubles(changes.columns[c]) for c in self.shape.place)
            places, cells = (on_globe if self.shape.is_globe else on_plane)(x, y, radius)
            has_key &= ~(no_x | no_y)
            if self.shape.is_in_cells:
                columns += cells
        return np.column_stack(columns), has_key, places

    def _compared(self, column: int, type_: pa.DataType, values: Column, codes: I64) -> I64:
        """The codes of a column as values of a type; mostly those that it has anyway."""
        if _kind(type_) == _kind(self.shape.types[column]):
            return np.asarray(codes[:, 1 + self.coder.place(column)])
        flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return code(flat, type_, self.coder.texts)[0]

    def take_in(self, row: I64, sign: I64, keys: int) -> None:
        take_in(self.party(keys), row, sign)

    def party(self, keys: int) -> Party:
        """For the kernels, with room for so many keys."""
        n = len(self.numbered)
        chains = Chains(self._head.up_to(keys), self._next.up_to(n), self._before.up_to(n))
        x, y, reach, z = (kept.up_to(n) for kept in self._places)
        places = Places(x, y, reach, z if self.shape.is_globe else NOWHERE)
        return Party(chains, self._count.up_to(n), self._key.up_to(n), places, self._matches.up_to(n))

    @property
    def count(self) -> I64:
        return self._count.up_to(len(self.numbered))

    @property
    def matches(self) -> I64:
        """How many partners a row has, if somebody counts them."""
        return self._matches.up_to(len(self.numbered))

    @property
    def alive(self) -> I64:
        return np.flatnonzero(self.count[: len(self.numbered)])

    def query(self, rows: I64) -> I64:
        return np.asarray(self.numbered.rows[rows, 0])

    def columns(self, rows: I64) -> list[pa.Array]:
        """The columns of rows by number; -1 is a row of NULLs."""
        is_none = rows < 0
        if not is_none.any():
            return self.coder.columns(self.numbered.rows[rows, 1:])
        codes = self.coder.nulls(len(rows))
        codes[~is_none] = self.numbered.rows[rows[~is_none], 1:]
        return self.coder.columns(codes)

    def forget(self, queries: I64, keys: int) -> None:
        rows = self.alive
        rows = rows[np.isin(self.query(rows), queries)]
        self.take_in(rows, -self.count[rows], keys)

    def saved(self) -> pa.Table:
        rows = self.alive
        fixed = {
            "query": pa.array(self.query(rows)),
            "count": pa.array(self.count[rows]),
            "matches": pa.array(self.matches[rows]),
        }
        return pa.table(fixed | {by_place(i): column for i, column in enumerate(self.columns(rows))})

    def set_matches(self, rows: I64, matches: I64) -> None:
        self.matches[rows] = matches


def on_plane(x: F64, y: F64, radius: F64) -> tuple[Places, list[I64]]:
    """Places, with squares of how far they look, and their cells."""
    with np.errstate(over="ignore"):
        reach = np.where(radius >= 0, radius * radius, np.where(np.isnan(radius), np.nan, -1.0))
    return Places(x, y, reach, NOWHERE), [cells_of(x, radius), cells_of(y, radius)]


def on_globe(lon: F64, lat: F64, radius: F64) -> tuple[Places, list[I64]]:
    """The same as vectors, with chords; cells are those of a map on which near places are near."""
    vector = vectors(lon, lat)
    x, y, z = (np.ascontiguousarray(column) for column in vector.T)
    cells = [cells_of(at, radius * FOLD_STRETCH) for at in folded(vector)]
    return Places(x, y, chords_within(radius), z), cells


def _kind(type_: pa.DataType) -> str:
    """Types of one kind have codes that can be compared."""
    if pa.types.is_integer(type_):
        return "whole"
    return "float" if pa.types.is_floating(type_) else str(type_)
