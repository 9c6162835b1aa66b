"""ORDER BY … LIMIT n: the first n rows of each query, kept as rows come and go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.kernels.sql.first import Shown, walk_first
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.numbered import Grown, Numbered
from sanderling.operate.sql.rows.ranking import Ranking
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class FirstState:
    """Rows in their order, by query: how often each is shown, how many there are, and where the cut is."""

    def __init__(self, types: list[pa.DataType], orders: Sequence[nodes.Order]):
        self.ranking = Ranking(types, orders)
        self.begin()

    def begin(self) -> None:
        self.queries = Numbered(1)  # owners of rows are their queries' numbers
        self._times, self._total, self._cut = Grown(0, np.int64), Grown(0, np.int64), Grown(-1, np.int64)

    @property
    def shown(self) -> Shown:
        n = len(self.queries)
        return Shown(self._times.up_to(len(self.ranking.numbered)), self._total.up_to(n), self._cut.up_to(n))

    def query_of(self, rows: I64) -> I64:
        return np.asarray(self.queries.rows[self.ranking.owner[rows], 0])

    def forget(self, queries: I64) -> None:
        owners = self.queries.find(queries[:, None])
        owners = owners[owners >= 0]
        self.ranking.forget(owners)
        n = len(self.queries)
        self._total.up_to(n)[owners], self._cut.up_to(n)[owners] = 0, -1
        self._times.up_to(len(self.ranking.numbered))[np.flatnonzero(np.isin(self.ranking.owner, owners))] = 0


class First:
    """Promises (tests/operate/test_first.py): rows that are equal count as often as they are there; what is
    equal in the order is ordered by all columns; cost by change, not by n.
    """

    def __init__(self, node: nodes.First, constants: Constants):
        self.node = node
        self.constants = constants
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> FirstState:
        ascending = [nodes.Order(i, False, True) for i in range(len(self.types))]
        return FirstState(self.types, [*self.node.orders, *ascending])

    def apply(self, state: FirstState, given: Changes) -> Signed:
        (changes,) = given.inputs
        owner = state.queries.number(changes.query[:, None])
        rows = state.ranking.number(owner, changes.columns)
        row, tick, sign = self._walk(state, Steps.of(owner, changes.tick), rows, changes.sign)
        told = Signed(state.query_of(row), tick, sign, state.ranking.columns(row))
        self._tidy(state, is_due=False)
        return told

    def _walk(self, state: FirstState, steps: Steps, rows: I64, sign: I64) -> tuple[I64, I64, I64]:
        """What is shown more or less often: row, tick, sign, each row of a tick once."""
        order, starts = steps.arranged(steps.step)
        limit = self._limits(state.queries.rows[steps.group, 0])
        told = walk_first(
            state.ranking.forest(len(state.queries)), state.shown, limit, steps.group, steps.tick, starts,
            rows[order], sign[order],
        )  # fmt: skip
        together = Steps.of(told[:, 0], told[:, 1])
        total = np.zeros(len(together), np.int64)
        np.add.at(total, together.step, told[:, 2])
        left = np.flatnonzero(total)
        return together.group[left], together.tick[left], total[left]

    def _limits(self, queries: I64) -> I64:
        counts = self.constants.computed(self.node.count, queries).cast(pa.int64()).fill_null(0)
        return np.maximum(np.asarray(counts.to_numpy(), np.int64), 0)

    def _tidy(self, state: FirstState, is_due: bool) -> None:
        if state.ranking.is_wasteful(is_due):
            self.restore(state, self.saved(state))

    def forget(self, state: FirstState, queries: I64) -> None:
        state.forget(queries)
        self._tidy(state, is_due=True)

    def held(self, state: FirstState) -> int:
        return len(state.ranking.alive)

    def saved(self, state: FirstState) -> dict[str, pa.Table]:
        table = state.ranking.saved()
        query = pa.array(state.queries.rows[table.column("owner").to_numpy(), 0])
        return {"rows": table.set_column(0, "query", query)}

    def restore(self, state: FirstState, tables: dict[str, pa.Table]) -> None:
        """All rows come at once; what they show has been told before."""
        table = tables["rows"]
        state.begin()
        owner = state.queries.number(table.column("query").to_numpy()[:, None])
        state.ranking.restore(table.set_column(0, "owner", pa.array(owner)).slice(0, 0))
        rows = state.ranking.number(owner, table.columns[2:])
        at_once = Steps.of(owner, np.zeros(len(owner), np.int64))
        self._walk(state, at_once, rows, table.column("count").to_numpy())
