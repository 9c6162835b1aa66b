"""What a turn brings for the tree of composed queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sanderling.batches import TURNS, Batch, Kind
from sanderling.plans.plan import PlannedTree
from sanderling.state.frame import Frame

Closed = dict[str, tuple[int, bool]]  # by stream the tick that has closed, and whether it has ended


@dataclass(slots=True)
class Input:
    """What a turn brings for a tree: rows by branch, turns, and how far streams have come."""

    rows: dict[int, pa.Table] = field(default_factory=dict)
    turns: pa.Table = field(default_factory=TURNS.empty_table)
    closed: Closed = field(default_factory=dict)
    looked: dict[int, pa.Table] = field(default_factory=dict)  # by template what was asked for besides

    @classmethod
    def of(cls, came: list[Batch], planned: PlannedTree, shared: Collection[int]) -> Input:
        clocks = [batch for batch in came if batch.kind == Kind.CLOCK]
        closed = {clock.stream: (clock.closed_to, clock.is_ended) for clock in clocks}
        turns = pa.concat_tables([TURNS.empty_table(), *(clock.table for clock in clocks)])
        turns = turns.filter(pa.array(np.isin(turns.column("query").to_numpy(), planned.queries)))
        rows = [batch for batch in came if batch.kind != Kind.CLOCK]
        return cls(by_branch(rows, planned, shared), turns, closed)

    def saved(self) -> Frame:
        rows = {str(branch): rows for branch, rows in self.rows.items()}
        frame = Frame({"turns": self.turns, **rows}, {"closed": self.closed})
        frame.put(Frame({str(template): rows for template, rows in self.looked.items()}), "looked")
        return frame

    @classmethod
    def restored(cls, frame: Frame) -> Input:
        rows = {int(name): rows for name, rows in frame.tables.items() if name != "turns"}
        looked = {int(name): told for name, told in frame.part("looked").tables.items()}
        return cls(rows, frame.tables["turns"], frame.values["closed"], looked)


def by_branch(batches: Sequence[Batch], planned: PlannedTree, shared: Collection[int]) -> dict[int, pa.Table]:
    """Rows of branches, of all shards together; of those that are shared, the rows of its own queries."""
    found: dict[int, list[pa.Table]] = {}
    for batch in batches:
        rows = batch.table
        if batch.template in shared:
            rows = rows.filter(pa.array(np.isin(rows.column("query").to_numpy(), planned.queries)))
        found.setdefault(planned.branches.index(batch.template), []).append(rows)
    return {branch: pa.concat_tables(tables) for branch, tables in found.items()}
