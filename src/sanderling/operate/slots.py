"""Many conditions on one column of numbers, each a stretch of its values: judged by looking a value up.

 slot      0 │ 1 │  2  │ 3 │  4  │ 5 │    6    │ 7
 value       b0        b1        b2              no number

They hold as comparisons do (operate/comparisons.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sanderling.kernels.sightings import listed_by_slot
from sanderling.operate.comparisons import Numbers, comparisons
from sanderling.operate.conditions import Condition

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Slots:
    """By condition the first and the last of the slots in which it holds; none, if the last comes first."""

    column: str
    bound: npt.NDArray[Any]
    first: I64
    last: I64
    which: I64  # by row of the template: its condition

    def takers(self, condition: I64, query: I32) -> tuple[I64, I32]:
        """By slot who takes it, of queries with these conditions: where they start, and who."""
        size = np.maximum(self.last[condition] - self.first[condition] + 1, 0)
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        slot, taker = np.repeat(self.first[condition], size) + within, np.repeat(query, size)
        order = np.argsort(slot, kind="stable")
        starts = np.searchsorted(slot[order], np.arange(2 * len(self.bound) + 3))
        return starts, taker[order]

    def listed(
        self, numbers: Numbers, is_there: Bools, condition: I64, query: I32
    ) -> tuple[I64, I32, I32, int]:  # fmt: skip
        """Which readings some query takes, where their lists start, and the lists.

        And how often some condition held, whether or not the reading is there.
        """
        is_null = np.zeros(len(numbers.values), np.bool_) if numbers.is_null is None else numbers.is_null
        values = numbers.values.astype(self.bound.dtype, copy=False)
        row, start, out, met = listed_by_slot(
            values, is_null, is_there, self.bound, *self.takers(condition, query)
        )
        before = np.append(0, np.cumsum(met))
        held = before[np.maximum(self.last + 1, self.first)] - before[self.first]
        return row, start, out, int(held.sum())


def slots_of(conditions: Sequence[Condition], which: I64, is_whole: bool) -> Slots | None:
    """None if they are something else; `is_whole`: the column has whole numbers."""
    found = [comparisons(c.sql) for c in conditions]
    columns = {c.column for some in found for c in some or ()}
    if None in found or len(columns) != 1 or any(c.op == "<>" for some in found for c in some or ()):
        return None
    values = [
        [c.constants[one.constant].as_py() for one in some or ()]
        for c, some in zip(conditions, found, strict=True)
    ]
    kinds = {type(value) for some in values for value in some}
    if (
        not kinds <= {int, float}
        or (is_whole and len(kinds) > 1)
        or any(v != v for some in values for v in some)
    ):
        return None
    type_ = np.int64 if is_whole and kinds == {int} else np.float64
    bound = np.unique(np.array([v for some in values for v in some], type_) + type_(0))
    first, last = np.zeros(len(values), np.int64), np.full(len(values), 2 * len(bound) + 1)
    for n, (some, own) in enumerate(zip(found, values, strict=True)):
        for comparison, value in zip(some or (), own, strict=True):
            at = 2 * int(np.searchsorted(bound, type_(value))) + 1
            if comparison.op in (">", ">=", "="):
                first[n] = max(first[n], at + (comparison.op == ">"))
            if comparison.op in ("<", "<=", "="):
                last[n] = min(last[n], at - (comparison.op == "<"))
    return Slots(columns.pop(), bound, first, last, which)
