"""Durations that queries ask for, as a column by number of a query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.constants import Constants
from sanderling.plans.expression import Expression


class ByQuery:
    """Microseconds, of constants alone: worked out once for as long as these are the same."""

    def __init__(self, what: Expression, constants: Constants):
        self.what, self.constants = what, constants
        self._us, self._queries = np.zeros(0, np.int64), np.empty(0, np.int64)

    @property
    def all(self) -> I64:
        """By query; 0 of one that is not known: it has been dropped, and nobody asks any more."""
        known = self.constants.queries
        if self._queries is not known:
            us = self.constants.computed(self.what, known).cast(pa.int64()).fill_null(0)
            self._us = np.zeros(int(known.max(initial=-1)) + 2, np.int64)
            self._us[known], self._queries = us.to_numpy(), known
        return self._us

    def of(self, queries: I64) -> I64:
        us = self.all
        return np.asarray(us[np.minimum(queries, len(us) - 1)])
