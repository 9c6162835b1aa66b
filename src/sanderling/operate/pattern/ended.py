"""Runs that have ended, as rows: which of them are told, in which order, and what they show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools
from sanderling.kernels.pattern.runs import WHOLE
from sanderling.operate.pattern.run_columns import RunColumns
from sanderling.operate.pattern.runs import BROKEN, MATCHED, TIMED_OUT
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import Coder
from sanderling.operate.sql.rows.numbered import Numbered
from sanderling.operate.sql.select import evaluated
from sanderling.operate.sql.signed import Signed
from sanderling.plans import nodes

OUTCOMES = (MATCHED, TIMED_OUT, BROKEN)
IS_MATCHED, IS_TIMED_OUT, IS_BROKEN = range(3)


Known = tuple[tuple[pa.DataType, ...], Numbered, Coder]


class Ended(NamedTuple):
    """By run that has ended: its place, how, and when."""

    run: I64
    outcome: I64
    tick: I64

    @classmethod
    def of(cls, run: I64, outcome: int, tick: I64) -> Ended:
        return cls(run, np.full(len(run), outcome), tick)

    @classmethod
    def all(cls, parts: list[Ended]) -> Ended:
        nothing = np.empty(0, np.int64)
        return cls(*(np.concatenate([nothing, *some]) for some in zip(*parts, strict=True))) if parts else (
            cls(nothing, nothing, nothing)
        )  # fmt: skip

    def take(self, rows: I64 | Bools) -> Ended:
        return Ended(self.run[rows], self.outcome[rows], self.tick[rows])


class Telling:
    """Of one shape of patterns."""

    def __init__(self, node: nodes.Match, constants: Constants):
        self.node, self.constants = node, constants

    def told(self, runs: RunColumns, ended: Ended) -> Signed:
        if not self.node.has_timeouts:
            ended = ended.take(ended.outcome == IS_MATCHED)
        if not len(ended.run):
            return Signed.none([shown.type.arrow for shown in self.node.shown])
        ended = ended.take(self.in_order(runs, ended))
        rows = self._rows(runs, ended)
        if self.node.where is not None:
            (verdict,) = evaluated([self.node.where], rows, self.constants)
            holds = np.flatnonzero(np.asarray(verdict.fill_null(False).to_numpy(), np.bool_))
            rows, ended = rows.take(holds), ended.take(holds)
        return rows.take(self._firsts(runs, ended)) if self.node.is_first else rows

    def in_order(self, runs: RunColumns, ended: Ended) -> I64:
        """By tick and query; then which began first: its stay, when that was long enough, its key."""
        run, node = ended.run, self.node
        columns = [ended.tick, runs.query[run], runs.since[run, 0], runs.tick[run, 0]]
        if len(run) < 2:
            return np.arange(len(run))
        key = [runs.kept(0, run, node.kept[0].index(place)) for place in node.presences[0].keys]
        table = pa.table({f"{i}": column for i, column in enumerate([*map(pa.array, columns), *key])})
        order = [(name, "ascending", "at_start") for name in table.column_names]
        return np.asarray(pc.sort_indices(table, order).to_numpy(), np.int64)

    def _rows(self, runs: RunColumns, ended: Ended) -> Signed:
        query, n = runs.query[ended.run], len(ended.run)
        columns = [self._shown(runs, ended, shown).cast(shown.type.arrow) for shown in self.node.shown]
        return Signed(query, ended.tick, np.ones(n, np.int64), columns)

    def _shown(self, runs: RunColumns, ended: Ended, shown: nodes.ShownOfRun) -> pa.Array:
        """What runs show of a step; of one that was not reached, nothing."""
        if shown.what == nodes.OUTCOME:
            return pa.array(OUTCOMES).take(pa.array(ended.outcome))
        run, step = ended.run, shown.step
        if shown.what in (nodes.REACHED, nodes.ENTERED):
            column = runs.tick if shown.what == nodes.REACHED else runs.since
            return pa.array(column[run, step], mask=runs.how[run, step] != WHOLE)
        return runs.kept(step, run, shown.place)

    def _firsts(self, runs: RunColumns, ended: Ended) -> I64:
        """Of matches of one tick with the same last key that which began first; they stand in that order."""
        is_matched = ended.outcome == IS_MATCHED
        matched = ended.take(is_matched)
        first = np.unique(self._last_key(runs, matched), return_index=True)[1]
        chosen = np.zeros(len(matched.run), np.bool_)
        chosen[first] = True
        is_told = ~is_matched
        is_told[is_matched] = chosen
        return np.flatnonzero(is_told)

    def _last_key(self, runs: RunColumns, matched: Ended) -> I64:
        """Equal numbers are of one query, one tick and one key: of the last step that was reached."""
        n = len(matched.run)
        last = np.full(n, -1)
        for step in (s for position in reversed(self.node.positions) for s in position.steps):
            last[(last < 0) & (runs.how[matched.run, step] == WHOLE)] = step
        number, known = np.empty(n, np.int64), list[Known]()
        for step in np.unique(last).tolist():
            of = self.node.steps[step].of if step >= 0 else ()
            if step < 0:
                of = tuple((0, self.node.kept[0].index(place)) for place in self.node.presences[0].keys)
            mine = np.flatnonzero(last == step)
            columns = [runs.kept(before, matched.run[mine], place) for before, place in of]
            number[mine] = _numbered(columns, runs.query[matched.run[mine]], matched.tick[mine], known)
        return number


def _numbered(columns: list[pa.Array], query: I64, tick: I64, known: list[Known]) -> I64:
    """Numbers of rows: those of equal types are compared, whichever step they are of."""
    types = tuple(_compared_as(column.type) for column in columns)
    mine = next((i for i, (other, *_) in enumerate(known) if other == types), len(known))
    if mine == len(known):
        coder = Coder(types)
        known.append((types, Numbered(2 + coder.width), coder))
    _, numbered, coder = known[mine]
    return numbered.number(coder.codes(columns, query, tick)) * (1 << 20) + mine


def _compared_as(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(type_):
        return pa.float64()
    return pa.int64() if pa.types.is_integer(type_) else type_
