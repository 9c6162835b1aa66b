"""ORDER BY … LIMIT n: the first n rows of each query, or of each of its groups, as rows come and go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.kernels.sql.first import Shown, walk_first
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import Coder, Column
from sanderling.operate.sql.rows.numbered import Grown, Numbered
from sanderling.operate.sql.rows.ranking import Ranking
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class FirstState:
    """Rows in their order, by query and group: how often each is shown, how many there are, and where the cut
    is.
    """

    def __init__(self, types: list[pa.DataType], orders: Sequence[nodes.Order], by: tuple[int, ...]):
        self.ranking = Ranking(types, orders)
        self.by = by
        self.begin()

    def begin(self) -> None:
        self.coder = Coder([self.ranking.types[column] for column in self.by])
        self.groups = Numbered(1 + self.coder.width)  # owners of rows are their groups' numbers
        self._times, self._total, self._cut = Grown(0, np.int64), Grown(0, np.int64), Grown(-1, np.int64)

    @property
    def shown(self) -> Shown:
        n = len(self.groups)
        return Shown(self._times.up_to(len(self.ranking.numbered)), self._total.up_to(n), self._cut.up_to(n))

    def query_of(self, rows: I64) -> I64:
        return np.asarray(self.groups.rows[self.ranking.owner[rows], 0])

    def owners(self, query: I64, columns: Sequence[Column]) -> I64:
        return self.groups.number(self.coder.codes([columns[column] for column in self.by], query))

    def forget(self, queries: I64) -> None:
        owners = np.flatnonzero(np.isin(self.groups.rows[:, 0], queries))
        self.ranking.forget(owners)
        n = len(self.groups)
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
        return FirstState(self.types, [*self.node.orders, *ascending], self.node.by)

    def apply(self, state: FirstState, given: Changes) -> Signed:
        (changes,) = given.inputs
        owner = state.owners(changes.query, changes.columns)
        rows = state.ranking.number(owner, changes.columns)
        row, tick, sign = self._walk(state, Steps.of(owner, changes.tick), rows, changes.sign)
        told = Signed(state.query_of(row), tick, sign, state.ranking.columns(row))
        self._tidy(state, is_due=False)
        return told

    def _walk(self, state: FirstState, steps: Steps, rows: I64, sign: I64) -> tuple[I64, I64, I64]:
        """What is shown more or less often: row, tick, sign, each row of a tick once."""
        order, starts = steps.arranged(steps.step)
        limit = self._limits(state.groups.rows[steps.group, 0])
        told = walk_first(
            state.ranking.forest(len(state.groups)), state.shown, limit, steps.group, steps.tick, starts,
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
        query = pa.array(state.groups.rows[table.column("owner").to_numpy(), 0])
        return {"rows": table.set_column(0, "query", query)}

    def restore(self, state: FirstState, tables: dict[str, pa.Table]) -> None:
        """All rows come at once; what they show has been told before."""
        table = tables["rows"]
        state.begin()
        owner = state.owners(table.column("query").to_numpy(), table.columns[2:])
        state.ranking.restore(table.set_column(0, "owner", pa.array(owner)).slice(0, 0))
        rows = state.ranking.number(owner, table.columns[2:])
        at_once = Steps.of(owner, np.zeros(len(owner), np.int64))
        self._walk(state, at_once, rows, table.column("count").to_numpy())
