"""WHERE: which conditions a reading satisfies, evaluated once per batch and distinct condition.

Either they are judged per reading, before the join, or per pair, after it (orders.py). Those whose
constants differ from query to query are always judged per pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling import relational
from sanderling.arrays import I64, Bools
from sanderling.operate.where.comparisons import Values, values_of
from sanderling.operate.where.comparisons import judged as judged_plainly
from sanderling.operate.where.comparisons import judged_pairs as pairs_judged_plainly
from sanderling.plans.columns import is_of_reading, name_of, of_reading
from sanderling.plans.expression import Expression
from sanderling.plans.plan import Template
from sanderling.plans.selection import distinct_constants

Columns = Callable[[str], pa.ChunkedArray]


@dataclass(frozen=True, slots=True)
class Condition:
    """One template's WHERE with one set of constants."""

    where: Expression
    constants: dict[str, pa.Scalar]

    def holds(self, n: int, reading: Columns, values: Callable[[str], Values]) -> Bools:
        """For each of n readings, whether it is satisfied; NULL is not."""
        plain = self.where.comparisons
        verdict = None if plain is None else judged_plainly(plain, self.constants, values)
        if verdict is not None:
            return verdict
        columns = {of_reading(name): reading(name) for name in sorted(self.where.of_reading)}
        columns |= {name: pa.repeat(value, n) for name, value in self.constants.items()}
        return judged(self.where, columns, n)


def judged(where: Expression, columns: dict[str, pa.Array | pa.ChunkedArray], n: int) -> Bools:
    """A condition over columns; without any it is judged once for all."""
    table = pa.table(columns) if columns else pa.table({"one": pa.array(np.zeros(n, np.int8))})
    (verdict,) = relational.evaluate([where.sql], table)
    return np.asarray(verdict.fill_null(False).to_numpy(), np.bool_)


def pairs_judged(template: Template, reading: Columns, constants: pa.Table, in_template: I64) -> Bools:
    """For each reading whether WHERE holds with the constants in that row of the template."""
    where = template.where
    assert where is not None
    at = pa.array(in_template)
    known = cache(reading)
    asked = cache(lambda name: constants.column(name).take(at))
    if where.comparisons is not None:
        verdict = pairs_judged_plainly(
            where.comparisons, lambda name: values_of(known(name)), lambda name: values_of(asked(name))
        )
        if verdict is not None:
            return verdict
    columns = {r: known(name_of(r)) if is_of_reading(r) else asked(r) for r in sorted(where.reads)}
    return judged(where, columns, len(in_template))


def distinct_conditions(
    template: Template, constants: pa.Table, is_everywhere: bool = False
) -> tuple[list[Condition], I64] | None:
    """The distinct conditions of a template and which one each of its regions has; None if they are many."""
    assert template.where is not None
    names = sorted(template.where.of_query)
    distinct = distinct_constants(template, constants, is_everywhere)
    if distinct is None:
        return None
    if not names:
        return [Condition(template.where, {})], np.zeros(constants.num_rows, np.int64)
    used = constants.select(names)
    which = np.full(used.num_rows, -1, np.int64)
    conditions = []
    for number, row in enumerate(distinct.to_batches()[0].to_struct_array() if distinct.num_rows else []):
        scalars = {name: row[name] for name in names}
        conditions.append(Condition(template.where, scalars))
        is_same = np.ones(used.num_rows, np.bool_)
        for name, scalar in scalars.items():
            is_same &= same_as(used.column(name), scalar)
        which[is_same] = number
    # A NaN is no value's equal; such a template is judged by the pair.
    return (conditions, which) if (which >= 0).all() else None


def same_as(column: pa.ChunkedArray, scalar: pa.Scalar) -> Bools:
    """Where a column holds this very value, NULL being the same as NULL."""
    if not scalar.is_valid:
        return np.asarray(pc.is_null(column).to_numpy(), np.bool_)
    return np.asarray(pc.equal(column, scalar).fill_null(False).to_numpy(), np.bool_)


def truth(conditions: Sequence[Condition], n: int, reading: Columns) -> Bools:
    """Conditions × readings; row 0 is the condition that always holds."""
    known = cache(reading)
    values = cache(lambda name: values_of(known(name)))
    rows = [np.ones(n, np.bool_), *(c.holds(n, known, values) for c in conditions)]
    return np.ascontiguousarray(np.stack(rows))
