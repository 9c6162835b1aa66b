"""A table as others read it: lines for people, CSV, lines of JSON, or Parquet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from sanderling.clock import show_time
from sanderling.deliver.render import joined, json_objects, text_of
from sanderling.errors import ConfigError
from sanderling.plans.columns import by_places

FORMS = ("table", "csv", "json", "parquet")
NOTHING = "NULL"


def written(rows: pa.Table, form: str) -> bytes:
    """Promise (tests/ask/test_page.py): each form says the same rows, in the same order."""
    match form:
        case "table":
            return "".join(f"{line}\n" for line in lines_of(rows)).encode()
        case "csv":
            return _csv(rows)
        case "json":
            places = by_places(rows.num_columns)
            shown, named = list(zip(rows.column_names, places, strict=True)), rows.rename_columns(places)
            return bytes(text_of(joined(*json_objects(shown, named), "\n"))) if rows.num_rows else b""
        case "parquet":
            file = io.BytesIO()
            pq.write_table(rows, file)
            return file.getvalue()
    raise ConfigError("config.bad_option", f'no format is called "{form}"', f"there are {', '.join(FORMS)}")


def texts_of(rows: pa.Table) -> list[list[str]]:
    """By column each value as people read it."""
    return [[_shown(value) for value in column.to_pylist()] for column in rows.columns]


def lines_of(rows: pa.Table) -> list[str]:
    """Columns side by side, numbers to the right, and below them how many rows there are."""
    columns = texts_of(rows)
    is_number = [pa.types.is_integer(t) or pa.types.is_floating(t) for t in rows.schema.types]
    widths = [max(map(len, [name, *column])) for name, column in zip(rows.column_names, columns, strict=True)]
    shown = [rows.column_names, ["-" * width for width in widths], *map(list, zip(*columns, strict=True))]
    lines = [_line(cells, widths, is_number) for cells in shown]
    return [*lines, f"({rows.num_rows:,} row{'' if rows.num_rows == 1 else 's'})"]


def _line(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> str:
    parts = zip(cells, widths, is_number, strict=True)
    return "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in parts).rstrip()


def _shown(value: object) -> str:
    match value:
        case None:
            return NOTHING
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.15g}" if float(f"{value:.15g}") == value else repr(value)
        case datetime():
            return show_time(pa.scalar(value, pa.timestamp("us")).value)
    return str(value).replace("\n", "\\n")


def _csv(rows: pa.Table) -> bytes:
    """Times as users see them; an empty field is NULL, as our own reader has it."""
    for at, (name, type_) in enumerate(zip(rows.column_names, rows.schema.types, strict=True)):
        if pa.types.is_timestamp(type_):
            texts = [None if v is None else _shown(v) for v in rows.column(at).to_pylist()]
            rows = rows.set_column(at, name, pa.array(texts, pa.string()))
    file = io.BytesIO()
    pc_csv.write_csv(rows, file, pc_csv.WriteOptions(quoting_style="needed"))
    return file.getvalue()


__all__ = ["FORMS", "lines_of", "texts_of", "written"]
