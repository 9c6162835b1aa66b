"""Rows as the text of a file: CSV, GeoJSON, lines of answers. Parquet needs no words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from sanderling import relational
from sanderling.catalog import Stream
from sanderling.clock import show_time
from sanderling.deliver.order import sort_order
from sanderling.deliver.render import flat, joined, json_objects, time_text
from sanderling.deliver.sheet import Rows, Sheet, ranks_of
from sanderling.plans.columns import by_place, by_places, of_reading
from sanderling.plans.plan import Plan, Template

Pieces = list[pa.Array | str]


# ----- CSV


def csv_head(names: Iterable[str]) -> str:
    return ",".join(_csv_text(name) for name in names) + "\n"


def _csv_text(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if not text or set(text) & set('",\r\n') else text


def csv_lines(sheet: pa.Table) -> pa.Array:
    """A line a row. Times are ISO 8601 in UTC; what is NULL, or not finite, is empty; an empty text is ""."""
    columns = [c.cast(pa.timestamp("us")) if pa.types.is_timestamp(c.type) else c for c in sheet.columns]
    rows = pa.table(columns, names=by_places(sheet.num_columns))
    fields = ", ".join(_csv_value(field.name, field.type) for field in rows.schema)
    lines = relational.run(f"SELECT concat_ws(',', {fields}) || chr(10) AS line FROM rows", rows=rows)
    return flat(lines.column("line"))


def _csv_value(column: str, type_: pa.DataType) -> str:
    """DuckDB SQL for a field, as `_csv_text` writes it."""
    if pa.types.is_timestamp(type_):
        return f"coalesce({time_text(column)}, '')"
    if pa.types.is_floating(type_):
        return f"CASE WHEN isfinite({column}) THEN {column}::VARCHAR ELSE '' END"
    if pa.types.is_string(type_):
        is_plain = rf"regexp_full_match({column}, '[^\",\r\n]+')"
        doubled = f"""'"' || replace({column}, '"', '""') || '"'"""
        return f"CASE WHEN {column} IS NULL THEN '' WHEN {is_plain} THEN {column} ELSE {doubled} END"
    return f"coalesce({column}::VARCHAR, '')"


# ----- JSON: an answer's row a line, or a feature


def answer_lines(plan: Plan, rows: Rows) -> pa.ChunkedArray:
    """`{"query": "in_depot", "row": {"id": "anna"}}`, in order of query, then of row."""
    names = _json_names(plan)

    def written(template: Template, table: pa.Table) -> pa.Array:
        query = names.take(flat(table.column("query")))
        return joined('{"query": ', query, ', "row": ', *_object(template, table), "}\n")

    return _in_order(plan, rows, written)


def feature_lines(sheet: Sheet, rows: Rows) -> pa.ChunkedArray:
    """A feature a row, each with a comma: at its place, where the row shows one; all else are properties."""
    plan, (query, *others) = sheet.plan, sheet.ours
    names = _json_names(plan)

    def written(template: Template, table: pa.Table) -> pa.Array:
        said: Pieces = [f'{{"{query}": ', names.take(flat(table.column("query")))]
        if others:
            tick, sign = others
            said += [f', "{tick}": "', _moments(table), f'", "{sign}": ', _text(table, "sign")]
        opening, *own = _object(template, table)
        point = _points(table, place_of(plan, template))
        head: Pieces = ['{"type": "Feature", "geometry": ', point, ', "properties": ']
        return joined(*head, *said, ", " + str(opening).removeprefix("{"), *own, "},\n")

    return _in_order(plan, rows, written)


def place_of(plan: Plan, template: Template) -> tuple[str, str] | None:
    """The columns of a query's rows that are x and y: of a plain one by what they show, else by name."""
    trees = {tree.template.id: tree.streams for tree in plan.trees}
    wanted = trees.get(template.id, (template.stream,))
    for stream in (s.stream for s in plan.streams if s.stream.name in wanted):
        at = [_shows(template, stream, name, template.id not in trees) for name in (stream.x, stream.y)]
        if at[0] is not None and at[1] is not None:
            return at[0], at[1]
    return None


def _shows(template: Template, stream: Stream, name: str, is_scan: bool) -> str | None:
    for place, output in enumerate(template.outputs):
        expression = output.expression
        is_it = expression.is_plain and expression.column == of_reading(name)
        if is_it if is_scan else output.name.casefold() == name.casefold():
            return by_place(place)
    return None


def _points(rows: pa.Table, place: tuple[str, str] | None) -> pa.Array | str:
    """GeoJSON; null where a row has no place."""
    if place is None:
        return "null"
    x, y = (flat(rows.column(at).cast(pa.float64()).cast(pa.string())) for at in place)
    return joined('{"type": "Point", "coordinates": [', x, ", ", y, "]}").fill_null("null")


def _object(template: Template, rows: pa.Table) -> Pieces:
    """Of each row its columns as a JSON object, in pieces."""
    return json_objects([(o.name, by_place(i)) for i, o in enumerate(template.outputs)], rows)


def _json_names(plan: Plan) -> pa.Array:
    names = plan.queries.names.to_pylist()
    return pa.array([json.dumps(name, ensure_ascii=False) for name in names], pa.string())


def _moments(rows: pa.Table) -> pa.Array:
    ticks = flat(rows.column("tick")).dictionary_encode()
    return pa.array([show_time(t) for t in ticks.dictionary.to_pylist()], pa.string()).take(ticks.indices)


def _text(rows: pa.Table, name: str) -> pa.Array:
    return flat(rows.column(name).cast(pa.string()))


def _in_order(plan: Plan, rows: Rows, written: Callable[[Template, pa.Table], pa.Array]) -> pa.ChunkedArray:
    """What is written of the rows of all queries, in order of tick, then query, then sign, then row."""
    templates, ranks = plan.templates(), ranks_of(plan)
    lines, ticks, ranked = [], [], []
    for number, table in rows.items():
        if not table.num_rows:
            continue
        template = templates[number]
        rank = ranks.take(flat(table.column("query")))
        own = [table.column(name) for name in by_places(len(template.outputs))]
        order = sort_order([table.column("tick"), pa.chunked_array([rank]), table.column("sign"), *own])
        table = table.take(pa.array(order))
        lines.append(written(template, table))
        ticks.append(table.column("tick").to_numpy())
        ranked.append(np.asarray(rank)[order])
    if not lines:
        return pa.chunked_array([], pa.string())
    at_last = np.lexsort((np.concatenate(ranked), np.concatenate(ticks)))
    return pa.chunked_array(lines).take(pa.array(at_last))
