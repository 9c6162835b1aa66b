"""What a tree asks its stream for while it works, and what it was told, so that it can be told again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.operate.inside.waited import Wanted
from sanderling.plans.columns import by_place

Ask = Callable[[Wanted], pa.Table]


class Looks:
    """Promise (tests/properties/test_patterns.py): a batch that is replayed is told what it was told."""

    def __init__(self, ask: Ask):
        self._ask = ask
        self._told: dict[int, list[pa.Table]] = {}
        self._known: dict[int, pa.Table] | None = None  # of a batch that is replayed, by template

    def begin(self, known: dict[int, pa.Table] | None = None) -> None:
        self._told, self._known = {}, known

    def told(self) -> dict[int, pa.Table]:
        """By template all that it was told in a batch."""
        return {template: pa.concat_tables(tables) for template, tables in self._told.items()}

    def look(self, wanted: Wanted, place: int) -> pa.Table | None:
        """Signed rows of a template; the objects' key is the column at this place."""
        if self._known is not None and wanted.template not in self._known:
            return None
        if self._known is not None:
            return _of(self._known[wanted.template], wanted, place)
        rows = self._ask(wanted)
        if rows.num_rows:
            self._told.setdefault(wanted.template, []).append(rows)
        return rows


def _of(known: pa.Table, wanted: Wanted, place: int) -> pa.Table:
    """Those of who is wanted; who is new is told from its begin, wherever this batch is cut."""
    name = by_place(place)
    asked = pa.table({"query": pa.array(wanted.query, pa.int32()), name: wanted.key, "is_new": wanted.is_new})
    number = pc.cast(pa.array(np.arange(known.num_rows)), pa.int64())
    keyed = known.select(["query", "tick", name]).append_column("row", number)
    found = keyed.join(asked, keys=["query", name], join_type="inner")
    tick: I64 = found.column("tick").to_numpy()
    is_asked = (tick <= wanted.until) & (found.column("is_new").to_numpy() | (tick > wanted.after))
    rows = np.sort(found.column("row").to_numpy()[is_asked])
    return known.take(pa.array(rows))
