"""Readings with the rows of a template that take them, by slots; what these leave open is judged by pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I32, I64, Bools
from sanderling.operate.where.comparisons import Numbers, values_of
from sanderling.operate.where.conditions import Columns, pairs_judged
from sanderling.operate.where.slots import Slots
from sanderling.plans.plan import Template

# That may be judged at a time: what conditions read of them is held.
MOST_PAIRS = 1 << 22


class Listed(NamedTuple):
    """Readings that somebody takes; who takes the r-th stands from `start[r]` to `start[r + 1]`."""

    at: I64
    start: I32
    who: I32
    judged: int
    passed: int


class Slotted:
    """A template of triggers whose conditions are looked up.

    Promise (tests/engine/test_slots.py): who takes a reading is who would if each condition were judged.
    """

    def __init__(self, slots: Slots, template: Template, constants: pa.Table):
        self.slots, self.template, self.constants = slots, template, constants
        self._rows: I64 = np.empty(0, np.int64)
        self._taken = slots.taken(self._rows)

    def listed(self, is_there: Bools, columns: Callable[[I64], Columns], rows: I64) -> Listed:
        """Of some rows of the template, by place. `columns` gives those of readings, by place."""
        if not np.array_equal(rows, self._rows):
            self._rows, self._taken = rows, self.slots.taken(rows)
        n = len(is_there)
        block = max(1, n if self.slots.is_exact else MOST_PAIRS // max(1, len(rows)))
        begins = range(0, n, block)
        some = [self._listed(np.arange(at, min(n, at + block)), is_there, columns) for at in begins]
        return _behind_each_other(some)

    def _listed(self, some: I64, is_there: Bools, columns: Callable[[I64], Columns]) -> Listed:
        numbers = values_of(columns(some)(self.slots.column))
        assert isinstance(numbers, Numbers)
        at, start, who, held = self.slots.listed(numbers, is_there[some], self._taken)
        if self.slots.is_exact:
            return Listed(some[at], start, who, len(some) * len(self.slots.first), held)
        pair = np.repeat(at, np.diff(start))
        holds = pairs_judged(self.template, columns(some[pair]), self.constants, self._rows[who])
        size = np.bincount(pair[holds], minlength=len(some))
        at = np.flatnonzero(size)
        found = np.append(0, np.cumsum(size[at])).astype(np.int32)
        return Listed(some[at], found, who[holds], len(who), int(np.count_nonzero(holds)))


def _behind_each_other(parts: Sequence[Listed]) -> Listed:
    if len(parts) == 1:
        return parts[0]
    sizes = [np.empty(0, np.int32), *(np.diff(p.start) for p in parts)]
    at, who = (
        np.concatenate([np.empty(0, type_), *columns])
        for type_, columns in ((np.int64, [p.at for p in parts]), (np.int32, [p.who for p in parts]))
    )
    start = np.append(0, np.cumsum(np.concatenate(sizes))).astype(np.int32)
    return Listed(at, start, who, sum(p.judged for p in parts), sum(p.passed for p in parts))
