"""The rows of all queries as one table, for files that hold them together.

query  tick                  sign  id    speed
a      2024-05-01T08:00:01Z  1     anna
b      2024-05-01T08:00:01Z  1           12.5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling import relational
from sanderling.deliver.order import sort_order
from sanderling.plans.columns import by_places
from sanderling.plans.plan import NEVER, Plan, Template

UTC = pa.timestamp("us", tz="UTC")
Rows = Mapping[int, pa.Table]  # by template: query, tick, sign, then the select list by place


def answers(plan: Plan, rows: Rows) -> dict[int, pa.Table]:
    """Of all that was told, what is left at the end, with sign 1; of a query that the script drops, nothing.

    Of triggers and patterns, which take nothing back, all that they told.
    """
    is_there = plan.queries.end == NEVER
    return {number: _left(table, is_there) for number, table in rows.items()}


def _left(rows: pa.Table, is_there: npt.NDArray[np.bool_]) -> pa.Table:
    rows = rows.filter(pa.array(is_there[rows.column("query").to_numpy()]))
    names = ", ".join(name for name in rows.column_names if name not in ("tick", "sign"))
    sql = f"SELECT {names}, sum(sign)::BIGINT AS n FROM told GROUP BY {names} HAVING n > 0"
    found = relational.run(sql, told=rows)
    found = found.take(pa.array(np.repeat(np.arange(found.num_rows), found.column("n").to_numpy())))
    same = {"tick": pa.array(np.zeros(len(found), np.int64)), "sign": pa.array(np.ones(len(found), np.int8))}
    columns = [same.get(name, found.column(name) if name not in same else None) for name in rows.column_names]
    return pa.table(columns, names=rows.column_names).cast(rows.schema)


def told_templates(plan: Plan) -> dict[int, Template]:
    """Those that queries have, in order of queries; others are inside."""
    templates = plan.templates()
    found, first = np.unique(plan.queries.template, return_index=True)
    return {int(number): templates[int(number)] for number in found[np.argsort(first)]}


@dataclass(frozen=True, slots=True)
class Sheet:
    """Which columns such a table has, whatever the rows are: those of all queries, each name once.

    Where two queries mean different types by a name, numbers become DOUBLE, all else text. Our own columns
    step aside for a select list's.
    """

    plan: Plan
    ours: tuple[str, ...]
    columns: dict[str, tuple[str, pa.DataType]]  # by name in small letters

    @classmethod
    def of(cls, plan: Plan, is_final: bool = False) -> Sheet:
        """Without ticks and signs where it is about the end."""
        found: dict[str, tuple[str, pa.DataType]] = {}
        for template in told_templates(plan).values():
            for output in template.outputs:
                folded, type_ = output.name.casefold(), _shown(output.type.arrow)
                name, before = found.get(folded, (output.name, type_))
                found[folded] = name, _both(before, type_)
        ours = ("query",) if is_final else ("query", "tick", "sign")
        return cls(plan, tuple(_free(name, found) for name in ours), found)

    @property
    def schema(self) -> pa.Schema:
        types = dict(zip(self.ours, (pa.string(), UTC, pa.int8()), strict=False))
        return pa.schema([*types.items(), *self.columns.values()])

    def table(self, rows: Rows) -> pa.Table:
        """In order of tick, then of query, then − before +, then of row, NULL behind all else."""
        templates, ranks = self.plan.templates(), ranks_of(self.plan)
        parts = [self._part(templates[number], table) for number, table in rows.items() if table.num_rows]
        if not parts:
            return self.schema.empty_table()
        whole = pa.concat_tables(parts)
        query, tick, sign, *columns = whole.columns
        rank = ranks.take(query)
        order = sort_order([tick, rank, sign, *columns])
        names = self.plan.queries.names.take(query.combine_chunks())
        ours = [pa.chunked_array([names]), tick.cast(pa.timestamp("us")).cast(UTC), sign][: len(self.ours)]
        return pa.table([*ours, *columns], schema=self.schema).take(pa.array(order))

    def _part(self, template: Template, rows: pa.Table) -> pa.Table:
        at = {
            o.name.casefold(): name
            for o, name in zip(template.outputs, by_places(len(template.outputs)), strict=True)
        }
        n = rows.num_rows
        shown = {
            folded: _as(rows.column(at[folded]), type_)
            if folded in at
            else pa.chunked_array([pa.nulls(n, type_)])
            for folded, (_, type_) in self.columns.items()
        }
        fixed = [rows.column(name) for name in ("query", "tick", "sign")]
        return pa.table([*fixed, *shown.values()], names=["query", "tick", "sign", *by_places(len(shown))])


def ranks_of(plan: Plan) -> pa.Array:
    """Of each query where its name stands among all, by bytes."""
    names = plan.queries.names.to_pylist()
    ranks = {name: rank for rank, name in enumerate(sorted(set(names), key=str.encode))}
    return pa.array([ranks[name] for name in names], pa.int64())


def _shown(type_: pa.DataType) -> pa.DataType:
    """A timestamp says that it is in UTC."""
    return UTC if pa.types.is_timestamp(type_) else type_


def _as(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type) and not pa.types.is_timestamp(type_):
        column = column.cast(UTC)
    return column.cast(type_)


def _both(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    if a == b:
        return a
    are_numbers = all(pa.types.is_integer(t) or pa.types.is_floating(t) for t in (a, b))
    return pa.float64() if are_numbers else pa.string()


def _free(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name = "_" + name
    return name
