"""One column of an aggregate: all that is asked of its values, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.operate.sql.aggregate.measures import Count, Extremes, Fed, Once, Sums, fed
from sanderling.operate.sql.rows.codes import Column, float_codes
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.steps import Steps
from sanderling.plans.nodes import AVG, COUNT, MAX, MIN, STDDEV, SUM
from sanderling.route.keys import Keys


@dataclass(frozen=True, slots=True)
class Told:
    """An aggregate of each step's group, before the step (line 0) and after it (line 1), as codes."""

    codes: I64
    is_null: Bools
    texts: Keys | None = None


class Measured:
    """The kinds of aggregates that are asked of a column; what they need in common is kept once."""

    def __init__(self, type_: pa.DataType, kinds: set[str], is_distinct: bool):
        self.is_float = pa.types.is_floating(type_)
        self.once = Once(type_) if is_distinct else None
        self.count = Count()
        self.sums = Sums(type_, is_spread=False) if kinds & {SUM, AVG} else None
        self.spread = Sums(type_, is_spread=True) if STDDEV in kinds else None
        self.extremes = Extremes(type_) if kinds & {MIN, MAX} else None

    def advance(
        self, steps: Steps, step: I64, sign: I64, columns: Sequence[Column], groups: int
    ) -> dict[str, Told]:
        """Takes in changes of one column; gives what it keeps by kind of aggregate."""
        changes = fed(step, sign, columns[0])
        if self.once is not None:
            changes = self.once.only(steps, changes)
        counts = self.count.advance(steps, changes.step, changes.sign, groups)
        told = {COUNT: Told(counts, np.zeros(counts.shape, np.bool_))}
        if self.sums is not None:
            told |= self._summed(self.sums, steps, changes, counts, groups)
        if self.spread is not None:
            _, roots, is_there = self.spread.advance(steps, changes, counts, groups)
            told[STDDEV] = Told(float_codes(np.where(is_there, roots, 0.0)), ~is_there)
        if self.extremes is not None:
            least, most, is_there = self.extremes.advance(steps, changes, groups)
            texts = self.extremes.texts
            told |= {MIN: Told(least, ~is_there, texts), MAX: Told(most, ~is_there, texts)}
        return told

    def _summed(self, sums: Sums, steps: Steps, changes: Fed, counts: I64, groups: int) -> dict[str, Told]:
        wholes, doubles, fits = sums.advance(steps, changes, counts, groups)
        # Where a sum of whole numbers does not fit into 64 bits, it still has a mean.
        has_mean = fits if self.is_float else counts > 0
        means = np.where(has_mean, doubles, 0.0) / np.maximum(counts, 1)
        codes = float_codes(np.where(fits, doubles, 0.0)) if self.is_float else np.where(fits, wholes, 0)
        return {SUM: Told(codes, ~fits), AVG: Told(float_codes(means), ~has_mean)}

    def tidy(self) -> None:
        """Frees what is not needed any more; codes told before are void."""
        for values in self._multisets().values():
            values.tidy()

    def shed(self, groups: int) -> None:
        """Of values that never leave, those go that can be neither the least nor the greatest any more."""
        if self.extremes is not None:
            self.extremes.shed(groups)

    def forget(self, groups: I64) -> None:
        for counts in self._counts().values():
            counts.of(int(groups.max(initial=-1)) + 1)[groups] = 0
        for sums in (self.sums, self.spread):
            for exact in sums.kept().values() if sums is not None else ():
                exact.forget(groups)
        for values in self._multisets().values():
            values.forget(groups)
            values.tidy(is_due=True)

    def held(self) -> int:
        """How many values are kept one by one."""
        return sum(len(values.alive) for values in self._multisets().values())

    def saved(self, groups: I64) -> dict[str, pa.Table]:
        """What is kept of these groups, by their place among them."""
        n = int(groups.max(initial=-1)) + 1
        place = np.full(n + 1, -1, np.int64)
        place[groups] = np.arange(len(groups))
        counts = {name: pa.array(count.of(n)[groups]) for name, count in self._counts().items()}
        tables = {"counts": pa.table(counts)}
        for name, sums in (("sums", self.sums), ("spread", self.spread)):
            for part, exact in sums.kept().items() if sums is not None else ():
                tables[f"{name}.{part}"] = exact.saved(groups)
        for name, values in self._multisets().items():
            table = values.saved()
            owner = pa.array(place[table.column("owner").to_numpy()])
            tables[name] = table.set_column(0, "owner", owner)
        return tables

    def restore(self, tables: dict[str, pa.Table]) -> None:
        for name, count in self._counts().items():
            column = tables["counts"].column(name).to_numpy()
            count.of(len(column))[: len(column)] = column
        for name, sums in (("sums", self.sums), ("spread", self.spread)):
            for part, exact in sums.kept().items() if sums is not None else ():
                exact.restore(tables[f"{name}.{part}"])
        for name, values in self._multisets().items():
            values.restore(tables[name])

    def _counts(self) -> dict[str, Count]:
        counts = {"count": self.count}
        if self.sums is not None:
            counts["odd"] = self.sums.odd
        if self.spread is not None:
            counts["odd_spread"] = self.spread.odd
        return counts

    def _multisets(self) -> dict[str, Multiset]:
        values: dict[str, Multiset] = {}
        if self.once is not None:
            values["once"] = self.once.values
        if self.extremes is not None:
            values["extremes"] = self.extremes.values
        return values
