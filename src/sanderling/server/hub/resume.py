"""What was told before: updates of a query from the log on disk, as long as that is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import Batch, Kind
from sanderling.clock import NOTHING_YET
from sanderling.deliver.log import Log
from sanderling.errors import StateError
from sanderling.plans.plan import Template
from sanderling.session.rows import signed

# Batches that are looked at for how far streams have come.
LOOKED_AT = 500


class NotKept(Exception):
    """So old that the log does not know any more; its text says why."""


def rows_since(
    log: Log, template: Template, query: int, streams: Sequence[str], since: int, until: int
) -> pa.Table | None:
    """Updates of ticks after `since`, of batches up to `until`; None if there are none.

    Backwards, up to a batch at whose end no later tick had closed.
    """
    numbers = [n for n in log.numbers() if n <= until]
    found: list[pa.Table] = []
    for number in reversed(numbers):
        try:
            batches = log.read(number)
        except StateError:  # it was thrown away meanwhile
            raise _not_kept() from None
        if _is_before(batches, streams, since):
            break
        found.append(_rows_of(batches, template, query, since))
    else:
        if numbers and numbers[0] > 0:
            raise _not_kept()
    told = [rows for rows in (signed(template, [t]) for t in reversed(found)) if rows is not None]
    return pa.concat_tables(told).combine_chunks() if told else None


def _not_kept() -> NotKept:
    return NotKept("state.updates_gone: what was told since then is kept no longer")


def _is_before(batches: list[Batch], streams: Sequence[str], since: int) -> bool:
    """Whether nothing later can have been told by the end of a batch: one stream had not come so far."""
    return any(b.kind == Kind.COUNTS and b.stream in streams and b.closed_to <= since for b in batches)


def _rows_of(batches: list[Batch], template: Template, query: int, since: int) -> pa.Table:
    schema = template.schema()
    mine = [b.table for b in batches if b.kind == Kind.DELTAS and b.template == template.id]
    rows = pa.concat_tables(mine) if mine else schema.empty_table()
    is_mine = pc.and_(pc.equal(rows.column("query"), query), pc.greater(rows.column("tick"), since))
    return rows.filter(is_mine)


def closed_in(log: Log) -> dict[str, int]:
    """How far streams had come when the log was written last."""
    closed: dict[str, int] = {}
    for number in reversed(log.numbers()[-LOOKED_AT:]):
        try:
            batches = log.read(number)
        except StateError:
            break
        for batch in batches:
            if batch.kind == Kind.COUNTS and batch.closed_to != NOTHING_YET:
                closed.setdefault(batch.stream, batch.closed_to)
    return closed
