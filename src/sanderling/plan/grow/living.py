"""A plan that lives: queries come and go while the stream runs, and each call gives the next version.

text ──► planner (all or nothing) ──► what came, what went ──► growth ──► the next plan
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.catalog import Table
from sanderling.clock import tick_end
from sanderling.errors import QueryError
from sanderling.language.statements import CreateArchive, CreateStream, Drop, Statement
from sanderling.plan.build.build import Templates, build, with_tables
from sanderling.plan.grow.replacing import Refuse, is_of_several
from sanderling.plan.grow.table_changes import Read
from sanderling.plan.grow.table_growth import TableGrowth, readers, replacement_of, tables_grown
from sanderling.plan.listing import Listing
from sanderling.plan.logical import Query, Rule
from sanderling.plan.many.cohorts import Cohort, Member
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plans.growth import Growth, grown, new_focals
from sanderling.plans.plan import ALWAYS, NO_QUERIES, Plan, PlannedTable
from sanderling.plans.tables import planned_table


@dataclass(frozen=True, slots=True)
class Change:
    """What a call has brought about. `growth` leads to `plan` from the one before.

    Without one the plan is what it was; before the start there is none to speak of.
    """

    version: int
    plan: Plan
    new_queries: I64
    dropped: I64
    new_focals: dict[str, pa.Array] = field(default_factory=dict)  # by stream, where there are some
    listings: tuple[Listing, ...] = ()
    growth: Growth | None = None


class LivingPlan(Planner):
    """A planner that goes on after its first plan.

    Promises (tests/plan/test_living.py):
      all or nothing  a call that is refused leaves everything as it was
      append-only     a number is given once; a dropped query keeps its own, its name may get another
      cheap           what did not change is not planned again
      lasting         saved and loaded again, it goes on where it was
    """

    def __init__(
        self, folder: Path | None = None, read: Read | None = None, data: Path | None = None,
        rules: Sequence[Rule] = RULES,
    ):  # fmt: skip
        super().__init__(folder, read=read, data=data, rules=rules)
        self._templates = Templates()
        self._now: Plan | None = None
        self._tables: dict[str, Table] = {}  # as the plan has them

    @property
    def is_started(self) -> bool:
        return self._now is not None

    @property
    def version(self) -> int:
        return 0 if self._now is None else self._now.version

    def execute(self, text: str) -> Change:
        """Runs a script; once started, the next version comes back."""
        with self.all_or_nothing():
            listings = tuple(self.run_script(text))
            return self._advance(listings)

    def start(self) -> Change:
        """The first version: everything registered so far. From now on there are no other streams."""
        cohorts = self.queries.cohorts()
        plan, numbers = build(
            self.streams.values(), self.queries.over(self.tables), self._templates, is_living=True
        )
        plan = self._archives.in_(with_tables(plan, self.tables))
        self._settle(plan, cohorts, numbers, 0)
        focals = {s.stream.name: s.focals for s in plan.streams if len(s.focals)}
        return Change(0, plan, np.arange(len(plan.queries)), np.empty(0, np.int64), focals)

    def run(self, statement: Statement, text: str) -> Listing | None:
        is_about_stream = isinstance(statement, CreateStream | CreateArchive) or (
            isinstance(statement, Drop) and statement.kind in ("STREAM", "ARCHIVE")
        )
        if self._now is not None and is_about_stream:
            raise QueryError(
                "query.already_running", "streams and archives cannot come and go while the session runs",
                "declare all of them before it starts", statement.span.place_in(text),
            )  # fmt: skip
        return super().run(statement, text)

    def plan(self) -> Plan:
        """What every shard is to do, with all that has been said so far."""
        if self._now is None:
            cohorts = self.queries.over(self.tables)
            plan = build(self.streams.values(), cohorts, Templates(), is_living=True)[0]
            return self._archives.in_(with_tables(plan, self.tables))
        if not self._has_news():
            return self._now
        return grown(self._now, self._growth(self._now, Templates(self._templates))[0])

    def _going_on(self, member: Member, query: Query, sql: str, tick: int, refuse: Refuse) -> Cohort:
        if member.number is not None and is_of_several(query):
            raise refuse("it reads several streams, whose clocks are not the same")
        return super()._going_on(member, query, sql, tick, refuse)

    # ----- from version to version

    def _has_news(self) -> bool:
        is_other = self.queries.cohorts() or self.queries.dropped or self.queries.newly_ended()
        nothing = Plan((), NO_QUERIES)
        is_other = is_other or self.queries.replaced
        return bool(
            is_other or self._table_changes() or (self._now and self._tree_tables(self._now, nothing))
        )

    def _advance(self, listings: tuple[Listing, ...]) -> Change:
        before, nothing = self._now, np.empty(0, np.int64)
        if before is None:
            return Change(0, Plan((), NO_QUERIES), nothing, nothing, listings=listings)
        if not self._has_news():
            return Change(before.version, before, nothing, nothing, listings=listings)
        templates = Templates(self._templates)
        growth, cohorts, numbers = self._growth(before, templates)
        plan = grown(before, growth)
        self._templates = templates
        self._settle(plan, cohorts, numbers, growth.first)
        new = np.arange(growth.first, len(plan.queries))
        return Change(plan.version, plan, new, growth.dropped, new_focals(before, growth), listings, growth)

    def _growth(self, before: Plan, templates: Templates) -> tuple[Growth, list[Cohort], list[I64]]:
        dropped = np.array([m.number for m in self.queries.dropped if m.number is not None], np.int64)
        ended = [m for m in self.queries.newly_ended() if m.number is not None]
        spent = _spent(before, dropped)
        # Before new ones come: a table of the same name may have other columns now.
        templates.forget(spent)
        cohorts = self.queries.cohorts()
        self._wait_for_names(cohorts)
        added, numbers = build(
            self.streams.values(), self.queries.over(self.tables), templates, is_living=True
        )
        replaced = [member for member in self.queries.replaced if member.cohort.is_there[0]]
        regions = tables_grown(before, self._table_changes(), replaced, templates)
        growth = Growth(
            before.version + 1, len(before.queries), added, np.sort(dropped),
            np.array([m.number for m in ended], np.int64), np.array([m.end for m in ended], np.int64), spent,
            *regions, self._tree_tables(before, added), tuple(map(replacement_of, replaced)),
        )  # fmt: skip
        return growth, cohorts, numbers

    # ----- tables that change

    def _table_changes(self) -> list[TableGrowth]:
        """Of tables whose regions some query in the plan is joined with."""
        found = readers((*self.queries.values(), *self.queries.ended))
        return [
            TableGrowth(self._tables[name], now, mine)
            for name, mine in found.items()
            if (now := self.tables.get(name)) is not None and now is not self._tables[name]
        ]

    def _tree_tables(self, before: Plan, added: Plan) -> tuple[PlannedTable, ...]:
        """What changed in tables that trees read; a table that is read for the first time is whole."""
        known, version = {table.name for table in before.tables}, before.version + 1
        read = {name for tree in (*before.trees, *added.trees) for name in tree.tables}
        found = []
        for name in sorted(read):
            now, old = self.tables.get(name), self._tables.get(name.casefold())
            if now is not None and name not in known:
                found.append(planned_table(now))
            elif now is not None and old is not None and now is not old:
                found.append(planned_table(now, old, version))
        return tuple(found)

    def _wait_for_names(self, cohorts: list[Cohort]) -> None:
        """A name that another query has up to some tick is free from that tick on."""
        ends: dict[str, int] = {}
        for member in (m for m in self.queries.ended if m.number is not None):
            name = member.name.casefold()
            ends[name] = max(member.end, ends.get(name, ALWAYS))
        for cohort in cohorts if ends else ():
            for row, name in enumerate(cohort.names.to_pylist()):
                if name.casefold() in ends:
                    end = tick_end(ends[name.casefold()], cohort.query.stream.tick_us)
                    cohort.begin[row] = max(cohort.begin[row], end)

    def _settle(self, plan: Plan, cohorts: list[Cohort], numbers: list[I64], first: int) -> None:
        for cohort, mine in zip(cohorts, numbers, strict=True):
            cohort.numbers = np.where(mine < 0, -1, mine + first)
        self._now = plan
        self._tables = {table.name.casefold(): table for table in self.tables.values()}
        self.queries.settle()


def _spent(before: Plan, dropped: I64) -> frozenset[int]:
    """Templates of dropped queries that no other query has."""
    candidates = np.unique(before.queries.template[dropped])
    is_there = before.queries.end != ALWAYS
    is_there[dropped] = False
    spent = candidates[~np.isin(candidates, before.queries.template[is_there])].tolist()
    left = before.queries.template[is_there].tolist()
    return before.templates_below(spent) - before.templates_below(left)


__all__ = ["Change", "LivingPlan"]
