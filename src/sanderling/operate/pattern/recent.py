"""FROM pattern WINDOW 1 HOUR: a match is there from the tick it is told at, for so long.

matches as they are told ──► + now ──► − when its time is over, though nothing comes
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tick.schedule import Schedule
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_places


class Recent:
    """Promises (tests/operate/test_recent.py): at the tick T there are the rows that came behind T less the
    size, as often as they came, however batches are cut, also where nothing comes.
    """

    def __init__(self, node: nodes.Recent):
        self.types = [t.arrow for t in node.types]
        self.size_us = -(-node.size_us // node.tick_us) * node.tick_us

    def new_state(self, at: None) -> Schedule:
        return Schedule(self.types)

    def apply(self, state: Schedule, given: Changes) -> Signed:
        (rows,) = given.inputs
        state.add(replace(rows, tick=rows.tick + self.size_us, sign=-rows.sign))
        return put_together([rows, state.take(given.closed_to)]).consolidated()

    def due(self, state: Schedule) -> int | None:
        return state.due

    def present(self, state: Schedule, queries: I64, tick: int) -> Signed:
        """Those that have yet to go."""
        waiting = state.all()
        mine = waiting.take(np.flatnonzero(np.isin(waiting.query, queries)))
        return replace(mine, tick=np.full(len(mine), tick), sign=-mine.sign)

    def forget(self, state: Schedule, queries: I64) -> None:
        state.forget(queries)

    def held(self, state: Schedule) -> int:
        return len(state)

    def saved(self, state: Schedule) -> dict[str, pa.Table]:
        return {"waiting": state.all().table()}

    def restore(self, state: Schedule, tables: dict[str, pa.Table]) -> None:
        rows = Signed.of(tables["waiting"], by_places(len(self.types)), self.types)
        if len(rows):
            state.add(rows)
