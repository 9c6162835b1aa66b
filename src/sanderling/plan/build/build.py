"""Checked queries to a plan: templates get numbers, regions become one table a stream.

cohorts ──► put together, in order of name ──► queries
        └─► by stream ──► regions, kNN, constants by template, focal objects
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.catalog import Names, Stream, Table
from sanderling.clock import ticks_from
from sanderling.plan.build.asked import Asked
from sanderling.plan.expressions.written import plain
from sanderling.plan.logical import Query, Scan, nodes_of
from sanderling.plan.many.cohorts import Cohort, Part, TableRows
from sanderling.plans import nodes
from sanderling.plans.columns import previous_of
from sanderling.plans.plan import (
    ALWAYS,
    NEVER,
    Nearest,
    OutputColumn,
    Plan,
    PlannedQueries,
    PlannedTree,
    Regions,
    Replaced,
    StreamPlan,
    Template,
    row_in,
)
from sanderling.plans.tables import planned_table


@dataclass(frozen=True, slots=True)
class Numbered:
    """A part whose queries have numbers (-1: dropped) and a template."""

    part: Part
    queries: I64
    template: Template

    @property
    def query(self) -> I64:
        """By region."""
        return self.part.regions_of(self.queries)

    @property
    def scan(self) -> Scan:
        return self.part.scan

    @property
    def asked(self) -> Asked:
        return self.part.asked


class Templates:
    """The numbers of templates: given once, and not again when a template is forgotten."""

    def __init__(self, known: Templates | None = None) -> None:
        self._found: dict[object, Template] = {} if known is None else dict(known._found)
        self._next: int = 0 if known is None else known._next

    def learn(self, cohort: Cohort) -> None:
        """A template that is new gets a number: that of a tree, and then those of its branches."""
        query, number = cohort.query, self._next
        if query.template_key in self._found:
            return
        if query.is_scan:
            self._learn(query.template_key, _template_of(number, cohort.parts[0]))
            return
        schema = cohort.of_tree().schema
        tree = Template(number, query.stream.name, None, query.outputs, schema, is_keyed=True)
        self._learn(query.template_key, tree)
        for key, part in zip(_branch_keys(query, number), cohort.parts, strict=True):
            if key not in self._found:
                self._learn(key, _template_of(self._next, part, is_branch=True))
        for place, below in enumerate(query.trees[1:]):
            outputs = tuple(OutputColumn("", column) for column in plain(below.root.types))
            mine = replace(tree, id=self._next, outputs=outputs, is_branch=True)
            self._learn((number, place), mine)

    def _learn(self, key: object, template: Template) -> None:
        self._found[key] = template
        self._next += 1

    def of(self, query: Query) -> Template:
        return self._found[query.template_key]

    def of_parts(self, query: Query) -> list[Template]:
        """By scan."""
        whole = self.of(query)
        if query.is_scan:
            return [whole]
        return [self._found[key] for key in _branch_keys(query, whole.id)]

    def of_trees(self, query: Query) -> list[Template]:
        """That of the answer, and those that run in shards for it."""
        whole = self.of(query)
        return [whole, *(self._found[whole.id, place] for place in range(len(query.trees) - 1))]

    def forget(self, numbers: Iterable[int]) -> None:
        gone = set(numbers)
        self._found = {key: t for key, t in self._found.items() if t.id not in gone}


def _branch_keys(query: Query, tree: int) -> list[object]:
    """What branches are known by: trees whose scans are alike share them, one tree that has such a scan twice
    has two. Those of triggers are a tree's own: where events go depends on it.
    """
    types = {c.name: c.type.name for c in query.constants}
    seen: Counter[object] = Counter()
    found: list[object] = []
    for scan in query.scans:
        constants = tuple((name, types[name]) for name in sorted(scan.reads & types.keys()))
        key = (tree if scan.is_sighted else None, scan.key, constants)
        found.append((*key, seen[key]))
        seen[key] += 1
    return found


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
    numbers = [number[last - n : last] for n, last in zip(sizes, np.cumsum(sizes), strict=True)]
    stream_of = {s.name: i for i, s in enumerate(streams)}
    stream = np.array([stream_of[c.query.stream.name] for c in cohorts], np.int32)
    template = np.array([t.id for t in templates], np.int32)
    queries = PlannedQueries(
        names.take(order), tuple(stream_of), stream[cohort_of[order]], template[cohort_of[order]],
        begin[order], end[order], _strings(c.sql for c in cohorts).take(order),
    )  # fmt: skip
    parts = [
        Numbered(part, mine, its)
        for cohort, mine in zip(cohorts, numbers, strict=True)
        for part, its in zip(cohort.parts, known.of_parts(cohort.query), strict=True)
    ]
    parts += [
        Numbered(before.part, mine, known.of_parts(cohort.query)[before.place])
        for cohort, mine in zip(cohorts, numbers, strict=True)
        for before in cohort.former
    ]
    plans = [stream_plan(s, [p for p in parts if p.scan.stream is s], queries, is_living) for s in streams]
    return Plan(tuple(plans), queries, trees=_trees(cohorts, numbers, known)), numbers


def _trees(cohorts: Sequence[Cohort], numbers: Sequence[I64], known: Templates) -> tuple[PlannedTree, ...]:
    """What is done above scans."""
    by_template: dict[int, list[tuple[Cohort, I64]]] = {}
    for cohort, mine in zip(cohorts, numbers, strict=True):
        if not cohort.query.is_scan:
            by_template.setdefault(known.of(cohort.query).id, []).append((cohort, mine))
    return tuple(tree for _, alike in sorted(by_template.items()) for tree in _trees_of(alike, known))


def _trees_of(alike: Sequence[tuple[Cohort, I64]], known: Templates) -> Iterator[PlannedTree]:
    query = alike[0][0].query
    numbers = _column((mine for _, mine in alike), np.int64)
    order = _by_query(numbers)
    constants = pa.concat_tables([cohort.of_tree_at_first() for cohort, _ in alike]).combine_chunks()
    constants = constants.take(pa.array(order)).combine_chunks()
    templates = known.of_trees(query)
    branches = [*known.of_parts(query), *templates[1:]]
    replaced = tuple(
        Replaced(int(mine[0]), later.tick, later.constants)
        for cohort, mine in alike
        for later in cohort.later
        if mine[0] >= 0
    )
    for template, tree in zip(templates, query.trees, strict=True):
        tables = {node.table for node in nodes_of(tree.root) if isinstance(node, nodes.TableRows)}
        yield PlannedTree(
            template, tree.root, tuple(branches[number].id for number in tree.branches), query.streams_used,
            query.stream.tick_us, tuple(name for name in query.tables if name in tables), numbers[order],
            constants, replaced,
        )  # fmt: skip


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
    return [known.of(c.query) for c in cohorts]


def _template_of(number: int, part: Part, is_branch: bool = False) -> Template:
    scan, schema = part.scan, part.constants.schema
    constants = pa.schema([]) if schema.names == ["none"] else schema
    return Template(
        number, scan.stream.name, scan.condition, scan.outputs, constants, scan.is_keyed,
        scan.is_nearest, scan.window, is_branch, scan.is_sighted, scan.is_waited,
    )  # fmt: skip


def stream_plan(
    stream: Stream, parts: list[Numbered], queries: PlannedQueries, is_living: bool
) -> StreamPlan:
    """What shards do for one stream: these parts, whose numbers count among all queries."""
    own = {c.template.id: c.template for c in parts}
    templates = [own[number] for number in sorted(own)]
    query = _column((c.query for c in parts), np.int64)
    order = _by_query(query)
    query = query[order]
    ids = (np.full(len(n.query), n.template.id, np.int32) for n in parts)
    template = _column(ids, np.int32)[order]
    focal, nearest_focal, focals = _focals(stream, parts, order)
    a, b, c, d = (_column((n.asked.areas.numbers[i] for n in parts), np.float64)[order] for i in range(4))
    kinds = (np.full(len(n.part), n.asked.areas.kind, np.int8) for n in parts)
    wkb = [found for n in parts for found in n.asked.areas.wkb]
    row, came, gone = _rows(stream, parts, order)
    versions = np.zeros(len(order), np.int32)
    regions = Regions(
        query=query.astype(np.int32), template=template, row_in_template=row_in(template),
        kind=_column(kinds, np.int8)[order], a=a, b=b, c=c, d=d, focal=focal,
        begin=np.maximum(queries.begin[query], came), end=queries.end[query], row=row, gone=gone,
        came=versions, left=versions, wkb=tuple(wkb[i] for i in order) if any(wkb) else (None,) * len(order),
    )  # fmt: skip
    kept = all_columns(stream) if is_living else _kept(stream, templates)
    return StreamPlan(
        stream, kept, tuple(templates), _constants(parts), regions, focals,
        _nearest(parts, order, nearest_focal),
    )  # fmt: skip


def all_columns(stream: Stream) -> tuple[str, ...]:
    """Beside key, place and gone, which every shard holds anyway."""
    fixed = {stream.key, stream.x, stream.y, stream.gone}
    return tuple(c.name for c in stream.columns if c.name not in fixed)


def _rows(stream: Stream, parts: list[Numbered], order: I64) -> tuple[I64, I64, I64]:
    """By region the row of its table, and the ticks from which on that is there, and not any more."""
    without = TableRows(np.array([-1]), np.array([ALWAYS]), np.array([NEVER]))
    found = [
        TableRows(*(np.repeat(value, len(n.part)) for value in without))
        if n.scan.table is None and not len(n.part.rows.number)
        else n.part.rows
        for n in parts
    ]
    row, came, gone = (_column((part[i] for part in found), np.int64)[order] for i in range(3))
    return row, ticks_from(came, stream.tick_us), ticks_from(gone, stream.tick_us)


def _by_query(query: I64) -> I64:
    """Rows of queries that are there, in order; stable: a table's rows stay as they are."""
    order = np.argsort(query, kind="stable")
    return order[int(np.searchsorted(query[order], 0)) :]


def _constants(parts: list[Numbered]) -> tuple[pa.Table, ...]:
    """The constants of each template, in order of query."""
    by_template: dict[int, list[Numbered]] = {}
    for numbered in parts:
        by_template.setdefault(numbered.template.id, []).append(numbered)
    tables = []
    for _, mine in sorted(by_template.items()):
        order = _by_query(_column((n.query for n in mine), np.int64))
        whole = pa.concat_tables([n.part.constants for n in mine]).combine_chunks()
        tables.append(whole.take(pa.array(order)).combine_chunks())
    return tuple(tables)


def _focals(stream: Stream, parts: list[Numbered], order: I64) -> tuple[I64, I64, pa.Array]:
    """By region the focal objects of INSIDE and of kNN by number, -1 without one; and their keys."""
    type_ = stream.key_type.arrow
    inside = [_keys(n.asked.focals, n, type_) for n in parts]
    nearest = [_keys(n.asked.nearest and n.asked.nearest.focals, n, type_) for n in parts]
    ordered = [
        pa.concat_arrays([pa.nulls(0, type_), *keys]).take(pa.array(order)) for keys in (inside, nearest)
    ]
    encoded = pa.concat_arrays(ordered).dictionary_encode()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return numbers[: len(order)], numbers[len(order) :], encoded.dictionary


def _keys(focals: pa.Array | None, numbered: Numbered, type_: pa.DataType) -> pa.Array:
    return pa.nulls(len(numbered.part), type_) if focals is None else focals


def _nearest(parts: list[Numbered], order: I64, focal: I64) -> Nearest:
    """The kNN queries among the regions in this order."""
    asked = [(len(n.part), n.asked.nearest) for n in parts]
    k = _column((np.zeros(n, np.int64) if a is None else a.k for n, a in asked), np.int64)[order]
    x = _column((np.zeros(n) if a is None else a.x for n, a in asked), np.float64)[order]
    y = _column((np.zeros(n) if a is None else a.y for n, a in asked), np.float64)[order]
    rows = np.flatnonzero(k > 0)
    return Nearest(rows, k[rows], x[rows], y[rows], focal[rows])


def _kept(stream: Stream, templates: list[Template]) -> tuple[str, ...]:
    """Columns that some query reads."""
    reads = {name for t in templates for name in t.of_reading}
    reads |= {name for t in templates if t.window is not None for name in t.window.reads}
    return tuple(name for name in all_columns(stream) if name in reads or previous_of(name) in reads)


def _column(parts: Iterable[npt.NDArray[Any]], type_: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, type_), *parts])


def _strings(parts: Iterable[pa.Array]) -> pa.Array:
    return pa.concat_arrays([pa.nulls(0, pa.string()), *parts])
