"""Keys of a step that are asked for, as columns: most stay from batch to batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.pattern.presence import Key

FEW = 64


class Known:
    """Promise (tests/operate/test_known.py): as a set of keys of one column, in some order, whatever came and
    went; making its columns costs nothing by key.

    Who goes gives its place to the last one.
    """

    def __init__(self, type_: pa.DataType):
        self.type = type_
        self._place: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._query = np.zeros(FEW, np.int64)
        self._value: Any = np.zeros(FEW, np.int64 if pa.types.is_integer(type_) else object)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._place

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def add(self, key: Key) -> None:
        if key in self._place:
            return
        place = self._place[key] = len(self._keys)
        self._keys.append(key)
        if place == len(self._query):
            self._query = np.concatenate([self._query, np.zeros_like(self._query)])
            self._value = np.concatenate([self._value, np.zeros_like(self._value)])
        self._put(place, key)

    def _put(self, place: int, key: Key) -> None:
        self._query[place], (self._value[place],) = key[0], key[1]

    def update(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.add(key)

    def discard(self, key: Key) -> None:
        place = self._place.pop(key, None)
        if place is None:
            return
        last = self._keys.pop()
        if place < len(self._keys):
            self._keys[place], self._place[last] = last, place
            self._put(place, last)

    def columns(self) -> tuple[I64, pa.Array]:
        """By key its query, and what it is."""
        n = len(self._keys)
        return self._query[:n].copy(), pa.array(self._value[:n], self.type)
