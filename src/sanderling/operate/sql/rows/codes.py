"""Values as whole numbers: equal values have equal codes, and those of all but texts are ordered alike.

columns ──► codes: a row of int64 for each row ──► columns
            (which are NULL │ c0 │ c1 │ …)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools
from sanderling.route.keys import Keys

Column: TypeAlias = pa.Array | pa.ChunkedArray

# Columns whose NULLs one word tells; the sign stays out of it.
BITS = 63
ALL_BITS = np.iinfo(np.int64).max


def new_texts() -> Keys:
    return Keys(pa.array([], pa.string()))


class Coder:
    """Columns of certain types. NULL is a bit of the first words, and 0 where its code would be.

    There is one NaN, greater than any number, and one zero. Texts are numbered as they come; several coders
    may share their numbers.
    """

    def __init__(self, types: Sequence[pa.DataType], texts: Keys | None = None):
        self.types = tuple(types)
        self.texts = new_texts() if texts is None else texts
        self.null_words = -(-len(self.types) // BITS)
        self.width = self.null_words + len(self.types)

    def place(self, column: int) -> int:
        """Where the codes of a column are in a row of them."""
        return self.null_words + column

    def codes(self, columns: Sequence[Column], *ahead: I64) -> I64:
        """A row of codes for each row, behind some whole numbers that stand as they are."""
        n, first = len(ahead[0]), len(ahead)
        whole = np.zeros((n, first + self.width), np.int64)
        for i, numbers in enumerate(ahead):
            whole[:, i] = numbers
        rows = whole[:, first:]
        for i, (column, type_) in enumerate(zip(columns, self.types, strict=True)):
            flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            codes, is_null = code(flat, type_, self.texts)
            rows[:, self.place(i)] = codes
            if is_null is not None:
                rows[:, i // BITS] |= is_null.astype(np.int64) << (i % BITS)
        return whole

    def is_null(self, rows: I64, column: int) -> Bools:
        return (rows[:, column // BITS] >> (column % BITS) & 1).astype(np.bool_)

    def nulls(self, n: int) -> I64:
        """Codes of rows of NULLs."""
        rows = np.zeros((n, self.width), np.int64)
        rows[:, : self.null_words] = ALL_BITS
        return rows

    def column(self, rows: I64, column: int) -> pa.Array:
        """One column of rows of codes."""
        is_null = self.is_null(rows, column)
        codes = np.ascontiguousarray(rows[:, self.place(column)])
        return decoded(codes, is_null if is_null.any() else None, self.types[column], self.texts)

    def columns(self, rows: I64) -> list[pa.Array]:
        return [self.column(rows, i) for i in range(len(self.types))]


def code(column: pa.Array, type_: pa.DataType, texts: Keys) -> tuple[I64, Bools | None]:
    """The code of each value as one of this type, and where it is NULL (None: nowhere)."""
    is_null = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if column.type != type_:
        column = column.cast(type_, safe=False)  # a whole number as a double may round
    if pa.types.is_string(type_):
        codes = texts.number(column if is_null is None else column.fill_null(""))
    elif pa.types.is_floating(type_):
        values = column.cast(pa.float64()).fill_null(0.0)
        codes = float_codes(np.asarray(values.to_numpy(zero_copy_only=False)))
    else:
        whole = column.cast(pa.int32()) if pa.types.is_date(type_) else column
        codes = whole.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if is_null is not None:
        codes = np.where(is_null, 0, codes)
    return codes, is_null


def decoded(codes: I64, is_null: Bools | None, type_: pa.DataType, texts: Keys) -> pa.Array:
    """The values that codes stand for."""
    mask = is_null
    if pa.types.is_string(type_):
        return texts.all.take(pa.array(codes, mask=mask))
    if pa.types.is_floating(type_):
        return pa.array(code_floats(codes), mask=mask).cast(type_)
    if pa.types.is_date(type_):
        return pa.array(codes, mask=mask).cast(pa.int32()).cast(type_)
    if pa.types.is_boolean(type_):
        return pa.array(codes != 0, mask=mask)
    return pa.array(codes, mask=mask).cast(type_)


def float_codes(values: npt.NDArray[np.float64]) -> I64:
    """Whole numbers in the order of the values: below zero the bits of floats run backwards."""
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    return np.asarray(bits ^ (bits >> 63 & ALL_BITS))


def code_floats(codes: I64) -> npt.NDArray[np.float64]:
    return np.asarray(codes ^ (codes >> 63 & ALL_BITS)).view(np.float64)


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """As what values of two types are compared."""
    if left == right and not pa.types.is_floating(left):
        return left
    if pa.types.is_floating(left) or pa.types.is_floating(right):
        return pa.float64()
    if pa.types.is_temporal(left) or pa.types.is_temporal(right):
        return pa.timestamp("us")
    return pa.int64()


def as_doubles(column: Column) -> tuple[npt.NDArray[np.float64], Bools]:
    """Numbers as doubles, and where they are NULL."""
    is_null = np.asarray(pc.is_null(column).to_numpy(zero_copy_only=False), np.bool_)
    return np.asarray(
        column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
    ), is_null
