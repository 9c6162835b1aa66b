"""Many conditions on one column of numbers, each a stretch of its values: judged by looking a value up.

 slot      0 │ 1 │  2  │ 3 │  4  │ 5 │    6    │ 7
 value       b0        b1        b2              no number

They hold as comparisons do (comparisons.py). Where conditions compare other columns too, or are so many that
not each bound is a slot, slots say who may take a value, and the rest is judged by the pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I32, I64, Bools
from sanderling.kernels.order import ordered_by
from sanderling.kernels.trigger.sightings import listed_by_slot
from sanderling.operate.where.comparisons import Numbers, is_number, values_of
from sanderling.plans.columns import of_reading
from sanderling.plans.expression import Comparison, Expression

Values = npt.NDArray[Any]

# How often conditions may stand in slots, all together.
MOST_TAKERS = 1 << 22


@dataclass(frozen=True, slots=True)
class Slots:
    """By condition the first and the last slot in which it may hold; none, if the last comes first."""

    column: str
    bound: Values
    first: I64
    last: I64
    which: I64  # by row of the template: its condition
    is_exact: bool  # they say it all

    @property
    def takers(self) -> int:
        return int(self._sizes(self.which).sum())

    def _sizes(self, condition: I64) -> I64:
        sizes: I64 = np.maximum(self.last[condition] - self.first[condition] + 1, 0)
        return sizes

    def taken(self, rows: I64) -> tuple[I64, I32]:
        """By slot who takes it, of some rows of the template, by place: where they start, and who."""
        condition = self.which[rows]
        size = self._sizes(condition)
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        slot = np.repeat(self.first[condition], size) + within
        taker = np.repeat(np.arange(len(rows), dtype=np.int32), size)
        order = ordered_by(np.arange(len(slot)), slot)
        return np.searchsorted(slot[order], np.arange(2 * len(self.bound) + 3)), taker[order]

    def listed(
        self, numbers: Numbers, is_there: Bools, taken: tuple[I64, I32]
    ) -> tuple[I64, I32, I32, int]:  # fmt: skip
        """Which readings some row takes, where their lists start, and the lists.

        And how often some condition held, whether or not the reading is there.
        """
        is_null = np.zeros(len(numbers.values), np.bool_) if numbers.is_null is None else numbers.is_null
        values = numbers.values.astype(self.bound.dtype, copy=False)
        row, start, out, met = listed_by_slot(values, is_null, is_there, self.bound, *taken)
        before = np.append(0, np.cumsum(met))
        held = before[np.maximum(self.last + 1, self.first)] - before[self.first]
        return row, start, out, int(held.sum())


def slots_of(where: Expression, constants: pa.Table, types: Mapping[str, pa.DataType]) -> Slots | None:
    """Of the column that leaves the fewest; None if no column has stretches. `types` are of readings."""
    found = where.comparisons or ()
    names = dict.fromkeys(c.column for c in found)
    all_ = [_of_column(name, found, constants, types) for name in names]
    return min((s for s in all_ if s is not None), key=_share, default=None)


def _share(slots: Slots) -> float:
    """Of the values that a condition takes, as far as slots show."""
    return slots.takers / (2 * len(slots.bound) + 2)


def _of_column(
    column: str, found: Sequence[Comparison], constants: pa.Table, types: Mapping[str, pa.DataType]
) -> Slots | None:
    mine = [c for c in found if c.column == column and c.op != "<>"]
    type_ = types.get(of_reading(column))
    if not mine or type_ is None or not is_number(type_):
        return None
    values: list[Values] = []
    for comparison in mine:
        numbers = values_of(constants.column(comparison.constant))
        if not isinstance(numbers, Numbers) or numbers.is_null is not None or numbers.is_nan is not None:
            return None
        values.append(numbers.values)
    kinds = {v.dtype for v in values}
    is_whole = pa.types.is_integer(type_)
    if is_whole and len(kinds) > 1:
        return None
    as_ = np.int64 if is_whole and kinds == {np.dtype(np.int64)} else np.float64
    compared = [(c.op, v.astype(as_) + as_(0)) for c, v in zip(mine, values, strict=True)]
    bound = np.unique(np.concatenate([v for _, v in compared]))
    is_exact = len(mine) == len(found)
    slots = _slots(column, bound, compared, is_exact)
    coarse = -(-slots.takers // MOST_TAKERS)
    return slots if coarse <= 1 else _slots(column, bound[::coarse], compared, False)


def _slots(column: str, bound: Values, compared: Sequence[tuple[str, Values]], is_exact: bool) -> Slots:
    n = len(compared[0][1])
    first, last = np.zeros(n, np.int64), np.full(n, 2 * len(bound) + 1)
    for op, value in compared:
        at = np.searchsorted(bound, value)
        is_bound = bound[np.minimum(at, len(bound) - 1)] == value
        slot = 2 * at + is_bound
        if op in (">", ">=", "="):
            first = np.maximum(first, slot + (is_bound & (op == ">")))
        if op in ("<", "<=", "="):
            last = np.minimum(last, slot - (is_bound & (op == "<")))
    code, which = np.unique(first * (2 * len(bound) + 3) + last + 1, return_inverse=True)
    return Slots(
        column, bound, code // (2 * len(bound) + 3), code % (2 * len(bound) + 3) - 1, which, is_exact
    )
