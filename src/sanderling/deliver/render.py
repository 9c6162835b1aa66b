"""Columns to lines of JSON, all at once; the bytes of the column are the bytes of the file."""

from __future__ import annotations

import json

import pyarrow as pa

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


def json_object(fields: list[tuple[str, str]]) -> str:
    """DuckDB SQL for an object of names and SQL that gives JSON text."""
    parts = []
    for i, (name, sql) in enumerate(fields):
        opening = ("{" if i == 0 else ", ") + _json_string(name) + ": "
        parts += [_sql_string(opening), sql]
    return " || ".join([*parts, "'}'"])


def text_of(lines: pa.ChunkedArray) -> list[memoryview]:
    """The text of lines that end in newlines, without a copy of any of them."""
    texts = []
    for chunk in lines.chunks:
        if len(chunk):
            # Where they are large strings, offsets have 8 bytes.
            chunk = chunk.cast(pa.large_string())
            _, offsets, data = chunk.buffers()
            bounds = memoryview(offsets).cast("q")
            texts.append(memoryview(data)[bounds[chunk.offset] : bounds[chunk.offset + len(chunk)]])
    return texts


def rendered(sql: str, rows: pa.Table) -> pa.Table:
    return relational.run(sql, rows=rows)


def _json_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _sql_string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
