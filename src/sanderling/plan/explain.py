"""EXPLAIN: the plan of one query as a tree, with what it shares and where each part runs."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from sanderling.clock import show_duration
from sanderling.plan.listing import Listing
from sanderling.plan.plans import (
    ALWAYS,
    BOX,
    DISC,
    EVERYWHERE,
    NEVER,
    PER_KEY,
    POLYGON,
    ROWS,
    TIME,
    OutputColumn,
    Plan,
    StreamPlan,
    Template,
    Window,
)

SHAPES = {BOX: "rectangle", DISC: "circle", POLYGON: "polygon", EVERYWHERE: "everywhere"}


def explain_query(plan: Plan, name: str) -> Listing:
    """A tree from the subscriber down to the stream; read it from the bottom up."""
    names = pc.equal(plan.queries.names, name).to_numpy(zero_copy_only=False)
    query = plan.queries[int(np.flatnonzero(names)[-1])]
    template = plan.templates()[query.template]
    is_there = plan.queries.end != ALWAYS
    sharing = int((is_there & (plan.queries.template == query.template)).sum())
    stream_plan = next(s for s in plan.streams if s.stream.name == query.stream)
    stream, regions = stream_plan.stream, stream_plan.regions
    mine = regions.query == query.id
    of_table = bool((regions.row[mine] >= 0).all())
    count = int((mine & (regions.gone == NEVER)).sum())
    shape = SHAPES[POLYGON if of_table else int(regions.kind[mine][0])]
    motion = "moving " if not of_table and regions.focal[mine][0] >= 0 else ""
    what = f"{count} region{'' if count == 1 else 's'} of a table" if of_table else f"{motion}{shape}"
    where = [f"   ├─ where {template.where_words}"] if template.where else []
    merge, search = "nothing to do, each shard finishes its own rows", ""
    if template.is_nearest:
        nearest = stream_plan.nearest
        asked = int(np.flatnonzero(nearest.region == np.flatnonzero(mine)[0])[0])
        k, to = int(nearest.k[asked]), "a focal object" if nearest.focal[asked] >= 0 else "a place"
        merge = f"the {k} nearest over all shards"
        among = "" if shape == SHAPES[EVERYWHERE] else f" inside {motion}{shape}"
        search = (
            f"knn: {k} nearest to {to}{among}, one search for all {len(nearest)} kNN queries of {stream.name}"
        )
    elif template.is_of_last and template.window is not None:
        merge = f"the last {template.window.size} readings over all shards"
    elif not template.is_keyed:
        merge = "equal rows cancel"
    join = (
        search
        or f"inside: {what}, one grid join for all {_alike(stream_plan, template)} regions of {stream.name}"
    )
    lines = [
        "deliver: signed rows in order of tick",
        f"└─ merge: {merge}",
        f"   ├─ select {', '.join(map(_item, template.outputs))}   [shard]",
        *[f"{line}   [shard]" for line in where],
        f"   ├─ {join}   [shard]",
        f"   │    template {template.id}, shared by {sharing} {'query' if sharing == 1 else 'queries'}",
        f"   └─ {_readings(template)} of {stream.name}: tick {show_duration(stream.tick_us)}, "
        f"lateness {show_duration(stream.lateness_us)}   [shard]",
    ]
    return Listing(f"plan of {name}", ("plan",), tuple((line,) for line in lines))


def _alike(plan: StreamPlan, template: Template) -> int:
    """Regions that are asked for by themselves: of NOW, or of windows, which share one history."""
    is_there = plan.regions.gone == NEVER
    windowed = int((plan.is_windowed & is_there).sum())
    return windowed if template.window is not None else int(is_there.sum()) - len(plan.nearest) - windowed


def _readings(template: Template) -> str:
    """Which readings are looked at."""
    window = template.window
    if window is None:
        return "last readings"
    sizes = {
        TIME: show_duration(window.size),
        ROWS: f"{window.size} rows",
        PER_KEY: f"{window.size} rows per key",
    }
    return f"window of readings, {sizes.get(window.kind) or _until(window)},"


def _until(window: Window) -> str:
    return "until next" if window.until is None else f"until {window.words}"


def _item(output: OutputColumn) -> str:
    """An item of the select list as its author wrote it, with its name where that is another."""
    return (
        output.words
        if output.name in (output.words, output.words.rsplit(".", 1)[-1])
        else f"{output.words} AS {output.name}"
    )
