"""Checked queries to a plan: templates get numbers, constants become columns, regions one table a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import shapely

from sanderling.catalog import Stream
from sanderling.language.statements import (
    CircleShape,
    MovingCircleShape,
    MovingRectShape,
    PolygonShape,
    RectShape,
)
from sanderling.plan.plans import (
    BOX,
    DISC,
    EVERYWHERE,
    POLYGON,
    Plan,
    PlannedQuery,
    Regions,
    StreamPlan,
    Template,
)
from sanderling.plan.relations import Shape
from sanderling.plan.selects import Draft

if TYPE_CHECKING:
    from sanderling.plan.planner import Registered

# kind, a, b, c, d, wkb
Row = tuple[int, float, float, float, float, bytes | None]


def build_plan(streams: Sequence[Stream], registered: Sequence[Registered]) -> Plan:
    """The plan for the given streams and queries; queries are numbered in order of name."""
    ordered = sorted(registered, key=lambda q: (q.name.encode(), q.begin))
    templates: dict[object, Template] = {}
    queries = []
    for number, query in enumerate(ordered):
        template = _template(query.draft, templates)
        queries.append(
            PlannedQuery(
                number, query.name, query.draft.stream.name, template.id, query.begin, query.end, query.sql
            )
        )
    plans = [_stream_plan(stream, ordered, queries, templates) for stream in streams]
    return Plan(tuple(plans), tuple(queries))


def _template(draft: Draft, templates: dict[object, Template]) -> Template:
    key = draft.template_key
    if key not in templates:
        columns = [pa.field(c.name, c.type.arrow) for c in draft.constants]
        if draft.table is not None:
            columns += [pa.field(f"q:{c.name}", c.type.arrow) for c in draft.table.columns]
        templates[key] = Template(
            len(templates), draft.stream.name, draft.where, draft.where_reads, draft.outputs,
            pa.schema(columns), draft.is_keyed, draft.where_words,
        )  # fmt: skip
    return templates[key]


def _stream_plan(
    stream: Stream,
    registered: list[Registered],
    queries: list[PlannedQuery],
    templates: dict[object, Template],
) -> StreamPlan:
    mine = [(r, q) for r, q in zip(registered, queries, strict=True) if r.draft.stream is stream]
    own = [t for t in templates.values() if t.stream == stream.name]
    named = dict.fromkeys(_focal(r.draft.shape) for r, _ in mine)
    named.pop(None, None)
    focals = {key: number for number, key in enumerate(named)}
    pieces: dict[int, list[pa.Table]] = {t.id: [] for t in own}
    counts = dict.fromkeys(pieces, 0)
    columns: dict[str, list[object]] = {n: [] for n in ("query", "template", "row", "focal", "begin", "end")}
    shapes: list[Row] = []
    for r, q in mine:
        own_shapes = _shapes(r.draft)
        n = len(own_shapes)
        pieces[q.template].append(_constants(r.draft, n, templates))
        columns["query"] += [q.id] * n
        columns["template"] += [q.template] * n
        columns["row"] += range(counts[q.template], counts[q.template] + n)
        columns["focal"] += [focals.get(_focal(r.draft.shape), -1)] * n
        columns["begin"] += [q.begin] * n
        columns["end"] += [q.end] * n
        shapes += own_shapes
        counts[q.template] += n
    regions = _regions(columns, shapes)
    key = stream.column(stream.key)
    assert key is not None
    constants = tuple(pa.concat_tables(pieces[t.id]).combine_chunks() for t in own)
    return StreamPlan(
        stream, _kept(stream, own), tuple(own), constants, regions, pa.array(list(focals), key.type.arrow)
    )


def _regions(columns: dict[str, list[object]], shapes: list[Row]) -> Regions:
    numbers = np.array([s[:5] for s in shapes], dtype=np.float64).reshape(len(shapes), 5)
    a, b, c, d = (np.ascontiguousarray(numbers[:, i]) for i in range(1, 5))
    return Regions(
        query=np.array(columns["query"], np.int32),
        template=np.array(columns["template"], np.int32),
        row_in_template=np.array(columns["row"], np.int64),
        kind=numbers[:, 0].astype(np.int8),
        a=a, b=b, c=c, d=d,
        focal=np.array(columns["focal"], np.int64),
        begin=np.array(columns["begin"], np.int64),
        end=np.array(columns["end"], np.int64),
        wkb=tuple(s[5] for s in shapes),
    )  # fmt: skip


def _kept(stream: Stream, templates: list[Template]) -> tuple[str, ...]:
    """Columns that some query reads, beside key, place and gone, which every shard holds anyway."""
    reads = {r[2:] for t in templates for o in t.outputs for r in o.reads if r.startswith("r:")}
    reads |= {r[2:] for t in templates for r in t.where_reads if r.startswith("r:")}
    fixed = {stream.key, stream.x, stream.y, stream.gone}
    return tuple(c.name for c in stream.columns if c.name in reads and c.name not in fixed)


def _focal(shape: Shape) -> object | None:
    return shape.focal.value if isinstance(shape, (MovingRectShape, MovingCircleShape)) else None


def _constants(draft: Draft, n: int, templates: dict[object, Template]) -> pa.Table:
    schema = templates[draft.template_key].constants
    arrays = [pa.array([c.value] * n, c.type.arrow) for c in draft.constants]
    if draft.table is not None:
        arrays += [draft.table.rows.column(c.name).combine_chunks() for c in draft.table.columns]
    if not arrays:
        # A table without columns has no rows either: a place-holder keeps the count.
        return pa.table({"none": pa.nulls(n)})
    return pa.Table.from_arrays(arrays, schema=schema)


def _shapes(draft: Draft) -> list[Row]:
    if draft.table is not None and draft.table.region is not None:
        wkbs = draft.table.rows.column(draft.table.region).to_pylist()
        return [_polygon(wkb) for wkb in wkbs]
    return [_shape(draft.shape)]


def _shape(shape: Shape) -> Row:
    match shape:
        case RectShape(x1, y1, x2, y2):
            return (BOX, min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), None)
        case CircleShape(x, y, radius):
            return (DISC, x, y, radius, 0.0, None)
        case MovingRectShape(_, xdist, ydist):
            return (BOX, xdist, ydist, 0.0, 0.0, None)
        case MovingCircleShape(_, radius):
            return (DISC, radius, 0.0, 0.0, 0.0, None)
        case PolygonShape(wkb):
            return _polygon(wkb)
    return (EVERYWHERE, 0.0, 0.0, 0.0, 0.0, None)


def _polygon(wkb: bytes) -> Row:
    x1, y1, x2, y2 = shapely.bounds(shapely.from_wkb(wkb))
    return (POLYGON, float(x1), float(y1), float(x2), float(y2), wkb)
