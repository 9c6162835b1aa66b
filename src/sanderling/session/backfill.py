"""Queries that are registered while a session runs, over streams that have an archive: they begin from it.

a version ──► what it needs of the past ──► all shards have turned to it ──► FILL: readings, for its windows
                                                                        └──► RETOLD, HELD: AT '<time past>'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa

from sanderling.ask.archive import since_of
from sanderling.ask.past_updates import told_since
from sanderling.batches import NOTHING, Batch
from sanderling.clock import show_time, time_of
from sanderling.errors import QueryError
from sanderling.language import parse_script
from sanderling.language.statements import At, RegisterQuery
from sanderling.plan.grow.living import Change, LivingPlan
from sanderling.plan.once import OncePlanner
from sanderling.plans.past import is_kept, needs_readings, reach_of_new
from sanderling.plans.plan import ALWAYS, Plan
from sanderling.route.controls import fill, retold
from sanderling.storage.archive import Archive

AT = re.compile(r"(?i)\bAT\b")


@dataclass(frozen=True, slots=True)
class Telling:
    """A query that begins in the past, by itself."""

    number: int
    template: int
    begin: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class Needed:
    """What a version needs: of streams readings so far back (None: nobody knows how far), and tellings."""

    reaches: dict[str, int | None]
    streams: tuple[str, ...]  # that may wait
    tellings: tuple[Telling, ...]


@dataclass(slots=True)
class Backfill:
    """Promises (tests/properties/test_backfill.py):
    full      what a query over windows begins with is what it would hold, had it been there from the start
    told      AT a time past, the sum of its updates up to any tick is that as well
    again     what was told before a crash may be told again: shards take it once
    """

    archive_of: Callable[[str], Archive] | None = None
    shards: int = 0
    _needed: dict[int, Needed] = field(default_factory=dict)  # by version

    def turn(self, before: Plan | None, change: Change, living: LivingPlan) -> None:
        """The plan from now on."""
        if before is None or change.growth is None:
            return
        old = {part.stream.name: part for part in before.streams}
        parts = [part for part in change.plan.streams if part.version == change.version and is_kept(part)]
        reaches = {
            part.stream.name: reach_of_new(old[part.stream.name], part)
            for part in parts
            if needs_readings(old[part.stream.name], part)
        }
        tellings = tuple(_tellings(change, living))
        begins = {change.plan.queries[t.number].stream for t in tellings}
        waiting = tuple(dict.fromkeys([*reaches, *(p.stream.name for p in parts if _is_timed(p.regions))]))
        if waiting or begins:
            self._needed[change.version] = Needed(reaches, waiting, tellings)

    def refuse_forgotten(self, sql: str, living: LivingPlan) -> None:
        """AT a time of which nothing is kept any more. What cannot be planned whoever runs it refuses."""
        for one in parse_script(sql) if AT.search(sql) else ():
            if not isinstance(one, At) or not isinstance(one.statement, RegisterQuery):
                continue
            time = time_of(one.time.value)
            for archive in self._archives_of(one.statement, sql, living):
                begin = archive.kept_from
                if time is None or begin is None or time >= begin:
                    continue
                if archive.has_forgotten:
                    message = f"{archive.folder} keeps what was from {show_time(begin)} on"
                    place = one.time.span.place_in(sql)
                    raise QueryError("history.not_kept", message, "write a later time", place)

    def _archives_of(self, statement: RegisterQuery, sql: str, living: LivingPlan) -> list[Archive]:
        """Those of the streams that a query reads."""
        try:
            query, _ = OncePlanner(living).planned(statement, sql)
        except QueryError:
            return []
        names = {scan.stream.name for scan in query.scans if living.archive_of(scan.stream.name)}
        return [] if self.archive_of is None else [self.archive_of(name) for name in sorted(names)]

    def told(self, version: int) -> list[Batch]:
        """What shards are to be told, now that all of them have turned to a version."""
        needed = self._needed.pop(version, None)
        if needed is None or self.archive_of is None:
            return []
        archives = {name: self.archive_of(name) for name in needed.streams}
        found = list[Batch]()
        for telling in needed.tellings:
            name = telling.plan.streams[0].stream.name
            found += _retold(version, telling, archives[name])
        for name, archive in archives.items():
            readings = NOTHING
            if name in needed.reaches:
                readings = _readings(archive, needed.reaches[name])
            found.append(fill(version, name, readings, self.shards))
        return found


def _is_timed(regions: object) -> bool:
    return bool((regions.begin != ALWAYS).any())  # type: ignore[attr-defined]


def _tellings(change: Change, living: LivingPlan) -> list[Telling]:
    """Of queries of one stream whose time may be past. Triggers and patterns tell nothing but what comes."""
    queries, found = change.plan.queries, list[Telling]()
    for number in (int(n) for n in change.new_queries if queries.begin[n] != ALWAYS):
        member = living.queries.get(queries[number].name)
        if member is None or member.number != number or member.query.kind != "query":
            continue
        streams = {scan.stream.name for scan in member.query.scans}
        part = next(p for p in change.plan.streams if p.stream.name in streams)
        if len(streams) == 1 and is_kept(part):
            begin = int(queries.begin[number])
            plan = OncePlanner(living).plan_of(member.own, member.sql, begin)
            found.append(Telling(number, int(queries.template[number]), begin, plan))
    return found


def _readings(archive: Archive, reach: int | None) -> pa.Table:
    end = archive.archived_to
    if end is None or archive.kept_from is None:
        return NOTHING
    since = None if reach is None else max(archive.kept_from, end - reach)
    _, first = since_of(archive, end, None if since is None else end - since)
    begin = archive.kept_from if since is None else since
    rest = [pa.Table.from_batches([batch]) for batch in archive.readings(begin, end)]
    return pa.concat_tables([first, *rest]).combine_chunks()


def _retold(version: int, telling: Telling, archive: Archive) -> list[Batch]:
    end, begin = archive.archived_to, archive.kept_from
    if end is None or begin is None or telling.begin > end:
        return []
    updates, held = told_since(telling.plan, archive, max(begin, telling.begin), end)
    stream = telling.plan.streams[0].stream.name
    mine = [_of(rows, telling.number) for rows in (updates, held)]
    return retold(version, stream, telling.template, *mine)


def _of(rows: pa.Table, number: int) -> pa.Table:
    at = rows.column_names.index("query")
    return rows.set_column(at, rows.schema.field(at), pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows))
