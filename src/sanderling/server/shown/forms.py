"""How answers and updates are written: JSON, lines of JSON, Arrow, GeoJSON, CSV. Columns all the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sanderling.clock import show_time
from sanderling.deliver.render import joined, json_objects, text_of
from sanderling.server.hub.rows import Piece
from sanderling.server.shown.columns import ShownColumn, place_columns

JSON, LINES, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
GEOJSON, CSV, EVENTS = "application/geo+json", "text/csv", "text/event-stream"
ANSWER_FORMS, UPDATE_FORMS = (JSON, LINES, ARROW, GEOJSON, CSV), (LINES, EVENTS, ARROW)

FRAME_UPDATES, FRAME_POSITIONS = 1, 2
FLAG_WHOLE, FLAG_MERGED = 1, 2
HEAD_BYTES = 8


def chosen(accept: str | None, offered: Sequence[str]) -> str | None:
    """The form that a client likes best of those offered; None if it likes none."""
    if not accept or not accept.strip():
        return offered[0]
    liked: list[tuple[float, int, str]] = []
    for at, one in enumerate(accept.split(",")):
        name, *parameters = (part.strip().lower() for part in one.split(";"))
        weight = next((_weight(p[2:]) for p in parameters if p.startswith("q=")), 1.0)
        liked.append((-weight, at, name))
    for weight, _, name in sorted(liked):
        found = [form for form in offered if _is_like(form, name)]
        if found and weight < 0:
            return found[0]
    return None


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _is_like(form: str, name: str) -> bool:
    kind, _, sub = name.partition("/")
    return name in (form, "*/*", "*") or (sub == "*" and form.startswith(f"{kind}/"))


# ----- rows


def named(rows: pa.Table, columns: Sequence[ShownColumn], is_signed: bool) -> pa.Table:
    """Rows by place, under their names."""
    first = ["tick", "sign"] if is_signed else []
    return rows.select([*first, *rows.column_names[2:]]).rename_columns([*first, *(c.name for c in columns)])


def objects(rows: pa.Table, columns: Sequence[ShownColumn]) -> list[pa.Array | str]:
    """Of each row its columns as a JSON object, to be joined."""
    fields = [(c.name, place) for c, place in zip(columns, rows.column_names[2:], strict=True)]
    return json_objects(fields, rows)


def arrow(table: pa.Table, metadata: dict[str, str] | None = None) -> bytes:
    """A whole IPC stream with one batch."""
    if metadata:
        table = table.replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        batches = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def lines_of_updates(rows: pa.Table, columns: Sequence[ShownColumn]) -> bytes:
    """One JSON object an update, as the files of a run have them."""
    if not rows.num_rows:
        return b""
    ticks = rows.column("tick").cast(pa.int64()).combine_chunks().dictionary_encode()
    moments = pa.array([show_time(t) for t in ticks.dictionary.to_pylist()], pa.string()).take(ticks.indices)
    sign = pc.if_else(pc.greater(rows.column("sign"), 0), '", "sign": 1, "row": ', '", "sign": -1, "row": ')
    lines = joined('{"tick": "', moments, sign.combine_chunks(), *objects(rows, columns), "}\n")
    return bytes(text_of(lines))


def lines_of_answer(rows: pa.Table, columns: Sequence[ShownColumn]) -> bytes:
    return bytes(text_of(joined(*objects(rows, columns), "\n"))) if rows.num_rows else b""


# ----- answers


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of a query as at a tick."""

    rows: pa.Table  # by place
    columns: tuple[ShownColumn, ...]
    tick: str | None

    def written(self, form: str) -> bytes:
        match form:
            case "application/x-ndjson":
                return lines_of_answer(self.rows, self.columns)
            case "application/vnd.apache.arrow.stream":
                return arrow(named(self.rows, self.columns, is_signed=False))
            case "text/csv":
                return self._csv()
            case "application/geo+json":
                return self._geojson()
        lines = lines_of_answer(self.rows, self.columns).rstrip(b"\n").replace(b"\n", b",\n")
        head = json.dumps({"tick": self.tick, "columns": [c.shown() for c in self.columns]})
        return head[:-1].encode() + b', "rows": [' + lines + b"]}\n"

    def _csv(self) -> bytes:
        sink = pa.BufferOutputStream()
        pyarrow.csv.write_csv(named(self.rows, self.columns, is_signed=False), sink)
        return bytes(sink.getvalue())

    def _geojson(self) -> bytes:
        """A feature a row; without a place its geometry is null."""
        place = place_columns(self.columns)
        rows = self.rows
        head = (
            json.dumps({"type": "FeatureCollection", "timeStamp": self.tick})[:-1].encode()
            + b', "features": ['
        )
        if not rows.num_rows:
            return head + b"]}\n"
        geometry = "null" if place is None else points(rows, place)
        features = joined(
            '{"type": "Feature", "geometry": ',
            geometry,
            ', "properties": ',
            *objects(rows, self.columns),
            "},\n",
        )
        return head + bytes(text_of(features)).rstrip(b",\n") + b"]}\n"


def points(rows: pa.Table, place: tuple[int, int]) -> pa.Array:
    """Of each row its place, as GeoJSON; null where it has none."""
    x, y = (rows.column(2 + at).cast(pa.float64()).cast(pa.string()).combine_chunks() for at in place)
    return joined('{"type": "Point", "coordinates": [', x, ", ", y, "]}").fill_null("null")


# ----- updates


def frame(channel: int, kind: int, flags: int, body: bytes) -> bytes:
    """Eight bytes, then Arrow: the buffers inside stay aligned."""
    head = channel.to_bytes(4, "little") + bytes([kind, flags, 0, 0])
    return head + body


def flags_of(piece: Piece) -> int:
    return FLAG_WHOLE * piece.is_whole | FLAG_MERGED * (piece.merged is not None)


def encoded(piece: Piece, form: str, columns: Sequence[ShownColumn]) -> bytes:
    """Once for all clients."""
    if form not in piece.encoded:
        is_arrow = form == ARROW
        piece.encoded[form] = (
            arrow(named(piece.rows, columns, is_signed=True))
            if is_arrow
            else lines_of_updates(piece.rows, columns)
        )
    return piece.encoded[form]
