"""The columns of a file that nobody has declared, by what stands in it.

first rows ──► names, texts ──► whole numbers, numbers, times, true and false; else texts
Parquet ─────► its own types
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sanderling.batches import Slice
from sanderling.catalog import Column, Written
from sanderling.errors import ConfigError
from sanderling.ingest.files import find_files, unpack
from sanderling.ingest.formats.header import csv_header, parquet_header
from sanderling.ingest.read import read_rows
from sanderling.ingest.slices import Slicer
from sanderling.ingest.types.convert import convert
from sanderling.types import TYPES, SqlType

# Of a stream so much is looked at; a table is read whole anyway.
SAMPLE_BYTES, WHOLE_BYTES = 4 << 20, 1 << 30
SAMPLE_ROWS = 100_000
# 007 is a name, and not the number 7.
INTEGER, LEADING_ZERO = r"\A-?(?:0|[1-9][0-9]{0,17})\z", r"\A[+-]?0[0-9]"
WORDS = pa.array(["true", "false"])
STRING, DOUBLE, TIMESTAMP = TYPES["STRING"], TYPES["DOUBLE"], TYPES["TIMESTAMP"]
RESERVED, INTERNAL = ("location", "region"), "__"

ARROW_TYPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("BOOLEAN", ("is_boolean",)), ("TINYINT", ("is_int8",)), ("SMALLINT", ("is_int16", "is_uint8")),
    ("INT", ("is_int32", "is_uint16")), ("BIGINT", ("is_integer",)), ("FLOAT", ("is_float32", "is_float16")),
    ("DOUBLE", ("is_floating", "is_decimal")), ("TIMESTAMP", ("is_timestamp",)), ("DATE", ("is_date",)),
    ("STRING", ("is_string", "is_large_string", "is_string_view")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Roles:
    """What columns are for, by their names in small letters: it says more of types than a few rows do."""

    key: str | None = None
    time: str | None = None
    place: tuple[str, ...] = ()
    gone: str | None = None

    def of(self, column: Column) -> Column:
        """A place is no whole number by chance, a key is counted and not measured."""
        name, type_ = column.name.casefold(), column.type
        if name in self.place:
            return replace(column, type=DOUBLE)
        if name == self.gone:
            return replace(column, type=TYPES["BOOLEAN"])
        if name == self.time and type_.name in ("STRING", "BOOLEAN"):
            return replace(column, type=TIMESTAMP)  # its letters then say what cannot be read
        if name == self.key and not type_.is_integer:
            return replace(column, type=STRING)
        return column


def inferred_columns(
    path: str, format: str, written: Written, roles: Roles, folder_for_unpacking: Path, data: Path | None,
    is_whole: bool = False,
) -> tuple[Column, ...]:  # fmt: skip
    """Those that can be columns; others, such as lists, are left out.

    Promise (tests/ingest/test_infer.py): what was looked at fits the types, but for columns with a role.
    """
    files = unpack(find_files(path, data), folder_for_unpacking)
    if format == "parquet":
        parquet_header(files[0])  # says what is wrong with it
        found = [Column(f.name, t) for f in pq.read_schema(files[0].path) if (t := type_in_arrow(f.type))]
    else:
        slicer = Slicer(files, format, WHOLE_BYTES if is_whole else SAMPLE_BYTES, SAMPLE_ROWS)
        step = slicer.next(slicer.first())
        if step is None:
            raise ConfigError(
                "config.empty_file", f'"{path}" has no rows to tell columns from', "declare the columns"
            )
        found = _of_text(format, step[0], written)
    usable = [
        c for c in found if c.name and c.name.casefold() not in RESERVED and not c.name.startswith(INTERNAL)
    ]
    return tuple(roles.of(column) for column in usable)


def type_in_arrow(type_: pa.DataType) -> SqlType | None:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return next(
        (TYPES[name] for name, tests in ARROW_TYPES if any(getattr(pa.types, t)(type_) for t in tests)), None
    )


def _of_text(format: str, piece: Slice, written: Written) -> list[Column]:
    names, texts_only = (
        (csv_header(piece.path, written.delimiter), set[str]()) if format == "csv" else _members(piece)
    )
    # Of two by one name nobody could say which is meant.
    asked = tuple(Column(name, STRING) for name, n in Counter(names).items() if name and n == 1)
    rows = read_rows(asked, format, piece, written)
    return [
        Column(c.name, _type_of(values, written.time_format, c.name in texts_only))
        for c, values in zip(asked, rows.columns, strict=True)
    ]


def _members(piece: Slice) -> tuple[Sequence[str], set[str]]:
    """Of JSON objects, in order of appearance; and those that are always texts, whatever they look like."""
    kinds: dict[str, set[type]] = {}
    with open(piece.path, "rb") as file:
        file.seek(piece.start)
        for line in file.read(piece.stop - piece.start).splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue
            for name, value in said.items() if isinstance(said, dict) else ():
                kinds.setdefault(name, set()).update(() if value is None else (type(value),))
    plain = [name for name, found in kinds.items() if not found & {dict, list}]
    return plain, {name for name in plain if kinds[name] == {str}}


def _type_of(texts: pa.Array, time_format: str | None, is_text: bool) -> SqlType:
    """The narrowest that all of them fit; nothing at all is a text."""
    texts = texts.drop_null().cast(pa.string())
    if not len(texts):
        return STRING
    times = [TIMESTAMP] if time_format else [TYPES["DATE"], TIMESTAMP]
    if not is_text:
        if _all(pc.is_in(pc.ascii_lower(texts), WORDS)):
            return TYPES["BOOLEAN"]
        if _all(pc.match_substring_regex(texts, INTEGER)):
            return TYPES["BIGINT"]
        has_zeros = pc.any(pc.match_substring_regex(texts, LEADING_ZERO)).as_py()
        if not has_zeros and not convert(texts, DOUBLE).bad().any():
            return DOUBLE
    return next((t for t in times if not convert(texts, t, time_format).bad().any()), STRING)


def _all(answers: pa.Array) -> bool:
    return bool(np.asarray(answers).all())
