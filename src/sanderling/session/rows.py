"""Signed rows as a user of a session sees them: under the names of their columns."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from sanderling.plans.plan import Template
from sanderling.route.parcels import Parcel

TICK = pa.timestamp("us")


def signed(template: Template, rows: pa.Table) -> pa.Table:
    """Tick, sign, and the columns of the query."""
    columns = {"tick": rows.column("tick").cast(TICK), "sign": rows.column("sign")}
    return pa.Table.from_arrays(
        [*columns.values(), *_own(template, rows)], names=[*columns, *(o.name for o in template.outputs)]
    )


def unsigned(template: Template, answers: Iterable[Parcel]) -> pa.Table:
    """An answer: the columns of the query alone."""
    names = [o.name for o in template.outputs]
    empty = pa.schema([(o.name, o.type.arrow) for o in template.outputs]).empty_table()
    tables = [pa.Table.from_arrays(_own(template, p.table), names=names) for p in answers]
    return pa.concat_tables([empty, *tables]).combine_chunks()


def _own(template: Template, rows: pa.Table) -> list[pa.ChunkedArray]:
    return [rows.column(f"c{i}") for i in range(len(template.outputs))]
