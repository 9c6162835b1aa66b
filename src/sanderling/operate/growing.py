"""Columns that grow: appending costs by what is appended, not by what is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Values = npt.NDArray[Any]


class Growing:
    """An array with room behind it."""

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
    """A table that grows, in a few pieces of very different size: each row is copied a few times at most."""

    def __init__(self, table: pa.Table):
        self._pieces = [table.combine_chunks()]

    @property
    def table(self) -> pa.Table:
        return pa.concat_tables(self._pieces) if len(self._pieces) > 1 else self._pieces[0]

    def append(self, table: pa.Table) -> None:
        if not table.num_rows:
            return
        self._pieces.append(table)
        while len(self._pieces) > 1 and self._pieces[-2].num_rows <= 2 * self._pieces[-1].num_rows:
            self._pieces[-2:] = [pa.concat_tables(self._pieces[-2:]).combine_chunks()]
