"""Where the declared columns stand in a file, known before anything runs."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.catalog import Column, Stream
from sanderling.errors import ConfigError, did_you_mean
from sanderling.ingest.files import SourceFile
from sanderling.ingest.formats.names import shown_names

LONGEST_HEADER = 16 << 20


def check_header(stream: Stream, files: Sequence[SourceFile]) -> None:
    """Every declared column is in every file; JSON lines have no header to check."""
    check_columns(stream.columns, stream.format, files, stream.written.delimiter)


def check_columns(
    columns: Sequence[Column], format: str, files: Sequence[SourceFile], delimiter: str = ","
) -> None:
    if format == "csv":
        headers = [(file, csv_header(file.path, delimiter)) for file in files]
        filled = [(file, names) for file, names in headers if names]
        if not filled:
            raise ConfigError(
                "config.empty_file",
                f'"{files[0].name}" is empty' if len(files) == 1 else "all files are empty",
                "a csv begins with a line of column names",
            )
        for file, names in filled:
            find_columns(columns, names, file.name)
    elif format == "parquet":
        for file in files:
            find_columns(columns, parquet_header(file), file.name)


def find_columns(columns: Sequence[Column], names: Sequence[str], file: str) -> tuple[int, ...]:
    """The position of each column among `names`."""
    return tuple(_find(column.name, names, file) for column in columns)


def _find(column: str, names: Sequence[str], file: str) -> int:
    exact = [i for i, name in enumerate(names) if name == column]
    found = exact or [i for i, name in enumerate(names) if name.casefold() == column.casefold()]
    if not found:
        raise ConfigError(
            "config.missing_column", f'"{file}" has no column "{column}"', _missing_hint(column, names)
        )
    if len(found) > 1:
        raise ConfigError(
            "config.ambiguous_column",
            f'"{file}" has {len(found)} columns named "{column}"',
            "give each column a name of its own",
        )
    return found[0]


def _missing_hint(column: str, names: Sequence[str]) -> str:
    mark = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if mark is not None:
        return f"delimiter = '{'tab' if mark == chr(9) else mark}' reads columns that are separated so"
    return did_you_mean(column, shown_names(names))


def csv_header(path: str, delimiter: str = ",") -> tuple[str, ...]:
    """The names in a csv's first line; none when the file is empty."""
    status = os.stat(path)
    return _csv_header(path, delimiter, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=256)
def _csv_header(path: str, delimiter: str, size: int, mtime_ns: int) -> tuple[str, ...]:
    line = first_line(path)
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigError("config.not_utf8", f'"{path}" is in UTF-16', "save it as UTF-8")
    text = line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    if not text:
        return ()
    try:
        return tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter)) or [""])
    except csv.Error as error:
        raise ConfigError("config.broken_header", f'the first line of "{path}" is broken: {error}') from error


def first_line(path: str) -> bytes:
    """The first line with its end; empty when the file is."""
    with open(path, "rb") as file:
        line = file.readline(LONGEST_HEADER)
    if len(line) == LONGEST_HEADER:
        raise ConfigError(
            "config.broken_header",
            f'the first line of "{path}" is longer than {LONGEST_HEADER >> 20} MiB',
            "a csv begins with a line of column names",
        )
    return line


def parquet_header(file: SourceFile) -> tuple[str, ...]:
    try:
        return tuple(pq.read_schema(file.path).names)
    except (pa.ArrowInvalid, OSError) as error:
        raise ConfigError("config.broken_parquet", f'"{file.name}" is not a parquet file: {error}') from error
