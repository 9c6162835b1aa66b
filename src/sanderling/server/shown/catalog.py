"""What there is, as lists for clients: streams, tables, regions, queries."""

from __future__ import annotations

import math
from typing import Any

from sanderling.catalog import Column, Stream, Table
from sanderling.clock import show_time
from sanderling.language.grammar.space.lines import unit_in
from sanderling.plan.build.areas import word_of
from sanderling.plan.many.cohorts import Member, Part
from sanderling.plans.plan import ALWAYS
from sanderling.server.hub.channel import Channel
from sanderling.server.shown.columns import columns_of, heading_column, kind_column
from sanderling.server.shown.shapes import focal_value, region_of, shape_of
from sanderling.session.host import Seen

Json = dict[str, Any]


def shown_columns(columns: tuple[Column, ...]) -> list[Json]:
    return [{"name": c.name, "type": c.type.name} for c in columns]


def shown_stream(stream: Stream, closed_to: int | None) -> Json:
    return {
        "name": stream.name, "columns": shown_columns(stream.columns), "key": stream.key, "time": stream.time,
        "x": stream.x, "y": stream.y, "globe": stream.is_globe, "kind": kind_column(stream),
        "heading": heading_column(stream), "tick_seconds": stream.tick_us / 1e6,
        "lateness_seconds": stream.lateness_us / 1e6,
        "closed_to": None if closed_to is None else show_time(closed_to),
        "takes_readings": stream.path is None,
    }  # fmt: skip


def shown_table(table: Table) -> Json:
    return {
        "name": table.name, "columns": shown_columns(table.columns), "key": table.key,
        "rows": table.rows.num_rows, "has_regions": table.region is not None,
    }  # fmt: skip


def shown_regions(seen: Seen) -> Json:
    """A region by its name may be asked for on a plane and on the globe: drawn as most would ask for it."""
    are_globe = bool(seen.streams) and all(stream.is_globe for stream in seen.streams)
    features = [
        {
            "type": "Feature", "geometry": shape_of(coverage, are_globe or unit_in(coverage) is not None),
            "properties": {"name": name, "shape": word_of(coverage), "focal": focal_value(coverage)},
        }
        for name, coverage in seen.regions.items()
    ]  # fmt: skip
    return {"type": "FeatureCollection", "features": features}


def shown_query(member: Member, owner: str | None, channel: Channel | None) -> Json:
    """`channel`, if somebody looks at it."""
    part = member.cohort.parts[0] if member.cohort.parts else None
    is_globe, has_own = member.query.stream.is_globe, part is not None and part.scan.table is None
    own = _asked(part, member.row, is_globe) if part is not None and has_own else {}
    return {
        "name": member.name, "owner": owner, "kind": member.query.kind, "sql": member.sql,
        "stream": member.query.stream.name, "columns": [c.shown() for c in columns_of(member)],
        "region": None, "focal": None, "nearest": None, **own,
        "begun": None if member.begin == ALWAYS else show_time(member.begin),
        "size": None if channel is None else channel.size, "came": None if channel is None else channel.came,
        "went": None if channel is None else channel.went,
    }  # fmt: skip


def _asked(part: Part, row: int, is_globe: bool) -> Json:
    """Where a query looks, and nearest to what."""
    asked = part.asked.of(row)
    numbers = tuple(float(n[0]) for n in asked.areas.numbers)
    region = None
    if all(map(math.isfinite, numbers)) or asked.areas.wkb[0] is not None:
        region = region_of(
            asked.areas.kind, (numbers[0], numbers[1], numbers[2], numbers[3]), asked.areas.wkb[0],
            is_in_metres=is_globe and asked.focals is not None,
        )  # fmt: skip
    focal = None if asked.focals is None else asked.focals[0].as_py()
    nearest: Json | None = None
    if asked.nearest is not None:
        mine, k = asked.nearest, int(asked.nearest.k[0])
        if mine.focals is None:
            nearest = {"k": k, "x": float(mine.x[0]), "y": float(mine.y[0])}
        else:
            nearest = {"k": k, "focal": mine.focals[0].as_py()}
    return {"region": region, "focal": focal, "nearest": nearest}
