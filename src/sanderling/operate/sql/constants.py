"""The constants of queries, as columns by query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling import relational
from sanderling.arrays import I64
from sanderling.plans.expression import Expression


class Constants:
    """Columns with a row for each query. Queries may come and go while a tree runs."""

    def __init__(self, queries: I64, columns: pa.Table):
        self.replace(queries, columns)

    def replace(self, queries: I64, columns: pa.Table) -> None:
        """From now on these are the queries, in any order."""
        order = np.argsort(queries, kind="stable")
        self.queries = np.asarray(queries, np.int64)[order]
        self.columns = columns.take(pa.array(order)) if columns.num_columns else columns
        self._computed: dict[Expression, pa.ChunkedArray] = {}

    def column(self, name: str, queries: I64) -> pa.ChunkedArray:
        """A constant of each of these queries."""
        return self.columns.column(name).take(self._places(queries))

    def computed(self, what: Expression, queries: I64) -> pa.ChunkedArray:
        """What constants come to, for each of these queries; worked out once for all there are."""
        if what not in self._computed:
            reads = {name: self.columns.column(name) for name in what.reads}
            table = pa.table(reads or {"one": pa.array(np.zeros(len(self.queries), np.int8))})
            (answer,) = relational.evaluate([what.sql], table)
            self._computed[what] = answer.cast(what.type.arrow)
        return self._computed[what].take(self._places(queries))

    def _places(self, queries: I64) -> pa.Array:
        """NULL where a query is not known: it has been dropped, and nobody asks any more."""
        at = np.searchsorted(self.queries, queries)
        is_unknown = np.append(self.queries, -1)[at] != queries
        return pa.array(at, mask=is_unknown)
