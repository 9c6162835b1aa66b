"""What the change of a table means to queries that a plan has already.

rows that came ──► regions of each query that joins the table
rows that went ──► regions that end, and take back what they held
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sanderling.arrays import I64
from sanderling.catalog import Table
from sanderling.clock import ticks_from
from sanderling.plan.build.build import Numbered, Templates, stream_plan
from sanderling.plan.many.cohorts import Member, Part
from sanderling.plans.growth import Gone, Replacement
from sanderling.plans.plan import NEVER, Plan, PlannedQueries, Replaced, StreamPlan, Template


@dataclass(frozen=True, slots=True)
class Reader:
    """A query of the plan that joins a table, by one of its scans."""

    member: Member
    place: int  # of the scan

    @property
    def part(self) -> Part:
        return self.member.cohort.parts[self.place]

    @property
    def number(self) -> int:
        assert self.member.number is not None
        return self.member.number

    def template(self, templates: Templates) -> Template:
        return templates.of_parts(self.member.query)[self.place]

    def over(self, table: Table, among: I64) -> Part:
        return self.part.over(table, self.member.begin, self.member.end, among)


def readers(members: Iterable[Member]) -> dict[str, list[Reader]]:
    """By the name of a table, folded, those that join it, of queries that are in the plan."""
    found: dict[str, list[Reader]] = {}
    for member in members:
        for place, part in enumerate(member.cohort.parts if member.number is not None else ()):
            if part.scan.table is not None:
                found.setdefault(part.scan.table.name.casefold(), []).append(Reader(member, place))
    return found


@dataclass(frozen=True, slots=True)
class TableGrowth:
    """A table as the plan has it, as it is now, and the queries of the plan that join it."""

    before: Table
    now: Table
    readers: list[Reader]

    @property
    def came(self) -> I64:
        """Rows by number."""
        return np.arange(len(self.before.history.gone), len(self.now.history.gone))

    @property
    def went(self) -> I64:
        before = self.before.history.gone
        return np.flatnonzero(self.now.history.gone[: len(before)] != before)

    def of(self, stream: StreamPlan) -> list[Reader]:
        return [r for r in self.readers if r.part.scan.stream.name == stream.stream.name]


def tables_grown(
    plan: Plan, tables: Sequence[TableGrowth], replaced: Sequence[Member], templates: Templates
) -> tuple[tuple[StreamPlan, ...], tuple[Gone, ...]]:
    """By stream the regions that come, and those that go: of rows of tables, and of queries that go on."""
    others = [other for member in replaced for other in others_of(member, templates)]
    if not tables and not others:
        return (), ()
    queries = _with_ends(plan.queries, tables, replaced)
    came = (_coming(stream, tables, others, templates, queries) for stream in plan.streams)
    gone = (_going(stream, tables, others, templates) for stream in plan.streams)
    return tuple(c for c in came if len(c.regions)), tuple(g for g in gone if len(g.region))


def _with_ends(
    queries: PlannedQueries, tables: Sequence[TableGrowth], replaced: Sequence[Member]
) -> PlannedQueries:
    """Some may have got an end in the same call."""
    end = queries.end.copy()
    for reader in (r for table in tables for r in table.readers):
        end[reader.number] = reader.member.end
    for member in replaced:
        end[member.number] = member.end
    return replace(queries, end=end)


def _coming(
    stream: StreamPlan, tables: Sequence[TableGrowth], others: Sequence[Other], templates: Templates,
    queries: PlannedQueries,
) -> StreamPlan:  # fmt: skip
    parts = [
        Numbered(r.over(table.now, table.came), np.array([r.number]), r.template(templates))
        for table in tables
        for r in table.of(stream)
    ]
    parts += [Numbered(other.part, np.array([other.number]), other.template) for other in others]
    found = [part for part in parts if len(part.part) and part.scan.stream.name == stream.stream.name]
    return stream_plan(stream.stream, found, queries, is_living=True)


def _going(
    stream: StreamPlan, tables: Sequence[TableGrowth], others: Sequence[Other], templates: Templates
) -> Gone:
    regions, is_gone = stream.regions, np.zeros(len(stream.regions), np.bool_)
    tick = regions.gone.copy()
    for table in tables:
        mine = [(r.number, r.template(templates).id) for r in table.of(stream)]
        is_here = np.isin(regions.query, [query for query, _ in mine])
        is_here &= np.isin(regions.template, [template for _, template in mine])
        is_here &= np.isin(regions.row, table.went)
        tick[is_here] = ticks_from(table.now.history.gone[regions.row[is_here]], stream.stream.tick_us)
        is_gone |= is_here
    for other in others:
        is_here = (regions.query == other.number) & (regions.template == other.template.id)
        is_here &= regions.gone == NEVER
        tick[is_here] = other.tick
        is_gone |= is_here
    return Gone(stream.stream.name, np.flatnonzero(is_gone), tick[is_gone])


@dataclass(frozen=True, slots=True)
class Other:
    """What a scan of a query asks from a tick on, instead of what it asked before."""

    part: Part
    number: int
    template: Template
    tick: int


def others_of(member: Member, templates: Templates) -> Iterator[Other]:
    """Of a query that is replaced in this version; it knows which of its scans are."""
    assert member.number is not None
    for part, template in zip(member.cohort.parts, templates.of_parts(member.query), strict=True):
        if part.is_anew:
            yield Other(part, member.number, template, member.cohort.since)


def replacement_of(member: Member) -> Replacement:
    assert member.number is not None
    constants = member.cohort.of_tree()
    replaced = Replaced(member.number, member.cohort.since, constants)
    return Replacement(replaced, member.sql, member.query.streams_used)


__all__ = ["TableGrowth", "readers", "replacement_of", "tables_grown"]
