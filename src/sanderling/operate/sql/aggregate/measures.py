"""What is kept of each group, so that its aggregates can be told before and after each step.

changes of a column ──► values (NULL left out; each once, if DISTINCT) ──► count, sum, spread, extremes
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools, most_kept
from sanderling.kernels.sql.exact import walk_sums
from sanderling.kernels.sql.ranking import walk_extremes
from sanderling.kernels.sql.spread import walk_spreads
from sanderling.kernels.sql.steps import walk_counts
from sanderling.operate.sql.aggregate.exact import ExactSums
from sanderling.operate.sql.rows.codes import Column
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.rows.ranking import Ranking
from sanderling.operate.sql.rows.steps import Steps
from sanderling.plans.nodes import Order
from sanderling.route.keys import Keys

ASCENDING = Order(0, is_descending=False, is_null_first=False)


@dataclass(frozen=True, slots=True)
class Fed:
    """Values of a column that come and go, each at a step."""

    step: I64
    sign: I64
    values: Column

    def take(self, rows: I64) -> Fed:
        return Fed(self.step[rows], self.sign[rows], self.values.take(pa.array(rows)))


def fed(step: I64, sign: I64, column: Column) -> Fed:
    """Those that are not NULL."""
    all_ = Fed(step, sign, column)
    if not column.null_count:
        return all_
    return all_.take(np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)))


class Once:
    """Of the values of a group, each once."""

    def __init__(self, type_: pa.DataType):
        self.values = Multiset([type_])

    def only(self, steps: Steps, changes: Fed) -> Fed:
        rows = self.values.number(steps.group[changes.step], [changes.values])
        row, step, sign = self.values.presence(rows, changes.step, changes.sign)
        (column,) = self.values.columns(row)
        self.values.tidy()
        return Fed(step, sign, column)


class Count:
    """How many."""

    def __init__(self) -> None:
        self._count = Grown(0, np.int64)

    def advance(self, steps: Steps, step: I64, sign: I64, groups: int) -> I64:
        """Of each step's group, before it (line 0) and after it (line 1)."""
        return np.stack(walk_counts(steps.group, step, sign, self.of(groups)))

    def of(self, groups: int) -> I64:
        return self._count.up_to(groups)


class Sums:
    """Exact sums, and if asked those of squares. Values that are not finite are counted, and spoil it."""

    def __init__(self, type_: pa.DataType, is_spread: bool):
        self.is_float = pa.types.is_floating(type_)
        self.type = pa.float64() if self.is_float else pa.int64()
        self.sums = ExactSums()
        self.squares = ExactSums() if is_spread else None
        self.odd = Count()

    def advance(self, steps: Steps, changes: Fed, counts: I64, groups: int) -> tuple[I64, F64, Bools]:
        """Sums as whole numbers and as doubles, or spreads as doubles; and whether there is one."""
        bits, is_odd = self._bits(changes.values)
        odd = self.odd.advance(steps, changes.step[is_odd], changes.sign[is_odd], groups)
        step, sign, bits = changes.step[~is_odd], changes.sign[~is_odd], bits[~is_odd]
        order, starts = steps.arranged(step)
        inputs = (steps.group, starts, bits[order], sign[order], self.is_float)
        accounts = self.sums.accounts(groups)
        if self.squares is None:
            wholes, doubles, fits, pool, used = walk_sums(*inputs, accounts, self.sums.pool, self.sums.used)
        else:
            squares = (self.squares.accounts(groups), self.squares.pool, self.squares.used)
            doubles, pool, used, square_pool, square_used = walk_spreads(
                *inputs, counts, accounts, self.sums.pool, self.sums.used, *squares
            )
            self.squares.keep(square_pool, square_used)
            wholes, fits = np.zeros(doubles.shape, np.int64), np.isfinite(doubles)
        self.sums.keep(pool, used)
        return wholes, doubles, fits & (odd == 0) & (counts > 0)

    def _bits(self, values: Column) -> tuple[I64, Bools]:
        """Whole numbers, or doubles by their bits; and which are not finite."""
        flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if not self.is_float:
            numbers = flat.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return numbers, np.zeros(len(numbers), np.bool_)
        doubles = np.ascontiguousarray(flat.cast(pa.float64()).to_numpy(zero_copy_only=False))
        return doubles.view(np.int64), ~np.isfinite(doubles)

    def kept(self) -> dict[str, ExactSums]:
        return {"sums": self.sums} | ({} if self.squares is None else {"squares": self.squares})


class Extremes:
    """The least and the greatest value, by their codes."""

    def __init__(self, type_: pa.DataType):
        self.values = Ranking([type_], [ASCENDING])

    def advance(self, steps: Steps, changes: Fed, groups: int) -> tuple[I64, I64, Bools]:
        """The least and the greatest before each step (line 0) and after it (line 1); if there is one."""
        rows = self.values.number(steps.group[changes.step], [changes.values])
        order, starts = steps.arranged(changes.step)
        forest = self.values.forest(groups)
        least, most = walk_extremes(forest, steps.group, starts, rows[order], changes.sign[order])
        codes = np.append(self.values.numbered.rows[:, -1], 0)  # of no row, -1: anything
        return codes[least], codes[most], least >= 0

    def tidy(self) -> None:
        self.values.tidy()

    def shed(self, groups: int) -> None:
        """Only the ends are kept, if there is much more; codes told before are void."""
        values = self.values
        if len(values.numbered) <= most_kept(2 * groups):
            return
        starts, none = np.zeros(groups + 1, np.int64), np.empty(0, np.int64)
        ends = walk_extremes(values.forest(groups), np.arange(groups), starts, none, none)
        is_end = np.zeros(len(values.numbered) + 1, np.bool_)
        for rows in ends:
            is_end[rows[1]] = True  # -1 is behind all
        values.count[np.flatnonzero(~is_end[:-1])] = 0
        values.restore(values.saved())

    @property
    def texts(self) -> Keys:
        return self.values.coder.texts
