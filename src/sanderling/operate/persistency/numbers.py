"""Numbers of rows that come and go: what is given back is given again."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.persistency import numbers as kernels

FEW = 16


class Given:
    """Promise (tests/operate/test_given.py): equal rows have one number, and there is no more room than for
    twice as many as there ever were at once.
    """

    def __init__(self, width: int):
        self._codes = np.zeros((FEW, width), np.int64)
        self._hashes, self._is_used = np.zeros(FEW, np.uint64), np.zeros(FEW, np.bool_)
        self._free, self._size = np.zeros(FEW, np.int64), np.zeros(2, np.int64)
        self._slots = np.full(4 * FEW, -1, np.int32)

    def __len__(self) -> int:
        return int(self._size[kernels.TOP] - self._size[kernels.FREE])

    @property
    def top(self) -> int:
        """All numbers are below."""
        return int(self._size[kernels.TOP])

    @property
    def room(self) -> int:
        """So many numbers may be given before there has to be more room."""
        return len(self._codes)

    @property
    def codes(self) -> I64:
        """The rows, by number."""
        return self._codes

    @property
    def used(self) -> I64:
        return np.flatnonzero(self._is_used[: self.top])

    @property
    def columns(self) -> kernels.Numbers:
        """For kernels."""
        return kernels.Numbers(
            self._slots, self._codes, self._hashes, self._is_used, self._free, self._size
        )  # fmt: skip

    def number(self, rows: I64) -> I64:
        """Of each row; one that is not known gets one."""
        self._make_room(len(self) + len(rows))
        return kernels.number_all(self.columns, rows)

    def find(self, rows: I64) -> I64:
        """Of each row, -1 where it is not known."""
        return kernels.find_all(self.columns, rows)

    def enter_anew(self) -> None:
        """Codes have been written anew."""
        self._slots[:] = -1
        kernels.enter_all(self.columns)

    def _make_room(self, n: int) -> None:
        if n > self.room:
            for name in ("_codes", "_hashes", "_is_used", "_free"):
                before = getattr(self, name)
                after = np.zeros((2 * n, *before.shape[1:]), before.dtype)
                after[: len(before)] = before
                setattr(self, name, after)
        if 2 * n > len(self._slots):
            self._slots = np.full(1 << (4 * n - 1).bit_length(), -1, np.int32)
            kernels.enter_all(self.columns)
