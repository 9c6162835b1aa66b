"""Signed rows as a user of a session sees them: under the names of their columns."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from sanderling.batches import Batch
from sanderling.deliver.order import sort_order
from sanderling.plans.columns import by_places
from sanderling.plans.plan import Template

TICK = pa.timestamp("us")


def signed(template: Template, tables: Iterable[pa.Table]) -> pa.Table | None:
    """Tick, sign, and the columns of the query: in order of tick, then − before +, then of row."""
    some = [rows for rows in tables if rows.num_rows]
    if not some:
        return None
    rows = pa.concat_tables(some)
    columns = [rows.column("tick"), rows.column("sign"), *_own(template, rows)]
    order = pa.array(sort_order(columns))
    tick, *others = (column.take(order) for column in columns)
    return pa.Table.from_arrays(
        [tick.cast(TICK), *others], names=["tick", "sign", *(o.name for o in template.outputs)]
    )


def unsigned(template: Template, answers: Iterable[Batch]) -> pa.Table:
    """An answer: the columns of the query alone."""
    names = [o.name for o in template.outputs]
    empty = pa.schema([(o.name, o.type.arrow) for o in template.outputs]).empty_table()
    tables = [pa.Table.from_arrays(_own(template, b.table), names=names) for b in answers]
    return pa.concat_tables([empty, *tables]).combine_chunks()


def _own(template: Template, rows: pa.Table) -> list[pa.ChunkedArray]:
    return [rows.column(name) for name in by_places(len(template.outputs))]
