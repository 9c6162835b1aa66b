"""SELECT and WHERE over signed rows: each row by itself, so that nothing is remembered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling import relational
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import Column
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import is_of_query, place_of
from sanderling.plans.expression import Expression


class Select:
    """Promises (tests/operate/test_simple.py): what fails on a row is NULL, and there is one zero."""

    def __init__(self, node: nodes.Select, constants: Constants):
        self.node = node
        self.constants = constants

    def new_state(self, at: None) -> None:
        return None

    def apply(self, state: None, given: Changes) -> Signed:
        (rows,) = given.inputs
        if not len(rows):
            return Signed.none([t.arrow for t in self.node.types])
        if self.node.where is not None:
            (verdict,) = evaluated([self.node.where], rows, self.constants)
            is_in = np.asarray(verdict.fill_null(False).to_numpy(), np.bool_)
            rows = rows if is_in.all() else rows.take(np.flatnonzero(is_in))
        wanted = [c for c in self.node.columns if not c.is_plain]
        computed = iter(evaluated(wanted, rows, self.constants))
        columns = [
            _read(c.column, rows, self.constants).cast(c.type.arrow)
            if c.is_plain
            else relational.finite(next(computed).cast(c.type.arrow))
            for c in self.node.columns
        ]
        return Signed(rows.query, rows.tick, rows.sign, columns)


def evaluated(what: Sequence[Expression], rows: Signed, constants: Constants) -> list[pa.ChunkedArray]:
    """What is computed of each row and of its query's constants."""
    if not what:
        return []
    reads = sorted({name for c in what for name in c.reads})
    columns = {name: _read(name, rows, constants) for name in reads}
    table = pa.table(columns or {"one": pa.array(np.zeros(len(rows), np.int8))})
    return relational.evaluate([c.sql for c in what], table)


def _read(name: str, rows: Signed, constants: Constants) -> Column:
    if is_of_query(name):
        return constants.column(name, rows.query)
    return rows.columns[place_of(name)]
