"""Pairs to signed rows: the select list, evaluated only for what is emitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling import relational
from sanderling.arrays import I32, I64
from sanderling.batches import QUERIES
from sanderling.operate.readings.pairs import PairBatch
from sanderling.plans.columns import by_places, is_of_reading, name_of
from sanderling.plans.expression import Expression
from sanderling.plans.plan import Regions, Template
from sanderling.route.sightings import lists_of

Columns = Callable[[str], pa.ChunkedArray]


@dataclass(frozen=True, slots=True)
class Emission:
    """What goes out: the tick, the region, the reading's row, and the sign."""

    tick: I64
    region: I64
    row: I64
    sign: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.tick)

    @classmethod
    def of(cls, pairs: PairBatch, is_changed: npt.NDArray[np.bool_]) -> Emission:
        """Exits with the old reading, entries with the new; who stays goes out and in if its row changed."""
        goes = pairs.was & (~pairs.is_ | is_changed)
        comes = pairs.is_ & (~pairs.was | is_changed)
        sign = np.concatenate([np.full(int(goes.sum()), -1, np.int8), np.full(int(comes.sum()), 1, np.int8)])
        return cls(
            np.concatenate([pairs.tick[goes], pairs.tick[comes]]),
            np.concatenate([pairs.region[goes], pairs.region[comes]]),
            np.concatenate([pairs.old_row[goes], pairs.new_row[comes]]),
            sign,
        )


def signed_rows(
    emission: Emission, template: Template, constants: pa.Table, regions: Regions, store: pa.Table
) -> pa.Table:
    """The rows of one template: query, tick, sign and the select list."""
    columns = shown(template, constants, regions.row_in_template[emission.region], emission.row, store)
    schema = template.schema()
    sign = pa.array(emission.sign, schema.field("sign").type)
    fixed = [pa.array(regions.query[emission.region]), pa.array(emission.tick), sign]
    return pa.Table.from_arrays([*fixed, *columns], schema=schema)


def shown(
    template: Template, constants: pa.Table, in_template: I64, row: I64, store: pa.Table
) -> list[pa.ChunkedArray]:
    """The select list over readings by row, each with the constants of its query."""
    rows, its_constants = pa.array(row), pa.array(in_template)

    def column(read: str) -> pa.ChunkedArray:
        return (
            store.column(name_of(read)).take(rows)
            if is_of_reading(read)
            else constants.column(read).take(its_constants)
        )

    return _selected(template, column, len(row))


def sightings(row: I64, tick: I64, start: I32, query: I32, template: Template, store: pa.Table) -> pa.Table:
    """Readings by row, each with the queries that take it, and the select list, evaluated once a reading."""
    at = pa.array(row)
    columns = _selected(template, lambda read: store.column(name_of(read)).take(at), len(row))
    names = by_places(len(columns))
    lists = lists_of(start, query)
    return pa.table([pa.array(tick), lists, *columns], names=["tick", QUERIES, *names])


def _selected(template: Template, column: Columns, n: int) -> list[pa.ChunkedArray]:
    """The select list over columns by what reads them."""
    wanted = [o.expression for o in template.outputs]
    found = iter(evaluated([e for e in wanted if not e.is_plain], column, n))
    return [column(e.column) if e.is_plain else next(found) for e in wanted]


def evaluated(expressions: list[Expression], column: Columns, n: int) -> list[pa.ChunkedArray]:
    """What is computed of n rows, by columns."""
    if not expressions:
        return []
    reads = sorted({r for e in expressions for r in e.reads})
    columns = {r: column(r) for r in reads}
    table = pa.table(columns) if columns else pa.table({"one": pa.array(np.zeros(n, np.int8))})
    answers = relational.evaluate([e.sql for e in expressions], table)
    return [relational.finite(a.cast(e.type.arrow)) for e, a in zip(expressions, answers, strict=True)]
