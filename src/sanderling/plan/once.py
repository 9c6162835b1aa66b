"""A SELECT that is not registered, planned by itself: what it tells is added up, and that is all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from sanderling.catalog import Stream
from sanderling.clock import ALWAYS, tick_end
from sanderling.language.statements import RegisterQuery
from sanderling.plan.build.build import build_plan
from sanderling.plan.logical import Query
from sanderling.plan.many.cohorts import Cohort
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan, StreamPlan


class OncePlanner(Planner):
    """What another planner knows, and beside it streams whose readings are rows of the past.

    Promise (tests/ask): nothing of it is seen by the other.
    """

    def __init__(self, known: Planner, rows: Iterable[Stream] = ()):
        super().__init__(data=known.data, rules=known.rules)
        self.known = known
        self.streams.back_to(known.streams.mark())
        self.tables.back_to(known.tables.mark())
        self.regions.back_to(known.regions.mark())
        self.queries.back_to(known.queries.mark())
        self._archives = known._archives
        for stream in rows:
            self.streams.put(stream.name, stream)

    def keep_queries(self, may_see: Callable[[str], bool]) -> None:
        """All others are not there for whoever asks."""
        mark = self.queries.mark()
        mine = {folded: member for folded, member in mark.members.items() if may_see(member.name)}
        self.queries.back_to(mark._replace(members=mine))

    def planned(self, statement: RegisterQuery, text: str, begin: int = ALWAYS) -> tuple[Query, Plan]:
        """The query, and the plan of it alone."""
        query = self._checked(statement, text)
        return query, self.plan_of(query, statement.sql, begin)

    def plan_of(self, query: Query, sql: str, begin: int = ALWAYS) -> Plan:
        cohort = Cohort.of_one("SELECT", query, sql, begin)
        read = {scan.stream.name for scan in query.scans}
        streams = [stream for stream in self.streams.values() if stream.name in read]
        plan = build_plan(streams, [cohort.over_all(self.tables)], self.tables)
        return replace(plan, streams=tuple(map(in_order, plan.streams)))


def beginning_at(planner: Planner, time: int) -> None:
    """Queries that would have begun before this time begin at it."""
    for cohort in planner.queries.cohorts():
        cohort.begin = np.maximum(cohort.begin, tick_end(time, cohort.query.stream.tick_us))


def in_order(plan: StreamPlan) -> StreamPlan:
    """Its readings come as they were taken then: nothing is judged anew."""
    stream = replace(plan.stream, partition=None, idle_after_us=None, ahead_us=None)
    return replace(plan, stream=stream)


__all__ = ["OncePlanner", "beginning_at", "in_order"]
