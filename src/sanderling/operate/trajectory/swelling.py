"""STAY_WITHIN and PASS_WITHIN of a distance that changes with time: rows that are within it, tick by tick.

rows with how far apart they are ──► from which tick on they are within it, up to which ─┐
                                     when they come and go ──────────────────────────────┴─► signed rows

It only grows, or only shrinks: a row has one tick at which that changes, which is known when it comes.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools
from sanderling.clock import ALWAYS, NEVER, NOTHING_YET, tick_ends
from sanderling.operate.sql.rows.codes import Column, as_doubles
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class Swelling:
    """Promises (tests/operate/test_swelling.py): exact at every tick, however batches are cut, also where
    nothing comes; what is gone is freed.
    """

    def __init__(self, node: nodes.Swelling):
        self.node = node
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> Swelled:
        return Swelled(self.node)

    def apply(self, state: Swelled, given: Changes) -> Signed:
        (changes,) = given.inputs
        known = state.number(changes.query, changes.columns)
        row, tick, sign = state.presence(known, changes.tick, changes.sign)
        row, tick, sign = state.walk(row, tick, sign, given.closed_to)
        told = Signed(state.owner[row], tick, sign, state.columns(row))
        state.tidy()
        state.look_ahead()
        return told

    def due(self, state: Swelled) -> int | None:
        return None if state.next_due == NEVER else state.next_due

    def forget(self, state: Swelled, queries: I64) -> None:
        state.forget(queries)
        state.tidy(is_due=True)
        state.look_ahead()

    def held(self, state: Swelled) -> int:
        return len(state.alive)

    def saved(self, state: Swelled) -> dict[str, pa.Table]:
        return {"rows": state.saved(), "walked": pa.table({"to": [state.walked_to]})}

    def restore(self, state: Swelled, tables: dict[str, pa.Table]) -> None:
        state.restore(tables["rows"])
        (state.walked_to,) = tables["walked"].column("to").to_pylist()
        state.look_ahead()


class Swelled(Multiset):
    """Rows, which of them are told, and from which tick on, up to which, each is within the distance."""

    def __init__(self, node: nodes.Swelling):
        self.node = node
        self.walked_to, self.next_due = NOTHING_YET, NEVER
        super().__init__([t.arrow for t in node.types])

    def _begin(self) -> None:
        super()._begin()
        self._is_told = Grown(False, np.bool_)
        self._opens, self._closes = Grown(NEVER, np.int64), Grown(NEVER, np.int64)

    def number(self, owner: I64, columns: list[Column]) -> I64:
        rows, n = super().number(owner, columns), len(self.numbered)
        values, is_null = as_doubles(columns[self.node.distance])
        opens, closes = bounds(self.node, np.where(is_null, np.nan, values))
        self._opens.up_to(n)[rows], self._closes.up_to(n)[rows] = opens, closes
        self._is_told.up_to(n)
        return rows

    def walk(self, row: I64, tick: I64, sign: I64, closed_to: int) -> tuple[I64, I64, I64]:
        """What is told up to a tick: of rows that come and go, and of those for which the distance does."""
        n = len(self.numbered)
        opens, closes, is_told = (kept.up_to(n) for kept in (self._opens, self._closes, self._is_told))
        there = np.union1d(self.alive, row).astype(np.int64)
        parts = [(row, tick, sign)]
        for changes in (opens[there], closes[there]):
            mine = (changes > self.walked_to) & (changes <= closed_to)
            parts.append((there[mine], changes[mine], np.zeros(int(mine.sum()), np.int64)))
        row, tick, sign = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.lexsort((tick, row))
        row, tick, sign = row[order], tick[order], sign[order]
        is_last = _differs(row, tick)
        count = _counted(row, sign, (self.count[row] > 0).astype(np.int64))
        row, tick, count = row[is_last], tick[is_last], count[is_last]
        is_in = (count > 0) & (opens[row] <= tick) & (tick < closes[row])
        is_end = _differs(row)
        is_first = np.ones(len(row), np.bool_)
        is_first[1:] = is_end[:-1]
        was_in = np.where(is_first, is_told[row], np.append(False, is_in[:-1])[: len(row)])
        is_told[row[is_end]] = is_in[is_end]
        told = np.flatnonzero(is_in != was_in)
        self.walked_to = max(self.walked_to, closed_to)
        return row[told], tick[told], np.where(is_in[told], 1, -1)

    def look_ahead(self) -> None:
        rows, n = self.alive, len(self.numbered)
        ticks = np.concatenate([kept.up_to(n)[rows] for kept in (self._opens, self._closes)])
        self.next_due = int(ticks[ticks > self.walked_to].min(initial=NEVER))

    def saved(self) -> pa.Table:
        is_told = self._is_told.up_to(len(self.numbered))[self.alive]
        return super().saved().append_column("is_told", pa.array(is_told))

    def restore(self, table: pa.Table) -> None:
        super().restore(table.drop_columns(["is_told"]))
        n = len(self.numbered)
        self._is_told.up_to(n)[:n] = table.column("is_told").to_numpy()


def bounds(node: nodes.Swelling, values: F64) -> tuple[I64, I64]:
    """By distance the first tick at which it is within, and the first at which it is not any more."""
    grows = node.growth >= 0
    # The first step at which that changes, by halves; behind the last one: never.
    low, high = np.zeros(len(values), np.int64), np.full(len(values), _last_step(node) + 1)
    while (low < high).any():
        middle = (low + high) // 2
        is_over = is_within(node, middle, values) == grows
        low, high = np.where(is_over, low, np.minimum(middle + 1, high)), np.where(is_over, middle, high)
    tick = tick_ends(node.begin_us + low * node.every_us, node.tick_us)
    is_never, is_first = low > _last_step(node), low == 0
    if grows:
        return np.where(is_never, NEVER, np.where(is_first, ALWAYS, tick)), np.full(len(values), NEVER)
    return np.where(is_first, NEVER, ALWAYS), np.where(is_never, NEVER, tick)


def is_within(node: nodes.Swelling, step: I64, values: F64) -> Bools:
    times = 1 + step * node.growth
    radius = node.radius * times
    return np.asarray((times > 0) & (values <= (radius * radius if node.is_square else radius)))


def _last_step(node: nodes.Swelling) -> int:
    """Behind it nothing changes: it ends, or nothing is left."""
    steps = (node.until_us - node.begin_us) // node.every_us
    return steps if node.growth >= 0 else min(steps, int(2 / -node.growth) + 1)


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
