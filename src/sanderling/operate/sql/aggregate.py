"""GROUP BY and its aggregates: a row for each group, told anew when it changes.

changes ──► their groups ──► steps: a group at a tick ──► each aggregate before and after ──► − old, + new
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.operate.sql.codes import Coder, Column, decoded
from sanderling.operate.sql.measured import Measured, Told
from sanderling.operate.sql.measures import Count
from sanderling.operate.sql.numbered import Grown, Numbered, Waste
from sanderling.operate.sql.signed import Signed
from sanderling.operate.sql.steps import Steps
from sanderling.plans import nodes
from sanderling.plans.nodes import COUNT, MAX, MIN

ROWS = (-1, False)  # the place of COUNT(*) among the columns that are measured


class Aggregate:
    """Promises (tests/operate/test_aggregate.py):
    exact   sums do not depend on the order of changes, and are gone when their group is
    cost    a group that did not change is not touched
    freed   groups that are empty are forgotten
    """

    def __init__(self, node: nodes.Aggregate):
        self.node = node
        self.waste = Waste()
        self._begin()

    def _begin(self) -> None:
        types = self.node.child.types
        self.coder = Coder([types[g].arrow for g in self.node.groups])
        self.groups = Numbered(1 + self.coder.width)
        self.count = Count()
        self._has_begun = Grown(False, np.bool_)
        kinds: dict[tuple[int, bool], set[str]] = {}
        for what in self.node.sums:
            if what.column is not None:
                kinds.setdefault(_source(what), set()).add(what.kind)
        self.measured = {key: Measured(types[key[0]].arrow, kinds[key], key[1]) for key in kinds}

    def apply(self, inputs: Sequence[Signed], begun: Signed) -> Signed:
        (changes,) = inputs
        query, tick = changes.query, changes.tick
        if self.node.is_total and len(begun):
            # A query that begins is a change of nothing, in the one group it has.
            query, tick = np.concatenate([query, begun.query]), np.concatenate([tick, begun.tick])
        steps = Steps.of(self._numbers(query, [changes.columns[g] for g in self.node.groups]), tick)
        step, groups = steps.step[: len(changes)], len(self.groups)
        counts = self.count.advance(steps, step, changes.sign, groups)
        told = {(ROWS, COUNT): Told(counts, np.zeros(counts.shape, np.bool_))}
        for key, measured in self.measured.items():
            found = measured.advance(steps, step, changes.sign, changes.columns[key[0]], groups)
            told |= {(key, kind): what for kind, what in found.items()}
        rows = self._rows(steps, counts, [told[_source(s), s.kind] for s in self.node.sums])
        self._tidy(is_due=False)
        return rows

    def _numbers(self, query: I64, columns: list[Column]) -> I64:
        return self.groups.number(self.coder.codes(columns, query))

    def _rows(self, steps: Steps, counts: I64, told: list[Told]) -> Signed:
        """The row before each step goes and the one after it comes, unless they are the same."""
        was_there, is_there = self._presence(steps, counts)
        is_other = was_there != is_there
        for what in told:
            is_other |= (what.codes[0] != what.codes[1]) | (what.is_null[0] != what.is_null[1])
        old, new = np.flatnonzero(was_there & is_other), np.flatnonzero(is_there & is_other)
        step = np.concatenate([old, new])
        side = np.concatenate([np.zeros(len(old), np.int64), np.ones(len(new), np.int64)])
        of_group = self.groups.rows[steps.group[step]]
        columns = self.coder.columns(of_group[:, 1:])
        for what, sum_ in zip(told, self.node.sums, strict=True):
            texts = self.coder.texts if what.texts is None else what.texts
            codes, is_null = what.codes[side, step], what.is_null[side, step]
            columns.append(decoded(codes, is_null, sum_.type.arrow, texts))
        return Signed(of_group[:, 0], steps.tick[step], 2 * side - 1, columns)

    def _presence(self, steps: Steps, counts: I64) -> tuple[Bools, Bools]:
        """Whether there is a row before and after each step; without GROUP BY, once it has begun."""
        if not self.node.is_total:
            return counts[0] > 0, counts[1] > 0
        has_begun = self._has_begun.up_to(len(self.groups))
        was_there = has_begun[steps.group] | ~steps.is_first
        has_begun[steps.group] = True
        return was_there, np.ones(len(steps), np.bool_)

    def _alive(self) -> I64:
        n = len(self.groups)
        return np.flatnonzero((self.count.of(n)[:n] != 0) | self._has_begun.up_to(n)[:n])

    def _tidy(self, is_due: bool) -> None:
        if self.waste.is_too_much(len(self.groups), lambda: len(self._alive()), is_due):
            self.restore(self.saved())
        else:
            for measured in self.measured.values():
                measured.tidy()

    def forget(self, queries: I64) -> None:
        mine = np.flatnonzero(np.isin(self.groups.rows[:, 0], queries))
        n = len(self.groups)
        self.count.of(n)[mine], self._has_begun.up_to(n)[mine] = 0, False
        for measured in self.measured.values():
            measured.forget(mine)
        self._tidy(is_due=True)

    def held(self) -> int:
        """Groups, and values that are kept one by one."""
        return len(self._alive()) + sum(m.held() for m in self.measured.values())

    def saved(self) -> dict[str, pa.Table]:
        groups = self._alive()
        n = len(self.groups)
        rows = self.groups.rows[groups]
        columns = {f"c{i}": column for i, column in enumerate(self.coder.columns(rows[:, 1:]))}
        fixed = {
            "query": pa.array(rows[:, 0]),
            "count": pa.array(self.count.of(n)[groups]),
            "has_begun": pa.array(self._has_begun.up_to(n)[groups]),
        }
        tables = {"groups": pa.table(fixed | columns)}
        for number, measured in enumerate(self.measured.values()):
            tables |= {f"{number}.{name}": table for name, table in measured.saved(groups).items()}
        return tables

    def restore(self, tables: dict[str, pa.Table]) -> None:
        self._begin()
        groups = tables["groups"]
        n = groups.num_rows
        numbers = self._numbers(groups.column("query").to_numpy(), groups.columns[3:])
        assert len(self.groups) == n and (numbers == np.arange(n)).all()
        self.count.of(n)[:n] = groups.column("count").to_numpy()
        self._has_begun.up_to(n)[:n] = groups.column("has_begun").to_numpy()
        for number, measured in enumerate(self.measured.values()):
            begin = f"{number}."
            measured.restore({k.removeprefix(begin): t for k, t in tables.items() if k.startswith(begin)})


def _source(what: nodes.Sum) -> tuple[int, bool]:
    """The column an aggregate is of, and whether of distinct values only, which MIN and MAX do not mind."""
    if what.column is None:
        return ROWS
    return what.column, what.is_distinct and what.kind not in (MIN, MAX)
