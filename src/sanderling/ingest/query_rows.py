"""A query table, read whole: in each row a name, a template, and the template's parameters.

Parameters are a struct of Parquet, or an object of JSON. A row that cannot be read is an error.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sanderling.catalog import Column
from sanderling.errors import DataError, QueryError
from sanderling.ingest.files import STREAM_FORMATS, SourceFile, find_files, format_of, unpack
from sanderling.ingest.formats.header import check_columns, find_columns, parquet_header
from sanderling.ingest.tables import load_table
from sanderling.types import TYPES

NAME, TEMPLATE, PARAMETERS = (Column(name, TYPES["STRING"]) for name in ("name", "template", "parameters"))
# What a parameter has that its row does not give; NULL is given.
ABSENT = object()

Rows = npt.NDArray[np.int64]


class Parameters(Protocol):
    def values(self, name: str, rows: Rows) -> list[Any]:
        """What a parameter is in these rows."""

    def superfluous(self, names: set[str], rows: Rows) -> tuple[int, str] | None:
        """The first of the rows that gives another one than these, and which."""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a query table; rows count from 0."""

    file: str
    names: list[str]
    templates: list[str]
    parameters: Parameters

    def shown(self, row: int) -> str:
        """How people know a row."""
        return f'row {row + 1} of "{self.file}" ("{self.names[row]}")'


@dataclass(frozen=True, slots=True)
class Structs:
    """Parameters as columns; a field that is NULL may be one that other rows need."""

    fields: dict[str, pa.Array]

    def values(self, name: str, rows: Rows) -> list[Any]:
        found = self.fields.get(name)
        return [ABSENT] * len(rows) if found is None else list(found.take(pa.array(rows)).to_pylist())

    def superfluous(self, names: set[str], rows: Rows) -> tuple[int, str] | None:
        for name in self.fields.keys() - names:
            given = rows[pc.is_valid(self.fields[name].take(pa.array(rows))).to_numpy(zero_copy_only=False)]
            if len(given):
                return int(given[0]), name
        return None


@dataclass(frozen=True, slots=True)
class Objects:
    """Parameters as JSON tells them, row by row."""

    rows: list[dict[str, Any]]

    def values(self, name: str, rows: Rows) -> list[Any]:
        return [self.rows[row].get(name, ABSENT) for row in rows]

    def superfluous(self, names: set[str], rows: Rows) -> tuple[int, str] | None:
        for row in rows.tolist():
            if len(self.rows[row]) > len(names):
                return row, next(name for name in self.rows[row] if name not in names)
        return None


def load_queries(
    path: str, format: str | None, folder_for_unpacking: Path, data: Path | None = None
) -> QueryRows:
    format = format_of(path, format, STREAM_FORMATS, data)
    files = unpack(find_files(path, data), folder_for_unpacking)
    check_columns((NAME, TEMPLATE, PARAMETERS), format, files)
    is_struct = format == "parquet" and _is_struct(files[0])
    wanted = (NAME, TEMPLATE) if is_struct else (NAME, TEMPLATE, PARAMETERS)
    _, rows, *_ = load_table("queries", wanted, None, path, format, folder_for_unpacking, data=data)
    names = _filled(rows.column(0), path, "query.missing_key_value", "name")
    templates = _filled(rows.column(1), path, "query.bad_table_row", "template")
    parameters = _of_structs(_structs(files), path) if is_struct else _of_texts(rows.column(2), path)
    return QueryRows(path, names, templates, parameters)


def _filled(column: pa.ChunkedArray, path: str, code: str, what: str) -> list[str]:
    texts: list[str] = column.to_pylist()
    if not all(texts):
        row = next(i for i, text in enumerate(texts) if not text)
        raise QueryError(code, f'row {row + 1} of "{path}" has no {what}', f"give it a {what}, or remove it")
    return texts


def _is_struct(file: SourceFile) -> bool:
    return bool(pa.types.is_struct(pq.read_schema(file.path).field(_position(file)).type))


def _position(file: SourceFile) -> int:
    (position,) = find_columns((PARAMETERS,), parquet_header(file), file.name)
    return position


def _structs(files: Sequence[SourceFile]) -> pa.Array:
    """The column of parameters; all files have the fields of the first."""
    chunks: list[pa.Array] = []
    for file in files:
        try:
            with pq.ParquetFile(file.path) as found:
                column = found.read(columns=[found.schema_arrow.names[_position(file)]]).column(0)
            chunks += column.cast(chunks[0].type).chunks if chunks else column.chunks
        except (pa.ArrowException, OSError) as error:
            raise DataError("data.broken_parquet", f'"{file.name}" is damaged inside: {error}') from error
    return pa.chunked_array(chunks).combine_chunks()


def _of_structs(whole: pa.Array, path: str) -> Structs:
    names = [field.name for field in whole.type]
    return Structs({name: _plain(pc.struct_field(whole, [i]), name, path) for i, name in enumerate(names)})


def _plain(values: pa.Array, name: str, path: str) -> pa.Array:
    """As numbers, texts and booleans, which is what a statement can say."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return values.dictionary_decode()
    if pa.types.is_decimal(kind):
        return values.cast(pa.float64())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return values.cast(pa.string())
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_null,
    )
    if pa.types.is_large_string(kind) or any(test(kind) for test in tests):
        return values
    raise QueryError(
        "query.wrong_type", f'the parameter "{name}" of "{path}" is of type {kind}',
        "parameters are numbers, texts, booleans and NULL",
    )  # fmt: skip


def _of_texts(column: pa.ChunkedArray, path: str) -> Objects:
    rows: list[dict[str, Any]] = []
    for text in column.to_pylist():
        try:
            found = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise QueryError(
                "query.bad_table_row", f'row {len(rows) + 1} of "{path}": its parameters are no JSON object',
                'write {"side": 10, "kind": "bus"}',
            )  # fmt: skip
        rows.append(found)
    return Objects(rows)
