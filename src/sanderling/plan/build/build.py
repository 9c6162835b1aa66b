"""Checked queries to a plan: templates get numbers, regions become one table a stream.

cohorts ──► put together, in order of name ──► queries
        └─► by stream ──► regions, kNN, constants by template, focal objects
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.catalog import Names, Stream, Table
from sanderling.clock import ticks_from
from sanderling.plan.many.cohorts import Cohort, TableRows
from sanderling.plan.query.compositions import Composition
from sanderling.plan.query.selects import Draft
from sanderling.plans.columns import previous_of
from sanderling.plans.plan import (
    ALWAYS,
    NEVER,
    Nearest,
    Plan,
    PlannedQueries,
    PlannedTree,
    Regions,
    StreamPlan,
    Template,
    row_in,
)
from sanderling.plans.tables import planned_table


@dataclass(frozen=True, slots=True)
class Numbered:
    """A cohort whose queries have numbers (-1: dropped) and a template."""

    cohort: Cohort
    queries: I64
    template: Template

    @property
    def query(self) -> I64:
        """By region."""
        return self.cohort.regions_of(self.queries)


class Templates:
    """The numbers of templates: given once, and not again when a template is forgotten."""

    def __init__(self, known: Templates | None = None) -> None:
        self._found: dict[object, Template] = {} if known is None else dict(known._found)
        self._next: int = 0 if known is None else known._next

    def learn(self, cohort: Cohort) -> None:
        """A template that is new gets a number; one of composed queries, and then its branches."""
        draft = cohort.draft
        if draft.template_key in self._found:
            return
        number = self._next
        self._learn(draft.template_key, draft, cohort.constants.schema, None)
        for place, branch in enumerate(cohort.branches):
            self._learn((number, place), branch.draft, branch.constants.schema, number)

    def _learn(self, key: object, draft: Draft | Composition, constants: pa.Schema, into: int | None) -> None:
        self._found[key] = _template(self._next, draft, constants, into)
        self._next += 1

    def of(self, draft: Draft | Composition) -> Template:
        return self._found[draft.template_key]

    def branches(self, template: Template, n: int) -> list[Template]:
        return [self._found[template.id, place] for place in range(n)]

    def forget(self, numbers: Iterable[int]) -> None:
        gone = set(numbers)
        self._found = {key: t for key, t in self._found.items() if t.id not in gone}


def build_plan(streams: Sequence[Stream], cohorts: Sequence[Cohort], tables: Names[Table]) -> Plan:
    """The plan for the given streams and queries; queries are numbered in order of name."""
    return with_tables(build(streams, cohorts, Templates())[0], tables)


def with_tables(plan: Plan, tables: Names[Table]) -> Plan:
    """The same with the tables that its trees read, as they are now."""
    return replace(plan, tables=tuple(planned_table(t) for t in _read_by(plan, tables)))


def _read_by(plan: Plan, tables: Names[Table]) -> list[Table]:
    found = (tables.get(name) for name in sorted({name for tree in plan.trees for name in tree.tables}))
    return [table for table in found if table is not None]


def build(
    streams: Sequence[Stream], cohorts: Sequence[Cohort], known: Templates, is_living: bool = False
) -> tuple[Plan, list[I64]]:
    """The same with templates that are known already; and by cohort the numbers of its queries.

    In a plan that lives all columns are kept: who knows what is asked next.
    """
    sizes = [len(c) for c in cohorts]
    cohort_of = np.repeat(np.arange(len(cohorts)), sizes)
    names = _strings(c.names for c in cohorts)
    begin, end = _column((c.begin for c in cohorts), np.int64), _column((c.end for c in cohorts), np.int64)
    is_there = _column((c.is_there for c in cohorts), np.bool_)
    order = _order(names, begin, is_there)
    number = np.full(len(names), -1, np.int64)
    number[order] = np.arange(len(order))
    templates = _templates(cohorts, cohort_of[order], known)
    numbered = [
        Numbered(cohort, number[last - len(cohort) : last], template)
        for cohort, last, template in zip(cohorts, np.cumsum(sizes), templates, strict=True)
    ]
    stream_of = {s.name: i for i, s in enumerate(streams)}
    stream = np.array([stream_of[c.draft.stream.name] for c in cohorts], np.int32)
    template = np.array([t.id for t in templates], np.int32)
    queries = PlannedQueries(
        names.take(order), tuple(stream_of), stream[cohort_of[order]], template[cohort_of[order]],
        begin[order], end[order], _strings(c.sql for c in cohorts).take(order),
    )  # fmt: skip
    parts = [part for n in numbered for part in _parts(n, known)]
    plans = [
        stream_plan(s, [c for c in parts if c.cohort.draft.stream is s], queries, is_living) for s in streams
    ]
    trees = _trees([n for n in numbered if n.cohort.branches], known)
    return Plan(tuple(plans), queries, trees=trees), [n.queries for n in numbered]


def _parts(numbered: Numbered, known: Templates) -> list[Numbered]:
    """What shards do for the queries of a cohort: their branches, if they are composed."""
    branches = numbered.cohort.branches
    if not branches:
        return [numbered]
    templates = known.branches(numbered.template, len(branches))
    return [Numbered(b, numbered.queries, t) for b, t in zip(branches, templates, strict=True)]


def _trees(composed: list[Numbered], known: Templates) -> tuple[PlannedTree, ...]:
    by_template: dict[int, list[Numbered]] = {}
    for numbered in composed:
        by_template.setdefault(numbered.template.id, []).append(numbered)
    trees = []
    for _, mine in sorted(by_template.items()):
        template, draft = mine[0].template, mine[0].cohort.draft
        assert isinstance(draft, Composition)
        query = _column((n.queries for n in mine), np.int64)
        order = _by_query(query)
        constants = pa.concat_tables([n.cohort.constants for n in mine]).combine_chunks()
        branches = known.branches(template, len(draft.branches))
        planned = PlannedTree(
            template, draft.root, tuple(b.id for b in branches), draft.streams_used,
            draft.stream.tick_us, draft.tables,
            query[order], constants.take(pa.array(order)).combine_chunks(),
        )  # fmt: skip
        trees.append(planned)
    return tuple(trees)


def _order(names: pa.Array, begin: I64, is_there: npt.NDArray[np.bool_]) -> I64:
    """Rows of those that are there, by the bytes of their names; of one name, by time."""
    kept = np.flatnonzero(is_there)
    table = pa.table({"name": names.take(kept), "begin": begin[kept]})
    by_name = pc.sort_indices(table, sort_keys=[("name", "ascending"), ("begin", "ascending")])
    return np.asarray(kept[by_name.to_numpy()])


def _templates(cohorts: Sequence[Cohort], cohort_of: I64, known: Templates) -> list[Template]:
    """By cohort; numbered, and told in words, by the first query that has them."""
    _, first = np.unique(cohort_of, return_index=True)
    for number in cohort_of[np.sort(first)]:
        known.learn(cohorts[number])
    return [known.of(c.draft) for c in cohorts]


def _template(number: int, draft: Draft | Composition, constants: pa.Schema, into: int | None) -> Template:
    if isinstance(draft, Composition):
        return Template(number, draft.stream.name, None, draft.outputs, constants, is_keyed=True)
    is_without = not draft.constants and draft.table is None
    return Template(
        number, draft.stream.name, draft.where, draft.outputs, pa.schema([]) if is_without else constants,
        draft.is_keyed, draft.nearest is not None, draft.window, into, draft.is_sighted,
    )  # fmt: skip


def stream_plan(
    stream: Stream, cohorts: list[Numbered], queries: PlannedQueries, is_living: bool
) -> StreamPlan:
    """The part of one stream: of these cohorts, whose numbers count among all queries."""
    own = {c.template.id: c.template for c in cohorts}
    templates = [own[number] for number in sorted(own)]
    query = _column((c.query for c in cohorts), np.int64)
    order = _by_query(query)
    query = query[order]
    ids = (np.full(len(n.query), n.template.id, np.int32) for n in cohorts)
    template = _column(ids, np.int32)[order]
    focal, nearest_focal, focals = _focals(stream, cohorts, order)
    a, b, c, d = (_column((n.cohort.areas.numbers[i] for n in cohorts), np.float64)[order] for i in range(4))
    kinds = (np.full(len(n.cohort.areas), n.cohort.areas.kind, np.int8) for n in cohorts)
    wkb = [found for n in cohorts for found in n.cohort.areas.wkb]
    row, came, gone = _rows(stream, cohorts, order)
    versions = np.zeros(len(order), np.int32)
    regions = Regions(
        query=query.astype(np.int32), template=template, row_in_template=row_in(template),
        kind=_column(kinds, np.int8)[order], a=a, b=b, c=c, d=d, focal=focal,
        begin=np.maximum(queries.begin[query], came), end=queries.end[query], row=row, gone=gone,
        came=versions, left=versions, wkb=tuple(wkb[i] for i in order) if any(wkb) else (None,) * len(order),
    )  # fmt: skip
    kept = _all_columns(stream) if is_living else _kept(stream, templates)
    return StreamPlan(
        stream, kept, tuple(templates), _constants(cohorts), regions, focals,
        _nearest(cohorts, order, nearest_focal),
    )  # fmt: skip


def _rows(stream: Stream, cohorts: list[Numbered], order: I64) -> tuple[I64, I64, I64]:
    """By region the row of its table, and the ticks from which on that is there, and not any more."""
    without = TableRows(np.array([-1]), np.array([ALWAYS]), np.array([NEVER]))
    parts = [
        TableRows(*(np.repeat(value, len(n.cohort.areas)) for value in without))
        if not n.cohort.draft.used("table")
        else n.cohort.rows
        for n in cohorts
    ]
    row, came, gone = (_column((part[i] for part in parts), np.int64)[order] for i in range(3))
    return row, ticks_from(came, stream.tick_us), ticks_from(gone, stream.tick_us)


def _by_query(query: I64) -> I64:
    """Rows of queries that are there, in order; stable: a table's rows stay as they are."""
    order = np.argsort(query, kind="stable")
    return order[int(np.searchsorted(query[order], 0)) :]


def _constants(cohorts: list[Numbered]) -> tuple[pa.Table, ...]:
    """The constants of each template, in order of query."""
    by_template: dict[int, list[Numbered]] = {}
    for numbered in cohorts:
        by_template.setdefault(numbered.template.id, []).append(numbered)
    tables = []
    for _, mine in sorted(by_template.items()):
        order = _by_query(_column((n.query for n in mine), np.int64))
        whole = pa.concat_tables([n.cohort.constants for n in mine]).combine_chunks()
        tables.append(whole.take(pa.array(order)).combine_chunks())
    return tuple(tables)


def _focals(stream: Stream, cohorts: list[Numbered], order: I64) -> tuple[I64, I64, pa.Array]:
    """By region the focal objects of INSIDE and of kNN by number, -1 without one; and their keys."""
    type_ = stream.key_type.arrow
    inside = [_keys(n.cohort.focals, n, type_) for n in cohorts]
    nearest = [_keys(n.cohort.nearest and n.cohort.nearest.focals, n, type_) for n in cohorts]
    ordered = [
        pa.concat_arrays([pa.nulls(0, type_), *keys]).take(pa.array(order)) for keys in (inside, nearest)
    ]
    encoded = pa.concat_arrays(ordered).dictionary_encode()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return numbers[: len(order)], numbers[len(order) :], encoded.dictionary


def _keys(focals: pa.Array | None, numbered: Numbered, type_: pa.DataType) -> pa.Array:
    return pa.nulls(len(numbered.cohort.areas), type_) if focals is None else focals


def _nearest(cohorts: list[Numbered], order: I64, focal: I64) -> Nearest:
    """The kNN queries among the regions in this order."""
    asked = [(len(n.cohort.areas), n.cohort.nearest) for n in cohorts]
    k = _column((np.zeros(n, np.int64) if a is None else a.k for n, a in asked), np.int64)[order]
    x = _column((np.zeros(n) if a is None else a.x for n, a in asked), np.float64)[order]
    y = _column((np.zeros(n) if a is None else a.y for n, a in asked), np.float64)[order]
    rows = np.flatnonzero(k > 0)
    return Nearest(rows, k[rows], x[rows], y[rows], focal[rows])


def _kept(stream: Stream, templates: list[Template]) -> tuple[str, ...]:
    """Columns that some query reads, beside key, place and gone, which every shard holds anyway."""
    reads = {name for t in templates for name in t.of_reading}
    reads |= {name for t in templates if t.window is not None for name in t.window.reads}
    return tuple(name for name in _all_columns(stream) if name in reads or previous_of(name) in reads)


def _all_columns(stream: Stream) -> tuple[str, ...]:
    fixed = {stream.key, stream.x, stream.y, stream.gone}
    return tuple(c.name for c in stream.columns if c.name not in fixed)


def _column(parts: Iterable[npt.NDArray[Any]], type_: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, type_), *parts])


def _strings(parts: Iterable[pa.Array]) -> pa.Array:
    return pa.concat_arrays([pa.nulls(0, pa.string()), *parts])
