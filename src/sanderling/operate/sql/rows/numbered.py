"""Rows of codes and their numbers, and columns beside them that grow as rows come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I64, Bools, most_kept
from sanderling.kernels.rows import enter_rows, find_around, find_or_add_rows, find_rows


class Numbered:
    """Rows are numbered 0, 1, 2 … in order of first sight; equal rows have one number."""

    def __init__(self, width: int):
        self._rows = np.empty((16, width), np.int64)
        self._slots = np.full(64, -1, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> I64:
        return self._rows[: self._count]

    def number(self, rows: I64) -> I64:
        """The number of each row; rows not seen before get new ones."""
        self._make_room(self._count + len(rows))
        numbers, self._count = find_or_add_rows(self._slots, self._rows, self._count, rows)
        return numbers

    def find(self, rows: I64) -> I64:
        """The number of each row, -1 where it is unknown."""
        return find_rows(self._slots, self._rows, rows)

    def find_around(self, rows: I64, has_any: Bools) -> I64:
        """The numbers of each row's neighbours in its last two columns, itself among them; -1 is unknown."""
        return find_around(self._slots, self._rows, rows, has_any)

    def _make_room(self, n: int) -> None:
        if n > len(self._rows):
            grown = np.empty((2 * n, self._rows.shape[1]), np.int64)
            grown[: self._count] = self.rows
            self._rows = grown
        if 2 * n > len(self._slots):
            self._slots = np.full(1 << (4 * n - 1).bit_length(), -1, np.int32)
            enter_rows(self._slots, self._rows, self._count)


class Grown:
    """A column with a value for each number, or so many of them; new ones have the same first value."""

    def __init__(self, first: Any, dtype: Any, *width: int):
        self.first = first
        self.all = np.full((16, *width), first, dtype)

    def up_to(self, n: int) -> npt.NDArray[Any]:
        """All values, with room for n of them; what is written into it stays."""
        if n > len(self.all):
            grown = np.full((2 * n, *self.all.shape[1:]), self.first, self.all.dtype)
            grown[: len(self.all)] = self.all
            self.all = grown
        return self.all


class Waste:
    """When to compact: once the greater part of what is known is dead. Looking costs: it is rare."""

    def __init__(self) -> None:
        self.look_at = most_kept(0)

    def is_too_much(self, known: int, alive: Callable[[], int], is_due: bool) -> bool:
        """`alive` counts what is, and is called only when it may matter, or when a look is due."""
        if known < self.look_at and not is_due:
            return False
        living = alive()
        self.look_at = most_kept(living)
        return known >= self.look_at
