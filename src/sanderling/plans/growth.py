"""How one version of a plan becomes the next: what came, what went, what is to end.

Costs copies of columns, never a look at what an unchanged query says. Whoever holds a plan can be
sent its growth alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools
from sanderling.plans.plan import (
    ALWAYS,
    NO_QUERIES,
    Nearest,
    Plan,
    PlannedQueries,
    PlannedTable,
    PlannedTree,
    Regions,
    Replaced,
    StreamPlan,
    row_in,
)
from sanderling.plans.tables import with_changes


@dataclass(frozen=True, slots=True)
class Growth:
    """From one version to the next. Numbers of queries and templates are never given again."""

    version: int
    first: int  # the number of the first query that is new
    added: Plan  # the new queries alone, numbered from 0; templates have their numbers
    dropped: I64  # queries that are no more
    ended: I64  # queries that got an end,
    end: I64  # and the tick it is at
    spent: frozenset[int]  # templates that no query has any more
    more: tuple[StreamPlan, ...] = ()  # rows that came to tables, as regions of queries that were there
    gone: tuple[Gone, ...] = ()  # and rows that went
    tables: tuple[PlannedTable, ...] = ()  # what changed in tables that the merge stage reads
    replaced: tuple[Replacement, ...] = ()  # queries that were there


@dataclass(frozen=True, slots=True)
class Replacement:
    """A query that goes on as another; what is new of its regions stands in `more` and `gone`."""

    replaced: Replaced
    sql: str
    streams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """Regions of a stream, by their place in the plan before, and from which tick on their rows are gone."""

    stream: str
    region: I64
    tick: I64


def grown(plan: Plan, growth: Growth) -> Plan:
    """The next version. A stream that nothing happened to keeps its part of the plan as it is."""
    added = {s.stream.name: s for s in growth.added.streams}
    more, gone = ({s.stream.name: s for s in growth.more}, {g.stream: g for g in growth.gone})
    streams = [
        _grown_stream(
            old, added[old.stream.name], more.get(old.stream.name), gone.get(old.stream.name), growth
        )
        for old in plan.streams
    ]
    tables = with_changes(plan.tables, growth.tables)
    trees = _grown_trees(plan.trees, growth)
    return Plan(tuple(streams), _grown_queries(plan.queries, growth), growth.version, tables, trees)


def _grown_trees(old: tuple[PlannedTree, ...], growth: Growth) -> tuple[PlannedTree, ...]:
    trees: dict[int, PlannedTree] = {}
    for tree in (t for t in old if t.template.id not in growth.spent):
        is_left = ~np.isin(tree.queries, growth.dropped)
        if not is_left.all():
            kept = tree.constants.filter(pa.array(is_left)).combine_chunks()
            left = tuple(r for r in tree.replaced if r.query not in growth.dropped)
            tree = replace(tree, queries=tree.queries[is_left], constants=kept, replaced=left)
        trees[tree.template.id] = tree
    for one in growth.replaced:
        for number, tree in trees.items():
            if one.replaced.query in tree.queries:
                trees[number] = replace(tree, replaced=(*tree.replaced, one.replaced))
    for new in growth.added.trees:
        came = replace(new, queries=new.queries + growth.first)
        known = trees.get(new.template.id)
        if known is not None:
            constants = pa.concat_tables([known.constants, came.constants]).combine_chunks()
            queries = np.concatenate([known.queries, came.queries])
            came = replace(known, queries=queries, constants=constants)
        trees[new.template.id] = came
    return tuple(trees[number] for number in sorted(trees))


def _grown_stream(
    old: StreamPlan, new: StreamPlan, more: StreamPlan | None, gone: Gone | None, growth: Growth
) -> StreamPlan:
    is_dropped = np.isin(old.regions.query, growth.dropped)
    is_ended = np.isin(old.regions.query, growth.ended)
    is_spent = any(t.id in growth.spent for t in old.templates)
    is_replaced = any(old.stream.name in one.streams for one in growth.replaced)
    is_changed = more is not None or gone is not None or is_replaced
    if not (is_dropped.any() or is_ended.any() or is_spent or is_changed or len(new.templates)):
        return old
    changed = old
    if is_ended.any():
        end = old.regions.end.copy()
        tick_of = dict(zip(growth.ended.tolist(), growth.end.tolist(), strict=True))
        end[is_ended] = [tick_of[query] for query in old.regions.query[is_ended].tolist()]
        changed = replace(changed, regions=replace(old.regions, end=end))
    if gone is not None:
        changed = replace(changed, regions=_left(changed.regions, gone, growth.version))
    if is_dropped.any() or is_spent:
        changed = _without(changed, is_dropped, growth.spent)
    if more is not None:
        changed = _with(changed, more, 0, growth.version)
    if len(new.templates):
        changed = _with(changed, new, growth.first, growth.version)
    return replace(changed, version=growth.version)


# ----- what goes


def _left(regions: Regions, gone: Gone, version: int) -> Regions:
    """Some regions are to end with their rows."""
    tick, left = regions.gone.copy(), regions.left.copy()
    tick[gone.region], left[gone.region] = gone.tick, version
    return replace(regions, gone=tick, left=left)


def _without(plan: StreamPlan, is_dropped: Bools, spent: frozenset[int]) -> StreamPlan:
    """The plan without some of its regions, and without templates that nobody has."""
    touched = set(np.unique(plan.regions.template[is_dropped]).tolist())
    kept = [
        (t, c.filter(pa.array(~is_dropped[plan.regions.template == t.id])) if t.id in touched else c)
        for t, c in zip(plan.templates, plan.constants, strict=True)
        if t.id not in spent
    ]
    regions = _each(plan.regions, lambda column: column[~is_dropped])
    wkb = tuple(w for w, gone in zip(plan.regions.wkb, is_dropped.tolist(), strict=True) if not gone)
    nearest = _nearest_left(plan.nearest, is_dropped)
    number, focals = _used(np.concatenate([regions.focal, nearest.focal]), plan.focals)
    regions = replace(regions, row_in_template=row_in(regions.template), focal=number[regions.focal], wkb=wkb)
    return replace(
        plan, templates=tuple(t for t, _ in kept), constants=tuple(c.combine_chunks() for _, c in kept),
        regions=regions, focals=focals, nearest=replace(nearest, focal=number[nearest.focal]),
    )  # fmt: skip


def _nearest_left(nearest: Nearest, is_dropped: Bools) -> Nearest:
    """The kNN queries among the regions that are left."""
    is_left = ~is_dropped[nearest.region]
    left = Nearest(*(getattr(nearest, f.name)[is_left] for f in fields(Nearest)))
    return replace(left, region=(np.cumsum(~is_dropped) - 1)[left.region])


def _used(focal: I64, focals: pa.Array) -> tuple[I64, pa.Array]:
    """By old number the new one of focal objects that somebody still follows; and these, in order."""
    is_used = np.zeros(len(focals) + 1, np.bool_)
    is_used[focal] = True  # the last place is for those that follow nobody
    is_used = is_used[:-1]
    return np.append(np.cumsum(is_used) - 1, -1), focals.filter(pa.array(is_used))


# ----- what comes


def _with(old: StreamPlan, new: StreamPlan, first: int, version: int) -> StreamPlan:
    """New regions behind the others; of queries that count from `first` on."""
    number, focals = _focals_of_both(old, new)
    tables = dict(zip((t.id for t in old.templates), old.constants, strict=True))
    rows_before = {number: table.num_rows for number, table in tables.items()}
    for template, table in zip(new.templates, new.constants, strict=True):
        known = tables.get(template.id)
        tables[template.id] = table if known is None else pa.concat_tables([known, table]).combine_chunks()
    before = np.zeros(max(tables, default=0) + 1, np.int64)
    before[list(rows_before)] = list(rows_before.values())
    came, versions = new.regions, np.full(len(new.regions), version, np.int32)
    came = replace(
        came, query=(came.query + first).astype(np.int32), focal=number[came.focal],
        row_in_template=came.row_in_template + before[came.template], came=versions, left=versions,
    )  # fmt: skip
    columns = {
        f.name: np.concatenate([getattr(old.regions, f.name), getattr(came, f.name)])
        for f in fields(Regions)
        if f.name != "wkb"
    }
    near = replace(new.nearest, region=new.nearest.region + len(old.regions), focal=number[new.nearest.focal])
    templates = {t.id: t for t in (*new.templates, *old.templates)}
    return replace(
        old,
        templates=tuple(templates[number] for number in sorted(templates)),
        constants=tuple(tables[number] for number in sorted(tables)),
        regions=Regions(**columns, wkb=old.regions.wkb + came.wkb),
        focals=focals,
        nearest=Nearest(
            *(np.concatenate([getattr(old.nearest, f.name), getattr(near, f.name)]) for f in fields(Nearest))
        ),
    )


def _focals_of_both(old: StreamPlan, new: StreamPlan) -> tuple[I64, pa.Array]:
    """By focal object of new queries its number among those of both; and these, the old ones first."""
    number = _places(new.focals, old.focals)
    is_new = number < 0
    number[is_new] = len(old.focals) + np.arange(int(is_new.sum()))
    focals = pa.concat_arrays([old.focals, new.focals.filter(pa.array(is_new))])
    return np.append(number, -1), focals


def _places(few: pa.Array, many: pa.Array) -> I64:
    """Where each of a few keys stands among many, -1 for nowhere."""
    found = pc.index_in(many, value_set=few)  # the few are hashed, not the many
    at = np.flatnonzero(np.asarray(found.is_valid().to_numpy(zero_copy_only=False), np.bool_))
    places = np.full(len(few), -1, np.int64)
    places[found.take(pa.array(at)).to_numpy()] = at
    return places


def new_focals(before: Plan, growth: Growth) -> dict[str, pa.Array]:
    """By stream the focal objects that a version is the first to follow."""
    found = {}
    added = {s.stream.name: s for s in growth.added.streams}
    for old in before.streams:
        new = added[old.stream.name]
        came = new.focals.filter(pa.array(_places(new.focals, old.focals) < 0))
        if len(came):
            found[new.stream.name] = came
    return found


def _grown_queries(old: PlannedQueries, growth: Growth) -> PlannedQueries:
    if len(old) < growth.first:
        return NO_QUERIES  # shards know no names and no texts
    new, end, sql = growth.added.queries, old.end.copy(), old.sql
    for one in growth.replaced:
        number = one.replaced.query
        sql = pa.concat_arrays([sql[:number], pa.array([one.sql], pa.string()), sql[number + 1 :]])
    end[growth.ended], end[growth.dropped] = growth.end, ALWAYS
    return PlannedQueries(
        pa.concat_arrays([old.names, new.names]), new.streams,
        np.concatenate([old.stream, new.stream]), np.concatenate([old.template, new.template]),
        np.concatenate([old.begin, new.begin]), np.concatenate([end, new.end]),
        pa.concat_arrays([sql, new.sql]),
    )  # fmt: skip


def _each(regions: Regions, change: Any) -> Regions:
    """Every column but the borders of polygons changed alike."""
    names = [f.name for f in fields(Regions) if f.name != "wkb"]
    return replace(regions, **{name: change(getattr(regions, name)) for name in names})


__all__ = ["Gone", "Growth", "Replacement", "grown", "new_focals"]
