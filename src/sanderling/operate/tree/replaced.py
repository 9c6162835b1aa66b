"""Queries that go on as others: from which tick on each has which constants."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NOTHING_YET
from sanderling.plans.plan import PlannedTree, Replaced
from sanderling.state.frame import Frame

Known = tuple[int, int]  # a query, and which of its replacements


class Replacements:
    """Those of a tree.

    Promise (tests/properties/test_replace.py): what is heard of while streams run holds from the next tick
    on, or from its own.
    """

    def __init__(self, tick_us: int):
        self.tick_us = tick_us
        self.known: dict[Known, Replaced] = {}
        self.ticks: dict[Known, int] = {}
        self.is_done: set[Known] = set()

    def learn(self, planned: PlannedTree, ready: int) -> None:
        """Of queries that are no more nothing is left."""
        counted: dict[int, int] = {}
        self.known = {}
        for one in planned.replaced:
            key = one.query, counted.get(one.query, 0)
            counted[one.query] = key[1] + 1
            self.known[key] = one
            if key not in self.ticks:
                self.ticks[key] = one.tick if ready == NOTHING_YET else max(one.tick, ready + self.tick_us)
        self.ticks = {key: tick for key, tick in self.ticks.items() if key in self.known}
        self.is_done &= self.known.keys()

    def due(self, ready: int) -> dict[int, list[Replaced]]:
        """By tick those that take effect up to the tick that is ready."""
        found: dict[int, list[Replaced]] = {}
        for key in sorted(self.known.keys() - self.is_done):
            if self.ticks[key] <= ready and ready != NOTHING_YET:
                found.setdefault(self.ticks[key], []).append(self.known[key])
        return dict(sorted(found.items()))

    def take_effect(self, tick: int) -> None:
        """Those of this tick and before hold from now on; later ones of the same query do not yet."""
        self.is_done |= {key for key in self.known if self.ticks[key] <= tick}

    def constants(self, queries: I64, columns: pa.Table) -> pa.Table:
        """Of these queries, as they are now."""
        rows: dict[int, Replaced] = {key[0]: self.known[key] for key in sorted(self.is_done)}
        mine = [rows[query] for query in queries.tolist() if query in rows]
        if not mine:
            return columns
        is_other = np.isin(queries, list(rows))
        order = np.argsort(
            np.concatenate([np.flatnonzero(~is_other), np.flatnonzero(is_other)]), kind="stable"
        )
        parts = [columns.filter(pa.array(~is_other)), *(one.constants.cast(columns.schema) for one in mine)]
        return pa.concat_tables(parts).take(pa.array(order)).combine_chunks()

    def saved(self) -> Frame:
        keys = sorted(self.ticks)
        columns = {
            "query": [query for query, _ in keys], "number": [number for _, number in keys],
            "tick": [self.ticks[key] for key in keys], "is_done": [key in self.is_done for key in keys],
        }  # fmt: skip
        types = {"query": pa.int64(), "number": pa.int64(), "tick": pa.int64(), "is_done": pa.bool_()}
        return Frame({"ticks": pa.table({n: pa.array(columns[n], t) for n, t in types.items()})})

    def restore(self, frame: Frame) -> None:
        for row in frame.tables["ticks"].to_pylist():
            key = row["query"], row["number"]
            self.ticks[key] = row["tick"]
            self.is_done |= {key} if row["is_done"] else set()
