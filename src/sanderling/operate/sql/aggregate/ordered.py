"""Aggregates of the order of values: percentiles, and what goes with the least or the greatest.

They are asked, told and saved as those of measured.py are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64
from sanderling.kernels.sql.quantiles import Cursors, walk_quantiles
from sanderling.kernels.sql.ranking import walk_extremes
from sanderling.operate.sql.aggregate.measured import Told
from sanderling.operate.sql.rows.codes import Column, code_floats, float_codes
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.rows.ranking import Ranking
from sanderling.operate.sql.rows.steps import Steps
from sanderling.plans.nodes import FIRST_BY, LAST_BY, PERCENTILE, Order


class Ordered:
    """Values of each group in a search tree of its own. Whoever has no rank is passed over: it is the first
    column that the rows are ordered by.
    """

    def __init__(self, types: list[pa.DataType], is_null_first: bool):
        self.values = Ranking(types, [Order(i, False, is_null_first) for i in range(len(types))])

    def _taken_in(
        self, steps: Steps, step: I64, sign: I64, columns: Sequence[Column]
    ) -> tuple[I64, I64, I64]:
        """Where the changes of each step begin, their rows and signs."""
        if columns[0].null_count:
            known = np.flatnonzero(columns[0].is_valid().to_numpy(zero_copy_only=False))
            step, sign = step[known], sign[known]
            columns = [column.take(pa.array(known)) for column in columns]
        rows = self.values.number(steps.group[step], list(columns))
        order, starts = steps.arranged(step)
        return starts, rows[order], sign[order]

    def tidy(self) -> None:
        if self.values.is_wasteful():
            self._anew(self.values.saved())

    def _anew(self, table: pa.Table) -> None:
        self.values.restore(table)

    def forget(self, groups: I64) -> None:
        self.values.forget(groups)
        if self.values.is_wasteful(is_due=True):
            self._anew(self.values.saved())

    def shed(self, groups: int) -> None:
        """Where none ever goes: all are kept, since what comes may stand between any two."""

    def held(self) -> int:
        return len(self.values.alive)

    def saved(self, groups: I64) -> dict[str, pa.Table]:
        place = np.full(int(groups.max(initial=-1)) + 2, -1, np.int64)
        place[groups] = np.arange(len(groups))
        table = self.values.saved()
        return {"values": table.set_column(0, "owner", pa.array(place[table.column("owner").to_numpy()]))}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        self._anew(tables["values"])


class Chosen(Ordered):
    """FIRST and LAST, MIN_BY and MAX_BY: of those that go with one, the least or the greatest; NULL as a last
    resort.
    """

    def __init__(self, type_: pa.DataType, by: pa.DataType, kind: str):
        super().__init__([by, type_], is_null_first=kind == LAST_BY)
        self.kind = kind

    def advance(
        self, steps: Steps, step: I64, sign: I64, columns: Sequence[Column], groups: int
    ) -> dict[str, Told]:
        """`columns`: what is shown, and what it goes by."""
        starts, rows, signs = self._taken_in(steps, step, sign, columns[::-1])
        ends = walk_extremes(self.values.forest(groups), steps.group, starts, rows, signs)
        row = ends[0 if self.kind == FIRST_BY else 1]
        coder = self.values.coder
        codes = np.append(self.values.numbered.rows[:, 1:], np.zeros((1, coder.width), np.int64), axis=0)
        is_null = np.stack([coder.is_null(codes[line], 1) for line in row]) | (row < 0)
        return {self.kind: Told(codes[:, coder.place(1)][row], is_null, coder.texts)}


class Percentile(Ordered):
    """What stands so far through the values in their order; between two of them, in proportion."""

    def __init__(self, part: float):
        super().__init__([pa.float64()], is_null_first=False)
        self.part = part
        self._forget_cursors()

    def _forget_cursors(self) -> None:
        self._row, self._before, self._total = Grown(-1, np.int64), Grown(0, np.int64), Grown(0, np.int64)

    def _anew(self, table: pa.Table) -> None:
        """Rows have other numbers: cursors begin at the first again."""
        super()._anew(table)
        self._forget_cursors()
        owners = self.values.owner
        total = self._total.up_to(int(owners.max(initial=-1)) + 1)
        np.add.at(total, owners, self.values.count[: len(owners)])

    def forget(self, groups: I64) -> None:
        n = int(groups.max(initial=-1)) + 1
        self._row.up_to(n)[groups], self._before.up_to(n)[groups], self._total.up_to(n)[groups] = -1, 0, 0
        super().forget(groups)

    def advance(
        self, steps: Steps, step: I64, sign: I64, columns: Sequence[Column], groups: int
    ) -> dict[str, Told]:
        starts, rows, signs = self._taken_in(steps, step, sign, columns)
        cursors = Cursors(*(grown.up_to(groups) for grown in (self._row, self._before, self._total)))
        forest = self.values.forest(groups)
        low, high, far = walk_quantiles(forest, cursors, steps.group, starts, rows, signs, self.part)
        values = np.append(code_floats(np.ascontiguousarray(self.values.numbered.rows[:, -1])), 0.0)
        found = _between(values[low], values[high], far)
        is_null = (low < 0) | ~np.isfinite(found)
        return {PERCENTILE: Told(float_codes(np.where(is_null, 0.0, found)), is_null)}


def _between(low: F64, high: F64, far: F64) -> F64:
    """Each by how near it is: a difference of the two could be beyond all numbers."""
    with np.errstate(invalid="ignore"):
        return np.where(far == 0, low, (1 - far) * low + far * high)
