"""Signed rows of one query on their way to clients: pieces, what they add up to, and what it comes to.

Columns are called tick, sign, c0, c1, …: two columns of a query may have the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.clock import NOTHING_YET
from sanderling.deliver.order import sort_order
from sanderling.plans.columns import by_places
from sanderling.plans.plan import Template
from sanderling.session.rows import TICK

# So many changed rows are worth adding up, however small the answer is.
LEAST_NETTED = 1_000
# Or so many times the answer: adding up is most of what the hub does (benchmarks/hub).
TIMES_HELD = 4


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Rows of whole ticks, in order; or the whole answer. Never changed: all clients share it as encoded."""

    rows: pa.Table
    tick: int  # up to which it tells all
    is_whole: bool = False
    merged: tuple[int, int] | None = None  # the difference over all these ticks
    encoded: dict[str, bytes] = field(default_factory=dict)  # by form

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes)


def schema_of(template: Template) -> pa.Schema:
    places = by_places(len(template.outputs))
    fields = [pa.field(name, o.type.arrow) for name, o in zip(places, template.outputs, strict=True)]
    return pa.schema([("tick", TICK), ("sign", pa.int8()), *fields])


def by_place(schema: pa.Schema, rows: pa.Table | None) -> pa.Table:
    """Rows as a session tells them, by place."""
    return schema.empty_table() if rows is None else rows.rename_columns(schema.names).cast(schema)


def last_tick(rows: pa.Table) -> int:
    """Of rows that are in order of tick."""
    return int(rows.column("tick")[-1].value) if rows.num_rows else NOTHING_YET


def first_tick(rows: pa.Table) -> int:
    return int(rows.column("tick")[0].value) if rows.num_rows else NOTHING_YET


def netted(tables: Sequence[pa.Table], tick: int) -> pa.Table:
    """What is left where − and + of equal rows cancel, as of a tick; − before +, then by row."""
    rows = pa.concat_tables(tables).combine_chunks()
    columns = rows.column_names[2:]
    sums = rows.group_by(columns, use_threads=False).aggregate([("sign", "sum")])
    sums = sums.filter(pc.not_equal(sums.column("sign_sum"), 0))
    count = sums.column("sign_sum").to_numpy()
    left = sums.select(columns).take(pa.array(np.repeat(np.arange(len(count)), np.abs(count))))
    signs = pa.array(np.repeat(np.sign(count), np.abs(count)).astype(np.int8))
    ticks = pa.array(np.full(len(signs), tick), pa.int64()).cast(TICK)
    whole = pa.Table.from_arrays([ticks, signs, *left.columns], schema=rows.schema)
    return whole.take(pa.array(sort_order(whole.columns[1:]))) if whole.num_rows else whole


class Held:
    """What a query holds: a base, and what has changed since, added up when there is much of it."""

    def __init__(self, answer: pa.Table):
        self._base, self._since, self._changed = answer, list[pa.Table](), 0

    def change(self, rows: pa.Table) -> None:
        self._since.append(rows)
        self._changed += rows.num_rows
        if self._changed > max(LEAST_NETTED, TIMES_HELD * self._base.num_rows):
            self.rows(last_tick(rows))

    def rows(self, tick: int) -> pa.Table:
        """All of it as + rows of a tick."""
        if self._since:
            self._base, self._since, self._changed = netted([self._base, *self._since], tick), [], 0
        ticks = pa.array(np.full(self._base.num_rows, tick), pa.int64()).cast(TICK)
        return self._base.set_column(0, "tick", ticks)

    @property
    def size(self) -> int:
        """How many rows it holds, without adding up."""
        return int(
            self._base.num_rows + sum(pc.sum(rows.column("sign")).as_py() or 0 for rows in self._since)
        )
