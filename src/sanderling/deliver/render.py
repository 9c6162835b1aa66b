"""Columns to lines of JSON, all at once; the bytes of the column are the bytes of the file."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from sanderling import relational


def json_value(column: str, type_: pa.DataType) -> str:
    """DuckDB SQL that gives a column's values as JSON text."""
    if pa.types.is_timestamp(type_):
        text = time_text(column)
        return f"""coalesce('"' || {text} || '"', 'null')"""
    if pa.types.is_date(type_):
        return f"""coalesce('"' || strftime({column}, '%Y-%m-%d') || '"', 'null')"""
    if pa.types.is_floating(type_):
        # JSON has no NaN and no infinity.
        return f"CASE WHEN isfinite({column}) THEN to_json({column})::VARCHAR ELSE 'null' END"
    return f"coalesce(to_json({column})::VARCHAR, 'null')"


def time_text(timestamp: str) -> str:
    """DuckDB SQL for a timestamp as users see it: a fraction only where there is one."""
    seconds, fraction = (f"strftime({timestamp}, '{form}')" for form in ("%Y-%m-%dT%H:%M:%S", ".%f"))
    is_whole = f"microsecond({timestamp}) % 1000000 = 0"
    return f"({seconds} || CASE WHEN {is_whole} THEN '' ELSE {fraction} END || 'Z')"


def json_objects(fields: list[tuple[str, str]], rows: pa.Table) -> list[pa.Array | str]:
    """Pieces that make an object a row, to be `joined`; `fields` are names and the columns they show."""
    # Whole numbers need no more than their digits; whatever else JSON asks of a value, DuckDB knows.
    known = {c: _digits(rows.column(c)) for _, c in fields if pa.types.is_integer(rows.schema.field(c).type)}
    others = [c for _, c in fields if c not in known]
    if others:
        items = ", ".join(json_value(c, rows.schema.field(c).type) for c in others)
        known |= dict(
            zip(others, relational.run(f"SELECT {items} FROM rows", rows=rows).columns, strict=True)
        )
    pieces: list[pa.Array | str] = []
    for i, (name, column) in enumerate(fields):
        pieces += [("{" if i == 0 else ", ") + _json_string(name) + ": ", flat(known[column])]
    return [*pieces, "}"]


def _digits(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(pa.string()).fill_null("null")


def flat(texts: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], texts.type)


def joined(*pieces: pa.Array | str) -> pa.Array:
    """Texts side by side, row by row."""
    return pc.binary_join_element_wise(*pieces, "")


def text_of(lines: pa.Array) -> memoryview:
    """The text of lines that end in newlines, without a copy of any of them."""
    if not len(lines):
        return memoryview(b"")
    # Large strings have offsets of 8 bytes.
    lines = lines.cast(pa.large_string())
    _, offsets, data = lines.buffers()
    bounds = memoryview(offsets).cast("q")
    return memoryview(data)[bounds[lines.offset] : bounds[lines.offset + len(lines)]]


def _json_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
