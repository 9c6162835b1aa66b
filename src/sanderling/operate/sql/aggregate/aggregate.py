"""GROUP BY and its aggregates: a row for each group, told anew when it changes.

changes ──► their groups ──► steps: a group at a tick ──► each aggregate before and after ──► − old, + new
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.operate.operator import over, under
from sanderling.operate.sql.aggregate.measured import Measured, Told
from sanderling.operate.sql.aggregate.measures import Count
from sanderling.operate.sql.aggregate.ordered import Chosen, Percentile
from sanderling.operate.sql.rows.codes import Coder, Column, decoded
from sanderling.operate.sql.rows.numbered import Grown, Numbered, Waste
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_place
from sanderling.plans.nodes import COUNT, FIRST_BY, LAST_BY, MAX, MIN, PERCENTILE


class Source(NamedTuple):
    """What is measured together: a column, or its distinct values. What is of their order is by itself."""

    column: int
    is_distinct: bool
    by: int | None = None
    part: float = 0.0
    kind: str = ""


ROWS = Source(-1, False)  # COUNT(*)


class AggregateState:
    """Groups by number: their codes, whether a total has begun, what is counted and measured of each."""

    def __init__(self, node: nodes.Aggregate):
        self.node = node
        self.waste = Waste()
        self.begin()

    def begin(self) -> None:
        types = self.node.child.types
        self.coder = Coder([types[g].arrow for g in self.node.groups])
        self.groups = Numbered(1 + self.coder.width)
        self.count = Count()
        self._has_begun = Grown(False, np.bool_)
        kinds: dict[Source, set[str]] = {}
        for what in self.node.sums:
            if what.column is not None:
                kinds.setdefault(_source(what), set()).add(what.kind)
        arrow = [t.arrow for t in types]
        self.measured = {key: _measure(key, kinds[key], arrow) for key in kinds}

    @property
    def has_begun(self) -> Bools:
        return self._has_begun.up_to(len(self.groups))

    @property
    def counts(self) -> I64:
        return self.count.of(len(self.groups))

    @property
    def alive(self) -> I64:
        n = len(self.groups)
        return np.flatnonzero((self.counts[:n] != 0) | self.has_begun[:n])

    def numbers(self, query: I64, columns: list[Column]) -> I64:
        return self.groups.number(self.coder.codes(columns, query))

    def is_wasteful(self, is_due: bool) -> bool:
        return self.waste.is_too_much(len(self.groups), lambda: len(self.alive), is_due)

    def forget(self, queries: I64) -> None:
        mine = np.flatnonzero(np.isin(self.groups.rows[:, 0], queries))
        self.counts[mine], self.has_begun[mine] = 0, False
        for measured in self.measured.values():
            measured.forget(mine)


class Aggregate:
    """Promises (tests/operate/test_aggregate.py):
    exact   sums do not depend on the order of changes, and are gone when their group is
    cost    a group that did not change is not touched
    freed   groups that are empty are forgotten
    """

    def __init__(self, node: nodes.Aggregate):
        self.node = node

    def new_state(self, at: None) -> AggregateState:
        return AggregateState(self.node)

    def apply(self, state: AggregateState, given: Changes) -> Signed:
        (changes,) = given.inputs
        query, tick, begun = changes.query, changes.tick, given.begun
        if self.node.is_total and len(begun):
            # A query that begins is a change of nothing, in the one group it has.
            query, tick = np.concatenate([query, begun.query]), np.concatenate([tick, begun.tick])
        steps = Steps.of(state.numbers(query, [changes.columns[g] for g in self.node.groups]), tick)
        counts, told = self._measured(state, steps, changes)
        rows = self._rows(state, steps, counts, told)
        self._tidy(state, is_due=False)
        return rows

    def _measured(self, state: AggregateState, steps: Steps, changes: Signed) -> tuple[I64, list[Told]]:
        """How many there are, and each aggregate, before and after each step."""
        step, groups = steps.step[: len(changes)], len(state.groups)
        counts = state.count.advance(steps, step, changes.sign, groups)
        told = {(ROWS, COUNT): Told(counts, np.zeros(counts.shape, np.bool_))}
        for key, measured in state.measured.items():
            columns = [changes.columns[c] for c in (key.column, key.by) if c is not None]
            found = measured.advance(steps, step, changes.sign, columns, groups)
            told |= {(key, kind): what for kind, what in found.items()}
        return counts, [told[_source(s), s.kind] for s in self.node.sums]

    def _rows(self, state: AggregateState, steps: Steps, counts: I64, told: list[Told]) -> Signed:
        """The row before each step goes and the one after it comes, unless they are the same."""
        was_there, is_there = self._presence(state, steps, counts)
        is_other = was_there != is_there
        for what in told:
            is_other |= (what.codes[0] != what.codes[1]) | (what.is_null[0] != what.is_null[1])
        old, new = np.flatnonzero(was_there & is_other), np.flatnonzero(is_there & is_other)
        step = np.concatenate([old, new])
        side = np.concatenate([np.zeros(len(old), np.int64), np.ones(len(new), np.int64)])
        return self._shown(state, steps, told, step, side)

    def _shown(self, state: AggregateState, steps: Steps, told: list[Told], step: I64, side: I64) -> Signed:
        """Rows of steps, before them (side 0, with −) or after them (side 1, with +)."""
        of_group = state.groups.rows[steps.group[step]]
        columns = state.coder.columns(of_group[:, 1:])
        for what, sum_ in zip(told, self.node.sums, strict=True):
            texts = state.coder.texts if what.texts is None else what.texts
            codes, is_null = what.codes[side, step], what.is_null[side, step]
            columns.append(decoded(codes, is_null, sum_.type.arrow, texts))
        return Signed(of_group[:, 0], steps.tick[step], 2 * side - 1, columns)

    def _presence(self, state: AggregateState, steps: Steps, counts: I64) -> tuple[Bools, Bools]:
        """Whether there is a row before and after each step; without GROUP BY, once it has begun."""
        if not self.node.is_total:
            return counts[0] > 0, counts[1] > 0
        was_there = state.has_begun[steps.group] | ~steps.is_first
        state.has_begun[steps.group] = True
        return was_there, np.ones(len(steps), np.bool_)

    def _tidy(self, state: AggregateState, is_due: bool) -> None:
        if state.is_wasteful(is_due):
            self.restore(state, self.saved(state))
        else:
            for measured in state.measured.values():
                measured.tidy()

    def forget(self, state: AggregateState, queries: I64) -> None:
        state.forget(queries)
        self._tidy(state, is_due=True)

    def held(self, state: AggregateState) -> int:
        """AggregateState, and values that are kept one by one."""
        return len(state.alive) + sum(m.held() for m in state.measured.values())

    def saved(self, state: AggregateState) -> dict[str, pa.Table]:
        groups = state.alive
        rows = state.groups.rows[groups]
        columns = {by_place(i): column for i, column in enumerate(state.coder.columns(rows[:, 1:]))}
        fixed = {
            "query": pa.array(rows[:, 0]),
            "count": pa.array(state.counts[groups]),
            "has_begun": pa.array(state.has_begun[groups]),
        }
        tables = {"groups": pa.table(fixed | columns)}
        for number, measured in enumerate(state.measured.values()):
            tables |= over(f"{number}.", measured.saved(groups))
        return tables

    def restore(self, state: AggregateState, tables: dict[str, pa.Table]) -> None:
        state.begin()
        groups = tables["groups"]
        n = groups.num_rows
        numbers = state.numbers(groups.column("query").to_numpy(), groups.columns[3:])
        assert len(state.groups) == n and (numbers == np.arange(n)).all()
        state.counts[:n] = groups.column("count").to_numpy()
        state.has_begun[:n] = groups.column("has_begun").to_numpy()
        for number, measured in enumerate(state.measured.values()):
            measured.restore(under(f"{number}.", tables))


def _source(what: nodes.Sum) -> Source:
    """The column an aggregate is of, and whether of distinct values only, which MIN and MAX do not mind."""
    if what.column is None:
        return ROWS
    if what.kind in (PERCENTILE, FIRST_BY, LAST_BY):
        return Source(what.column, False, what.by, what.part, what.kind)
    return Source(what.column, what.is_distinct and what.kind not in (MIN, MAX))


def _measure(of: Source, kinds: set[str], types: list[pa.DataType]) -> Measured | Chosen | Percentile:
    if of.kind == PERCENTILE:
        return Percentile(of.part)
    if of.by is not None:
        return Chosen(types[of.column], types[of.by], of.kind)
    return Measured(types[of.column], kinds, of.is_distinct)
