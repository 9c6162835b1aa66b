"""What a query tells of the past of one stream: its updates from a tick on, and what it holds in the end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.ask.archive import pieces_of
from sanderling.ask.once import Once
from sanderling.ask.reach import reach_of
from sanderling.operate.sql.consolidate import consolidate
from sanderling.plans.plan import Plan
from sanderling.storage.archive import Archive


def told_since(plan: Plan, archive: Archive, begin: int, end: int) -> tuple[pa.Table, pa.Table]:
    """Signed rows of the one query of a plan, which begins at a tick, up to another; and, with −, the rows
    that it holds then. Ticks are in order."""
    (part,), reach = plan.streams, reach_of(plan)
    if reach is not None:  # as far as it is kept
        reach = min(reach, max(0, begin - (archive.kept_from or 0)))
    once = Once(plan, end, is_told=True)
    once.feed({part.stream.name: pieces_of(archive, begin, end, reach)})
    once.close()
    told = once.told()
    told = told.take(pa.array(np.argsort(int64_of(told, "tick"), kind="stable")))
    return told, _taken_back(told, end)


def _taken_back(told: pa.Table, tick: int) -> pa.Table:
    """What is left of all of it, with the other sign."""
    at, sign = told.column_names.index("tick"), told.column_names.index("sign")
    rows = told.set_column(at, told.schema.field(at), pa.array(np.full(told.num_rows, tick)))
    signs = pa.array(-rows.column("sign").to_numpy().astype(np.int64)).cast(rows.schema.field(sign).type)
    return consolidate(rows.set_column(sign, rows.schema.field(sign), signs))
