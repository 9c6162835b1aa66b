"""Parquet: the rows of a slice out of the row groups that hold them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.batches import Slice
from sanderling.catalog import Column
from sanderling.errors import DataError
from sanderling.ingest.formats.header import find_columns
from sanderling.ingest.formats.rows import Numbers, Rows, whole
from sanderling.ingest.letters import Faults
from sanderling.ingest.slices import shorter
from sanderling.ingest.types.show import show


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """The declared columns of a slice; rows are shown as JSON objects."""

    table: pa.Table
    first_row: int

    def raw(self, numbers: Numbers) -> list[str]:
        rows = self.table.take(pa.array(numbers - self.first_row))
        return [json.dumps(row, ensure_ascii=False) for row in _plain(rows).to_pylist()]


def read_parquet_rows(columns: Sequence[Column], piece: Slice) -> Rows:
    source = read_parquet(columns, piece)
    numbers = np.arange(piece.first_row, piece.first_row + source.table.num_rows, dtype=np.int64)
    return Rows(numbers, tuple(whole(column) for column in source.table.columns), Faults(), source)


def read_parquet(columns: Sequence[Column], piece: Slice) -> ParquetRows:
    try:
        status = os.stat(piece.path)
        with pq.ParquetFile(piece.path) as file:
            names = file.schema_arrow.names
            wanted = tuple(names[i] for i in find_columns(columns, names, piece.file))
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
            schema = file.schema_arrow
    except pa.ArrowException as error:
        raise DataError("data.broken_parquet", f'"{piece.file}" is damaged inside: {error}') from error
    if sum(sizes) < piece.stop:
        raise shorter(piece.file)
    begins = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    needed = np.flatnonzero((begins[:-1] < piece.stop) & (begins[1:] > piece.start))
    try:
        groups = [_row_group(piece.path, status.st_size, status.st_mtime_ns, int(i), wanted) for i in needed]
    except (pa.ArrowException, OSError) as error:
        # Its rows cannot even be counted off one by one, so there is nothing to write letters about.
        raise DataError("data.broken_parquet", f'"{piece.file}" is damaged inside: {error}') from error
    table = pa.concat_tables(groups) if groups else schema.empty_table()
    skipped = int(begins[needed[0]]) if len(needed) else 0
    return ParquetRows(
        table.select(wanted).slice(piece.start - skipped, piece.stop - piece.start), piece.first_row
    )


# Several slices of one row group follow each other: it is decoded once.
@lru_cache(maxsize=1)
def _row_group(path: str, size: int, mtime_ns: int, group: int, columns: tuple[str, ...]) -> pa.Table:
    with pq.ParquetFile(path) as file:
        return file.read_row_group(group, columns=list(columns), use_threads=False)


def _plain(table: pa.Table) -> pa.Table:
    """Numbers, booleans and texts as they are, everything else as text: what JSON can hold."""
    columns = [whole(column) for column in table.columns]
    return pa.Table.from_arrays([c if _is_plain(c.type) else show(c) for c in columns], table.column_names)


def _is_plain(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string)
    return any(test(kind) for test in tests)
