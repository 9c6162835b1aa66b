"""A declared table, read whole; unlike in a stream, a bad row is an error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.batches import Slice
from sanderling.catalog import AS_IS, Column, TableForm
from sanderling.errors import QueryError, did_you_mean
from sanderling.ingest.files import SourceFile, find_files, format_of, unpack
from sanderling.ingest.formats.geojson import (
    REGION,
    Feature,
    Property,
    declared_properties,
    inferred_properties,
    read_features,
    text_of,
)
from sanderling.ingest.formats.header import check_columns
from sanderling.ingest.infer import Roles, inferred_columns
from sanderling.ingest.judge import is_empty
from sanderling.ingest.read import read_rows
from sanderling.ingest.regions import region_of
from sanderling.ingest.slices import Slicer
from sanderling.ingest.types.convert import convert
from sanderling.ingest.types.show import show
from sanderling.ingest.types.typed import Mask
from sanderling.types import TYPES

SLICE_BYTES = 64 << 20
SLICE_ROWS = 1_000_000
SHOWN = 80
# Of a row among all, while they are sorted out.
NUMBER = "__number"


class Done:
    """What was done to rows that could not be as they are."""

    def __init__(self) -> None:
        self._skipped: list[tuple[str, int]] = []
        self._mended: list[str] = []
        self.row_key: str | None = None

    def skip(self, said: str, rows: int) -> None:
        """So many, and about the first of them."""
        self._skipped.append((said, rows))

    def repair(self, said: str) -> None:
        self._mended.append(said)

    def notes(self, left: int) -> tuple[str, ...]:
        said = []
        if self._mended:
            said.append(f"{len(self._mended):,} borders were mended: {self._mended[0]}")
        skipped = sum(rows for _, rows in self._skipped)
        if skipped:
            said.append(f"{skipped:,} of {skipped + left:,} rows were skipped: {self._skipped[0][0]}")
        if self.row_key is not None:
            said.append(f"the key is `{self.row_key}`, the number of the row")
        return tuple(said)


# The columns, the rows, the column of the rows that holds regions, if any, and what was done to the rows.
Loaded = tuple[tuple[Column, ...], pa.Table, str | None, tuple[str, ...]]


def load_table(
    name: str,
    columns: tuple[Column, ...] | None,
    key: str | None,
    path: str,
    format: str | None,
    folder_for_unpacking: Path,
    form: TableForm = AS_IS,
    data: Path | None = None,
) -> Loaded:
    """Promise (tests/ingest/test_forgiving_tables.py): what cannot be a row is an error, or skipped if the
    form says so; what was skipped, mended or counted is told.
    """
    format = format_of(path, format, data=data)
    files = unpack(find_files(path, data), folder_for_unpacking)
    done = Done()
    if columns is not None:
        columns = tuple(c for c in columns if form.row_key is None or c.name != form.row_key)
    if format == "geojson":
        columns, rows, region = _load_regions(columns, files, form, done)
    else:
        if columns is None:
            roles = Roles(None if key is None else key.casefold())
            columns = inferred_columns(
                path, format, form.written, roles, folder_for_unpacking, data, is_whole=True
            )
        rows, region = _load_rows(columns, format, files, form, done), None
    if form.row_key is not None:
        columns, rows = _counted(form.row_key, columns, rows, done)
    elif key is not None:
        rows = _check_key(name, key, columns, rows, form, done)
    return columns, rows.drop_columns([NUMBER]), region, done.notes(rows.num_rows)


def _load_rows(
    columns: tuple[Column, ...], format: str, files: Sequence[SourceFile], form: TableForm, done: Done
) -> pa.Table:
    check_columns(columns, format, files, form.written.delimiter)
    slicer = Slicer(files, format, SLICE_BYTES, SLICE_ROWS)
    parts, offset, before = [_schema(columns).empty_table()], slicer.first(), 0
    while (found := slicer.next(offset)) is not None:
        piece, offset = found
        part, n = _load_slice(columns, format, piece, form, done, before)
        parts.append(part)
        before += n
    return pa.concat_tables(parts).combine_chunks()


def _load_slice(
    columns: tuple[Column, ...], format: str, piece: Slice, form: TableForm, done: Done, before: int
) -> tuple[pa.Table, int]:
    """The rows, and how many there would have been."""
    rows = read_rows(columns, format, piece, form.written)
    pattern = form.written.time_format
    typed = [convert(values, c.type, pattern) for values, c in zip(rows.columns, columns, strict=True)]
    is_good, n = np.ones(len(rows.numbers), np.bool_), len(rows.numbers) + len(rows.faults)
    for column, values, found in zip(columns, rows.columns, typed, strict=True):
        if found.is_bad is not None:
            at = int(np.argmax(found.is_bad))
            is_good &= ~found.is_bad
            detail = _misfit(column, values, at)
            rows.faults.add(rows.numbers[at : at + 1], "wrong_type", detail)
    if (fault := rows.faults.first()) is not None:
        row, _, detail = fault
        said = f'row {row} of "{piece.file}": {detail}'
        if not form.skips:
            raise QueryError("query.bad_table_row", said, "mend or remove the row, or skip = true")
        done.skip(said, n - int(is_good.sum()))
    numbers = pa.array(np.arange(before + 1, before + len(is_good) + 1))
    table = pa.Table.from_arrays([*(found.values for found in typed), numbers], schema=_schema(columns))
    return table.filter(pa.array(is_good)), n


def _misfit(column: Column, values: pa.Array, at: int) -> str:
    value = show(values.slice(at, 1))[0].as_py()
    return f'{column.name}: "{value[:SHOWN]}" does not fit {column.type.name}'


def _schema(columns: Sequence[Column]) -> pa.Schema:
    """With the number of each row among all, for a while."""
    return pa.schema([*((column.name, column.type.arrow) for column in columns), (NUMBER, pa.int64())])


def _load_regions(
    columns: tuple[Column, ...] | None, files: Sequence[SourceFile], form: TableForm, done: Done
) -> tuple[tuple[Column, ...], pa.Table, str | None]:
    features = [feature for file in files for feature in read_features(file)]
    if columns is None:
        properties = inferred_properties(features)
    else:
        if any(column.name.casefold() == REGION for column in columns):
            raise QueryError("query.duplicate_column", f'"{REGION}" is the column of the geometry')
        properties = declared_properties(columns, features)
    found = tuple(item.column for item in properties)
    regions = [_region(feature, form, done) for feature in features]
    numbers = pa.array(np.arange(1, len(features) + 1))
    is_there = np.array([region is not None for region in regions], np.bool_)
    values = [_property_values(item, features, form, is_there, done) for item in properties]
    names = [*_schema(found).names[:-1], REGION, NUMBER]
    whole = pa.Table.from_arrays([*values, pa.array(regions, pa.binary()), numbers], names=names)
    return found, whole.filter(pa.array(is_there)), REGION


def _region(feature: Feature, form: TableForm, done: Done) -> bytes | None:
    """None: it is skipped."""
    try:
        outline, mended = region_of(feature, form.within, form.repairs)
    except QueryError as e:
        if not form.skips:
            raise
        done.skip(e.message, 1)
        return None
    if mended is not None:
        done.repair(mended)
    return outline


def _property_values(
    item: Property, features: Sequence[Feature], form: TableForm, is_there: Mask, done: Done
) -> pa.Array:
    texts = pa.array([text_of(feature, item.source) for feature in features], pa.string())
    typed = convert(texts, item.column.type, form.written.time_format)
    if typed.is_bad is not None:
        at = int(np.argmax(typed.is_bad))
        said = f"{features[at]}: {_misfit(item.column, texts, at)}"
        if not form.skips:
            raise QueryError("query.bad_table_row", said)
        done.skip(said, int((typed.is_bad & is_there).sum()))
        is_there &= ~typed.is_bad
    return typed.values


def _counted(
    name: str, columns: tuple[Column, ...], rows: pa.Table, done: Done
) -> tuple[tuple[Column, ...], pa.Table]:
    """With a column of row numbers: as they stand in the files, those that are skipped too."""
    if any(column.name.casefold() == name.casefold() for column in columns):
        raise QueryError(
            "query.duplicate_column", f'there is a column "{name}" already', "give the key another name"
        )
    done.row_key = name
    at = len(columns)
    rows = rows.add_column(at, name, rows.column(NUMBER))
    return (*columns, Column(name, TYPES["BIGINT"])), rows


def _check_key(
    name: str, key: str, columns: Sequence[Column], rows: pa.Table, form: TableForm, done: Done
) -> pa.Table:
    """Every row has a key, and no two have the same; of those that are skipped, the first stays."""
    column = next((c for c in columns if c.name.casefold() == key.casefold()), None)
    if column is None:
        names = [c.name for c in columns]
        raise QueryError("query.unknown_column", f'"{name}" has no column "{key}"', did_you_mean(key, names))
    values = rows.column(column.name).combine_chunks()
    is_none = is_empty(values)
    if is_none.any():
        at = int(rows.column(NUMBER)[int(np.argmax(is_none))].as_py())
        said = f'"{name}" has no {column.name} in its row {at}'
        if not form.skips:
            raise QueryError("query.missing_key_value", said, "skip = true leaves such rows out")
        done.skip(said, int(is_none.sum()))
    codes = values.dictionary_encode().indices.fill_null(-1).to_numpy()
    is_first = np.zeros(len(codes), np.bool_)
    is_first[np.unique(codes, return_index=True)[1]] = True
    is_double = ~is_first & ~is_none
    if is_double.any():
        value = show(values.slice(int(np.argmax(is_double)), 1))[0].as_py()
        said = f'"{name}" has more than one row with {column.name} "{value}"'
        if not form.skips:
            hint = "key = 'row' takes the number of the row for a key, skip = true the first of each"
            raise QueryError("query.duplicate_key", said, hint)
        done.skip(said, int(is_double.sum()))
    return rows.filter(pa.array(~is_none & ~is_double))
