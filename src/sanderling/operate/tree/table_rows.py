"""What happens to the tables that a tree reads: each change holds from a tick on, and is told once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import NOTHING_YET, ticks_from
from sanderling.plans.plan import Plan, PlannedTable
from sanderling.state.frame import Frame

NOTHING = np.empty(0, np.int64)


class TableRows:
    """By table the ticks that its changes hold from, and whether the tree has been told."""

    def __init__(self, tick_us: int):
        self.tick_us = tick_us
        self.tables: Mapping[str, PlannedTable] = {}
        self.ticks: dict[str, I64] = {}
        self.is_told: dict[str, Bools] = {}

    def learn(self, plan: Plan, names: Sequence[str], ready: int) -> None:
        """What is heard of now holds from the next tick on, or from its own time on, if that is later."""
        self.tables = {table.name: table for table in plan.tables if table.name in names}
        for name, table in self.tables.items():
            known = len(self.ticks.get(name, ()))
            ticks = ticks_from(table.time[known:], self.tick_us)
            if ready != NOTHING_YET:
                ticks = np.maximum(ticks, ready + self.tick_us)
            self.ticks[name] = np.concatenate([self.ticks.get(name, NOTHING), ticks])
            heard = np.zeros(len(ticks), np.bool_)
            self.is_told[name] = np.concatenate([self.is_told.get(name, heard[:0]), heard])

    def now(self, ready: int) -> dict[str, pa.Table]:
        """What happened up to the tick that is ready; by this it is told."""
        changes = {}
        for name in self.tables:
            is_now = ~self.is_told[name] & (self.ticks[name] <= ready)
            changes[name] = self._rows_of(name, is_now)
            self.is_told[name] |= is_now
        return changes

    def told(self) -> dict[str, pa.Table]:
        """All that has been told."""
        return {name: self._rows_of(name, is_told) for name, is_told in self.is_told.items()}

    def _rows_of(self, name: str, is_wanted: Bools) -> pa.Table:
        table, which = self.tables[name], np.flatnonzero(is_wanted)
        rows = table.rows.take(pa.array(which))
        for place, (column, values) in enumerate((
            ("query", np.full(len(which), -1, np.int32)),
            ("tick", self.ticks[name][which]),
            ("sign", table.sign[which].astype(np.int64)),
        )):  # fmt: skip
            rows = rows.add_column(place, column, pa.array(values))
        return rows

    def saved(self) -> Frame:
        return Frame({n: pa.table({"tick": t, "told": self.is_told[n]}) for n, t in self.ticks.items()})

    def restore(self, frame: Frame) -> None:
        for name, changes in frame.tables.items():
            self.ticks[name] = np.asarray(changes.column("tick").to_numpy(), np.int64)
            self.is_told[name] = np.asarray(changes.column("told").to_numpy(), np.bool_)
