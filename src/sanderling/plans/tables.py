"""Tables as the merge stage reads them: signed rows, each from a time and a version on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling.catalog import Table
from sanderling.plans.plan import NEVER, PlannedTable


def planned_table(table: Table, before: Table | None = None, version: int = 0) -> PlannedTable:
    """All changes of a table, or those since it was as `before`, which come with this version."""
    history, number = table.history, np.arange(len(table.history.gone))
    known = 0 if before is None else len(before.history.gone)
    was_gone = np.full(len(number), NEVER)
    if before is not None:
        was_gone[:known] = before.history.gone
    # A row that went before it came never was; unless a version has told of it already.
    is_told = (history.came < history.gone) | (number < known)
    came = number[is_told & (number >= known)]
    went = number[is_told & (history.gone != was_gone)]
    # What was told to come later goes when it comes.
    end = np.maximum(history.gone, history.came)
    rows = history.rows.select([c.name for c in table.columns])
    return PlannedTable(
        table.name, table.columns, np.concatenate([history.came[came], end[went]]),
        np.full(len(came) + len(went), version, np.int32),
        np.repeat(np.array([1, -1], np.int8), [len(came), len(went)]),
        rows.take(pa.array(np.concatenate([came, went]))).combine_chunks(),
    )  # fmt: skip


def with_changes(known: Sequence[PlannedTable], new: Sequence[PlannedTable]) -> tuple[PlannedTable, ...]:
    """Tables with what changed in them; one that is not among them is new, and whole."""
    found = {table.name: table for table in known}
    for table in new:
        old = found.get(table.name)
        found[table.name] = table if old is None else _put_together(old, table)
    return tuple(found.values())


def _put_together(old: PlannedTable, new: PlannedTable) -> PlannedTable:
    time, version, sign = (
        np.concatenate([getattr(old, name), getattr(new, name)]) for name in ("time", "version", "sign")
    )
    rows = pa.concat_tables([old.rows, new.rows]).combine_chunks()
    return PlannedTable(old.name, old.columns, time, version, sign, rows)
