"""Keys and their numbers: 0, 1, 2 … in order of first sight; a look costs the same among few or many."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.kernels.hashing import hash_keys
from sanderling.kernels.keys import fill, find, find_or_add


class Keys:
    """Promises (tests/properties/test_keys.py): equal keys have one number, different keys never the same."""

    def __init__(self, known: pa.Array):
        self.all = known[:0]
        self._hashes = np.empty(0, np.uint64)
        self._slots = np.full(2, -1, np.int32)
        # Hashes of integers are one to one; two texts may share a hash, and are compared.
        self._may_collide = pa.types.is_string(known.type)
        self.number(known)

    def __len__(self) -> int:
        return len(self.all)

    def number(self, keys: pa.Array) -> I64:
        """The number of each key; keys not seen before get new ones."""
        if not len(keys):
            return np.empty(0, np.int64)
        hashes = hash_keys(keys)
        self._make_room(len(self) + len(keys))
        numbers, new = find_or_add(self._slots, self._hashes, len(self), hashes)
        self._append(keys, new)
        for i in self._mistaken(keys, numbers):
            numbers[i] = self._search(keys[i], hashes[i])
        return numbers

    def find(self, keys: pa.Array) -> I64:
        """The number of each key, -1 where it is unknown."""
        if not len(keys):
            return np.empty(0, np.int64)
        numbers = find(self._slots, self._hashes, hash_keys(keys))
        some = np.flatnonzero(numbers >= 0)
        for i in some[self._mistaken(keys.take(pa.array(some)), numbers[some])]:
            numbers[i] = pc.index(self.all, keys[i]).as_py()
        return numbers

    def _append(self, keys: pa.Array, new: I64) -> None:
        if len(new):
            self.all = pa.concat_arrays([self.all, keys.take(pa.array(new))])

    def _mistaken(self, keys: pa.Array, numbers: I64) -> I64:
        """Where a key was given the number of another one with the same hash."""
        if not self._may_collide or not len(keys):
            return np.empty(0, np.int64)
        is_same = pc.equal(keys, self.all.take(pa.array(numbers)))
        return np.flatnonzero(~np.asarray(is_same.to_numpy(zero_copy_only=False), np.bool_))

    def _search(self, key: pa.Scalar, hash_: np.uint64) -> int:
        found: int = pc.index(self.all, key).as_py()
        if found < 0:
            found = len(self)
            self._make_room(found + 1)
            self._hashes[found] = hash_
            self.all = pa.concat_arrays([self.all, pa.array([key.as_py()], self.all.type)])
        return found

    def _make_room(self, n: int) -> None:
        if n > len(self._hashes):
            hashes = np.empty(2 * n, np.uint64)
            hashes[: len(self)] = self._hashes[: len(self)]
            self._hashes = hashes
        if 2 * n > len(self._slots):
            self._slots = np.full(1 << (4 * n - 1).bit_length(), -1, np.int32)
            fill(self._slots, self._hashes[: len(self)])
