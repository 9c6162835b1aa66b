"""A declared table, read whole; unlike in a stream, a bad row is an error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import Slice
from sanderling.catalog import Column
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
from sanderling.ingest.judge import is_empty
from sanderling.ingest.read import read_rows
from sanderling.ingest.regions import region_of
from sanderling.ingest.slices import Slicer
from sanderling.ingest.types.convert import convert
from sanderling.ingest.types.show import show

SLICE_BYTES = 64 << 20
SLICE_ROWS = 1_000_000
SHOWN = 80

Loaded = tuple[tuple[Column, ...], pa.Table, str | None]


def load_table(
    name: str,
    columns: tuple[Column, ...] | None,
    key: str | None,
    path: str,
    format: str | None,
    folder_for_unpacking: Path,
    within: float | None = None,
    data: Path | None = None,
) -> Loaded:
    """The columns, the rows, and the name of the column of the rows that holds regions, if any.

    Lines and points are regions where it is said how near is `within` them.
    """
    format = format_of(path, format, data=data)
    files = unpack(find_files(path, data), folder_for_unpacking)
    if format == "geojson":
        loaded = _load_regions(columns, files, within)
    elif columns is None:
        raise QueryError(
            "query.missing_columns",
            f'the columns of "{name}" are not declared',
            f"write CREATE TABLE {name} (column TYPE, …); only geojson tells its own",
        )
    else:
        loaded = (columns, _load_rows(columns, format, files), None)
    if key is not None:
        _check_key(name, key, loaded[0], loaded[1])
    return loaded


def _load_rows(columns: tuple[Column, ...], format: str, files: Sequence[SourceFile]) -> pa.Table:
    check_columns(columns, format, files)
    slicer = Slicer(files, format, SLICE_BYTES, SLICE_ROWS)
    parts, offset = [_schema(columns).empty_table()], slicer.first()
    while (found := slicer.next(offset)) is not None:
        piece, offset = found
        parts.append(_load_slice(columns, format, piece))
    return pa.concat_tables(parts).combine_chunks()


def _load_slice(columns: tuple[Column, ...], format: str, piece: Slice) -> pa.Table:
    rows = read_rows(columns, format, piece)
    typed = [convert(values, column.type) for values, column in zip(rows.columns, columns, strict=True)]
    for column, values, found in zip(columns, rows.columns, typed, strict=True):
        if found.is_bad is not None:
            at = int(np.argmax(found.is_bad))
            detail = _misfit(column, values, at)
            rows.faults.add(rows.numbers[at : at + 1], "wrong_type", detail)
    if (fault := rows.faults.first()) is not None:
        row, _, detail = fault
        raise QueryError(
            "query.bad_table_row", f'row {row} of "{piece.file}": {detail}', "mend or remove the row"
        )
    return pa.Table.from_arrays([found.values for found in typed], schema=_schema(columns))


def _misfit(column: Column, values: pa.Array, at: int) -> str:
    value = show(values.slice(at, 1))[0].as_py()
    return f'{column.name}: "{value[:SHOWN]}" does not fit {column.type.name}'


def _schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([(column.name, column.type.arrow) for column in columns])


def _load_regions(
    columns: tuple[Column, ...] | None, files: Sequence[SourceFile], within: float | None
) -> Loaded:
    features = [feature for file in files for feature in read_features(file)]
    if columns is None:
        properties = inferred_properties(features)
    else:
        if any(column.name.casefold() == REGION for column in columns):
            raise QueryError("query.duplicate_column", f'"{REGION}" is the column of the geometry')
        properties = declared_properties(columns, features)
    found = tuple(item.column for item in properties)
    values = [_property_values(item, features) for item in properties]
    regions = pa.array([region_of(feature, within) for feature in features], pa.binary())
    schema = _schema(found).append(pa.field(REGION, pa.binary()))
    return found, pa.Table.from_arrays([*values, regions], schema=schema), REGION


def _property_values(item: Property, features: Sequence[Feature]) -> pa.Array:
    texts = pa.array([text_of(feature, item.source) for feature in features], pa.string())
    typed = convert(texts, item.column.type)
    if typed.is_bad is not None:
        at = int(np.argmax(typed.is_bad))
        raise QueryError("query.bad_table_row", f"{features[at]}: {_misfit(item.column, texts, at)}")
    return typed.values


def _check_key(name: str, key: str, columns: Sequence[Column], rows: pa.Table) -> None:
    """Every row has a key, and no two have the same."""
    column = next((c for c in columns if c.name.casefold() == key.casefold()), None)
    if column is None:
        names = [c.name for c in columns]
        raise QueryError("query.unknown_column", f'"{name}" has no column "{key}"', did_you_mean(key, names))
    values = rows.column(column.name).combine_chunks()
    empty = np.flatnonzero(is_empty(values))
    if len(empty):
        raise QueryError(
            "query.missing_key_value", f'"{name}" has no {column.name} in its row {empty[0] + 1}'
        )
    counts = pc.value_counts(values)
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        value = show(repeated)[0].as_py()
        raise QueryError(
            "query.duplicate_key", f'"{name}" has more than one row with {column.name} "{value}"'
        )
