"""INSERT INTO, DELETE FROM and REFRESH TABLE, checked: a table with a longer history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling import relational
from sanderling.arrays import I64, Bools
from sanderling.catalog import Column, Table, TableForm
from sanderling.errors import QueryError, SanderlingError, did_you_mean
from sanderling.ingest.files import unpacking_in
from sanderling.ingest.judge import is_empty
from sanderling.ingest.tables import Loaded, load_table
from sanderling.ingest.types.convert import convert
from sanderling.ingest.types.show import show
from sanderling.language.grammar.space.lines import outline_of, unit_in
from sanderling.language.statements import (
    Cell,
    DeleteFrom,
    InsertInto,
    RefreshTable,
    Span,
    TableChange,
)
from sanderling.plan.declarations import unit_on_plane
from sanderling.plan.expressions.check import Scope, is_previous
from sanderling.plan.grow.placed import placed_rows
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plans.columns import of_reading
from sanderling.space.outlines.globe import fault_of, fault_of_place
from sanderling.types import SqlType

# How the file of a table is read: as `load_table` does it.
Read = Callable[[str, tuple[Column, ...] | None, str | None, str, str | None, Path, TableForm], Loaded]
read_now: Read = load_table


def read_in(data: Path | None) -> Read:
    """Reads nothing outside a folder, where one is given."""
    return partial(load_table, data=data)


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Applies a change to a table. `at` is the time in microseconds from which on it holds."""

    text: str
    selects: SelectPlanner
    folder: Path | None
    read: Read

    def changed(self, table: Table, change: TableChange, at: int) -> Table:
        history = table.history
        match change:
            case InsertInto():
                history = history.with_(self._inserted(table, change), at, table.key)
            case DeleteFrom():
                history = history.without(self._deleted(table, change), at)
            case RefreshTable():
                rows, notes = self._read_again(table, change)
                table = replace(table, notes=notes)
                going, is_new = _difference(table, rows)
                history = history.without(going, at).with_(rows.filter(pa.array(is_new)), at, table.key)
        is_same = np.array_equal(history.gone, table.history.gone)
        return table if is_same else replace(table, history=history)

    def refuse(self, code: str, message: str, hint: str, span: Span) -> QueryError:
        return QueryError(code, message, hint, span.place_in(self.text))

    # ----- INSERT INTO

    def _inserted(self, table: Table, change: InsertInto) -> pa.Table:
        schema = table.history.rows.schema
        names = self._columns(table, change, schema.names)
        for row in change.rows:
            if len(row) != len(names):
                span = Span(row[0].span.start, row[-1].span.end)
                message = f"{len(names)} values are needed here, not {len(row)}"
                raise self.refuse("query.wrong_argument_count", message, f"for {', '.join(names)}", span)
        cells = {name: [row[at] for row in change.rows] for at, name in enumerate(names)}
        nothing = [Cell(None, Span(row[0].span.start, row[-1].span.end)) for row in change.rows]
        columns = [self._typed(c, cells.get(c.name, nothing)) for c in table.columns]
        if table.region is not None:
            columns.append(self._regions(table, cells.get(table.region, nothing)))
        rows = pa.Table.from_arrays(columns, schema=schema)
        if table.is_globe and table.place is not None:
            lon, lat = (cells.get(name, nothing) for name in table.place)
            self._refuse_off(lon, lat)
        rows = self._placed(table, rows, change.name.span)
        self._check_keys(table, rows, cells.get(table.key, nothing))
        return rows

    def _columns(self, table: Table, change: InsertInto, known: Sequence[str]) -> list[str]:
        by_fold = {name.casefold(): name for name in known}
        found: list[str] = []
        for name in change.columns:
            column = by_fold.get(name.text.casefold())
            if column is None:
                message = f'"{table.name}" has no column "{name.text}"'
                hint = did_you_mean(name.text, known) or "name one of its columns"
                raise self.refuse("query.unknown_column", message, hint, name.span)
            if column in found:
                message = f'the column "{name.text}" stands twice'
                raise self.refuse("query.duplicate_column", message, "keep one of them", name.span)
            found.append(column)
        return found or list(known)

    def _typed(self, column: Column, cells: list[Cell]) -> pa.Array:
        for cell in cells:
            if cell.value is not None and not _fits(cell.value, column.type):
                raise self._misfit(column, cell)
        # As a file would say it: what a table takes does not depend on where it comes from.
        typed = convert(pa.array([_said(cell) for cell in cells], pa.string()), column.type)
        if typed.is_bad is not None:
            raise self._misfit(column, cells[int(np.argmax(typed.is_bad))])
        return typed.values

    def _misfit(self, column: Column, cell: Cell) -> QueryError:
        message = f"{column.name} is {column.type.name}, this is not"
        return self.refuse("query.wrong_type", message, _hint(column.type), cell.span)

    def _placed(self, table: Table, rows: pa.Table, span: Span) -> pa.Table:
        try:
            return placed_rows(rows, table.region, table.place, table.is_globe)
        except QueryError as e:
            raise self.refuse(e.code, e.message, e.hint, span) from e

    def _refuse_off(self, lons: list[Cell], lats: list[Cell]) -> None:
        """Of places that are none on the globe the first, where it is written."""
        for lon, lat in zip(lons, lats, strict=True):
            if isinstance(lon.value, int | float) and isinstance(lat.value, int | float):
                fault = fault_of_place(float(lon.value), float(lat.value))
                if fault is not None:
                    raise self.refuse(*fault, Span(lon.span.start, lat.span.end))

    def _regions(self, table: Table, cells: list[Cell]) -> pa.Array:
        return pa.array([self._outline(table, cell) for cell in cells], pa.binary())

    def _outline(self, table: Table, cell: Cell) -> bytes:
        hint = "write a coverage: POLYGON ((x y, …)), CIRCLE (x, y, r), …"
        if cell.value is None:
            raise self.refuse("query.bad_geometry", "this row has no region", hint, cell.span)
        if isinstance(cell.value, str | int | float | bool):
            raise self.refuse("query.wrong_type", "this is no region", hint, cell.span)
        outline = outline_of(cell.value)
        if outline is None:
            raise self.refuse("query.wrong_type", "a region of a table stands still", hint, cell.span)
        unit = unit_in(cell.value)
        if unit is not None and not table.is_globe:
            raise self.refuse(*unit_on_plane("globe = true"), unit)
        fault = fault_of(outline) if table.is_globe else None
        if fault is not None:
            raise self.refuse(*fault, cell.span)
        return outline

    def _check_keys(self, table: Table, rows: pa.Table, cells: list[Cell]) -> None:
        """Every row has a key, and no two have the same."""
        keys = rows.column(table.key).combine_chunks()
        empty = np.flatnonzero(is_empty(keys))
        if len(empty):
            hint = f"give each row a {table.key}"
            message = f"this row has no {table.key}"
            raise self.refuse("query.missing_key_value", message, hint, cells[empty[0]].span)
        is_first = np.zeros(len(keys), np.bool_)
        is_first[np.unique(keys.dictionary_encode().indices.to_numpy(), return_index=True)[1]] = True
        taken = pc.is_in(keys, value_set=table.rows.column(table.key).combine_chunks())
        double = np.flatnonzero(np.asarray(taken.to_numpy(zero_copy_only=False), np.bool_) | ~is_first)
        if len(double):
            value = show(keys.slice(double[0], 1))[0].as_py()
            raise self.refuse(
                "query.duplicate_key", f'"{table.name}" has a row with {table.key} "{value}" already',
                "delete that row first", cells[double[0]].span,
            )  # fmt: skip

    # ----- DELETE FROM

    def _deleted(self, table: Table, change: DeleteFrom) -> I64:
        """The rows that go, by number."""
        left = table.history.left
        if change.where is None:
            return left
        # A table is all there is in its scope, so it stands where else a stream does.
        scope = Scope(self.text, change.name.span, cast(Any, table), change.name.text, None, "")
        for part in filter(is_previous, change.where.walk()):
            hint = "a row of a table has none before it"
            raise scope.refuse(part, "query.unsupported", "PREVIOUS is of readings", hint)
        where, constants = self.selects.condition(change.where, scope)
        rows, n = table.rows, len(left)
        columns = {of_reading(name): rows.column(name) for name in sorted(where.of_reading)}
        columns |= {c.name: pa.repeat(pa.scalar(c.value, c.type.arrow), n) for c in constants}
        (verdict,) = relational.evaluate([where.sql], pa.table(columns or {"one": np.zeros(n)}))
        return left[np.asarray(verdict.fill_null(False).to_numpy(), np.bool_)]

    # ----- REFRESH TABLE

    def _read_again(self, table: Table, change: RefreshTable) -> tuple[pa.Table, tuple[str, ...]]:
        try:
            with unpacking_in(self.folder) as folder:
                _, rows, _, notes = self.read(
                    table.name, table.columns, table.key, table.path, table.format, folder, table.form
                )
        except SanderlingError as e:
            span = change.name.span
            hint = e.hint or "mend the file"
            raise type(e)(e.code, e.message, hint, span.place_in(self.text)) from e
        return self._placed(table, rows, change.name.span), notes


def _difference(table: Table, rows: pa.Table) -> tuple[I64, Bools]:
    """The rows that go, by number; and which of the rows read are new. What is the same stays."""
    left, before = table.history.left, table.rows
    found = pc.index_in(
        before.column(table.key).combine_chunks(), value_set=rows.column(table.key).combine_chunks()
    )
    is_there = np.asarray(found.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    place = found.fill_null(0).to_numpy()
    stays = is_there.copy()
    for name in rows.column_names if is_there.any() else ():
        stays &= ~_differs(before.column(name), rows.column(name).take(pa.array(place)))
    is_new = np.ones(rows.num_rows, np.bool_)
    is_new[place[stays]] = False
    return left[~stays], is_new


def _differs(one: pa.ChunkedArray, other: pa.ChunkedArray) -> Bools:
    """Row by row; NULL is the same as NULL."""
    same = pc.fill_null(pc.equal(one, other), False)
    both_null = pc.and_(pc.is_null(one), pc.is_null(other))
    return ~np.asarray(pc.or_(same, both_null).to_numpy(), np.bool_)


def _fits(value: object, type_: SqlType) -> bool:
    """Whether a constant for a column of this type is written like this."""
    match type_.name:
        case "STRING" | "TIMESTAMP" | "DATE":
            return isinstance(value, str)
        case "BOOLEAN":
            return isinstance(value, bool)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _said(cell: Cell) -> str | None:
    value = cell.value
    return value if value is None or isinstance(value, str) else str(value).lower()


def _hint(type_: SqlType) -> str:
    match type_.name:
        case "STRING":
            return "write a text in quotes"
        case "TIMESTAMP":
            return "write '2008-05-23 19:00:00' (UTC)"
        case "DATE":
            return "write '2008-05-23'"
        case "BOOLEAN":
            return "write TRUE or FALSE"
    return "write a number without quotes, within the range of its type"
