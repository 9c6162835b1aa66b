"""Rows that are told at times: whether they are turns at ticks that are known before, though nothing comes.

rows that come and go ──┐
ticks at which they turn ┴─► at each of these: there, and in? ──► signed rows
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.operate.sql.rows.codes import Column
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes


class Turns:
    """What those operators do whose rows turn."""

    def apply(self, state: Turning, given: Changes) -> Signed:
        (changes,) = given.inputs
        known = state.number(changes.query, changes.columns)
        row, tick, sign = state.presence(known, changes.tick, changes.sign)
        row, tick, sign = state.walk(row, tick, sign, given.closed_to)
        told = Signed(state.owner[row], tick, sign, state.columns(row))
        state.tidy()
        state.look_ahead()
        return told

    def due(self, state: Turning) -> int | None:
        return None if state.next_due == NEVER else state.next_due

    def forget(self, state: Turning, queries: I64) -> None:
        state.forget(queries)
        state.tidy(is_due=True)
        state.look_ahead()

    def held(self, state: Turning) -> int:
        return len(state.alive)

    def saved(self, state: Turning) -> dict[str, pa.Table]:
        return {"rows": state.saved(), "walked": pa.table({"to": [state.walked_to]})}

    def restore(self, state: Turning, tables: dict[str, pa.Table]) -> None:
        state.restore(tables["rows"])
        (state.walked_to,) = tables["walked"].column("to").to_pylist()
        state.look_ahead()


class Turning(Multiset):
    """Rows, and which of them are told: that turns as they come and go, and at ticks that are known."""

    def __init__(self, types: list[pa.DataType]):
        self.walked_to, self.next_due = NOTHING_YET, NEVER
        super().__init__(types)

    def _begin(self) -> None:
        super()._begin()
        self._is_told, self._was_there = Grown(False, np.bool_), False

    def number(self, owner: I64, columns: list[Column]) -> I64:
        rows, n = super().number(owner, columns), len(self.numbered)
        self._is_told.up_to(n)
        self._learn(rows, columns)
        return rows

    def _learn(self, rows: I64, columns: list[Column]) -> None:
        """What is to be known of some rows."""
        raise NotImplementedError

    def _turns(self, there: I64, first: int, last: int) -> tuple[I64, I64]:
        """Of some rows the ticks in between, both of which count, at which they may turn: row, tick."""
        raise NotImplementedError

    def _are_in(self, row: I64, tick: I64) -> Bools:
        """Whether rows, if they are there, are told at these ticks."""
        raise NotImplementedError

    def look_ahead(self) -> None:
        """Finds out when something turns next."""
        raise NotImplementedError

    def walk(self, row: I64, tick: I64, sign: I64, closed_to: int) -> tuple[I64, I64, I64]:
        """What is told up to a tick: of rows that come and go, and of those that turn."""
        is_told, alive = self._is_told.up_to(len(self.numbered)), self.alive
        # Nobody turns while nobody is there.
        first = self.walked_to + 1 if self._was_there else int(tick.min(initial=closed_to))
        last = closed_to if len(alive) else int(tick.max(initial=first))
        self._was_there = len(alive) > 0
        rows, ticks = self._turns(np.union1d(alive, row).astype(np.int64), first, last)
        parts = [(row, tick, sign), (rows, ticks, np.zeros(len(rows), np.int64))]
        row, tick, sign = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.lexsort((tick, row))
        row, tick, sign = row[order], tick[order], sign[order]
        is_last = _differs(row, tick)
        count = _counted(row, sign, (self.count[row] > 0).astype(np.int64))
        row, tick, count = row[is_last], tick[is_last], count[is_last]
        is_in = count > 0
        is_in[is_in] = self._are_in(row[is_in], tick[is_in])
        is_end = _differs(row)
        is_first = np.ones(len(row), np.bool_)
        is_first[1:] = is_end[:-1]
        was_in = np.where(is_first, is_told[row], np.append(False, is_in[:-1])[: len(row)])
        is_told[row[is_end]] = is_in[is_end]
        told = np.flatnonzero(is_in != was_in)
        self.walked_to = max(self.walked_to, closed_to)
        return row[told], tick[told], np.where(is_in[told], 1, -1)

    def saved(self) -> pa.Table:
        is_told = self._is_told.up_to(len(self.numbered))[self.alive]
        return super().saved().append_column("is_told", pa.array(is_told))

    def restore(self, table: pa.Table) -> None:
        super().restore(table.drop_columns(["is_told"]))
        n = len(self.numbered)
        self._is_told.up_to(n)[:n] = table.column("is_told").to_numpy()
        self._was_there = n > 0


def _differs(*columns: I64) -> Bools:
    """Which of what stands in order is the last of its kind."""
    is_last = np.ones(len(columns[0]), np.bool_)
    is_last[:-1] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return is_last


def _counted(row: I64, sign: I64, after: I64) -> I64:
    """Whether a row is there after each change, by whether it is in the end."""
    total = np.cumsum(sign)
    ends = np.flatnonzero(_differs(row))
    group = np.searchsorted(ends, np.arange(len(row)))
    return np.asarray(after + total - total[ends][group])
