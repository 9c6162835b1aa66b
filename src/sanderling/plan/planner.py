"""Statements in, a plan out: keeps the catalog, checks each statement against it, shares templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from sanderling.catalog import Archiving, BroughtState, Column, History, Names, Stream, Table, Written
from sanderling.clock import LAST_US, tick_end, time_of
from sanderling.errors import (
    ODD_CHARACTER,
    ConfigError,
    QueryError,
    SanderlingError,
    did_you_mean,
    with_article,
)
from sanderling.figures.figures import Tally
from sanderling.ingest.files import STREAM_FORMATS, format_of, unpacking_in
from sanderling.ingest.infer import Roles, inferred_columns
from sanderling.ingest.query_rows import QueryRows, load_queries
from sanderling.language import parse_script, read_script
from sanderling.language.script import Row, columns_of, read_row, reader_of
from sanderling.language.shapes import constant_of, grouped
from sanderling.language.statements import (
    Ask,
    At,
    Coverage,
    CreateArchive,
    CreateRegion,
    CreateStream,
    CreateTable,
    CreateTrigger,
    DeleteFrom,
    DeleteFromArchive,
    DescribeArchive,
    DescribeDeclared,
    DescribeQuery,
    DescribeRegion,
    Drop,
    Explain,
    InsertInto,
    RefreshTable,
    RegisterPattern,
    RegisterQueries,
    RegisterQuery,
    Registration,
    Replace,
    Show,
    Span,
    Statement,
    TableChange,
    Value,
)
from sanderling.plan.archives import Archives, Erasure, erasure_of
from sanderling.plan.archives import described as described_archive
from sanderling.plan.archives import shown as shown_archives
from sanderling.plan.build.build import build_plan
from sanderling.plan.declarations import QUERIES_OPTIONS, TABLE_OPTIONS, Declarations
from sanderling.plan.explain.explain import explain_query
from sanderling.plan.grow.placed import placed_rows
from sanderling.plan.grow.replacing import Refuse, replacing
from sanderling.plan.grow.table_changes import Read, TableChanges, read_in
from sanderling.plan.listing import (
    Listing,
    described,
    described_region,
    described_stream,
    described_table,
    shown,
)
from sanderling.plan.logical import Query, Rule
from sanderling.plan.many.cohorts import Cohort, Member, Queries
from sanderling.plan.many.query_table import QueryTable
from sanderling.plan.many.shapes import Group, Run, cohorts_of
from sanderling.plan.pattern.patterns import read_pattern
from sanderling.plan.query.compose import QueryReader
from sanderling.plan.query.relations import Relations
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plan.rules import RULES
from sanderling.plan.trigger.triggers import read_trigger
from sanderling.plans import trigger_space
from sanderling.plans.plan import ALWAYS, NEVER, Plan

Describing = DescribeQuery | DescribeRegion | DescribeDeclared | DescribeArchive


class Planner:
    """The catalog and the statements that change it.

    Promises (tests/plan): a refused statement changes nothing; statements at times take effect in
    order of time, those without before all others.
    """

    def __init__(
        self, folder: Path | None = None, is_one_by_one: bool = False, read: Read | None = None,
        data: Path | None = None, rules: Sequence[Rule] = RULES,
    ):  # fmt: skip
        """`read` reads the files of tables; it may remember what it has read. No path leads out of `data`.

        What is packed is unpacked in `folder`; without one nothing of it stays.
        """
        self.streams: Names[Stream] = Names()
        self.tables: Names[Table] = Names()
        self.regions: Names[Coverage] = Names()
        self.queries = Queries()
        self.states: Names[BroughtState] = Names()  # of patterns, that a program brings; no SQL can
        # Where something runs: patterns that have ended by themselves, by number, and why.
        self.failed: Mapping[int, str] = {}
        # What operators have done so far, where something runs; without, EXPLAIN ANALYZE waits for the end.
        self.figures: Tally | None = None
        self.analyzed: list[str] = []
        self.erasures: list[Erasure] = []  # to be done by whoever runs statements
        # Who takes a SELECT by itself, with the script's text and the time that stands before it.
        self.asked: Callable[[Ask, str, Value | None], None] | None = None
        self._names: dict[str, Names[Any] | Queries] = {
            "stream": self.streams, "table": self.tables, "region": self.regions, "query": self.queries
        }  # fmt: skip
        self.data, self.rules = data, rules
        self._folder, self._read, self._data = folder, read or read_in(data), data
        self._archives = Archives(self.streams, data)
        self._names["archive"] = self._archives.names
        self._relations = Relations(self.streams, self.tables, self.regions, self._kind_of)
        self._selects = SelectPlanner(self._relations)
        self._reader = QueryReader(self._selects, self._query_of, rules)
        # Each statement read by itself: the plain twin of reading what repeats once.
        self._is_one_by_one = is_one_by_one

    # ----- running statements

    def run_script(self, text: str) -> list[Listing]:
        """Runs a whole script; what it asked to see comes back in order."""
        statements = list(parse_script(text)) if self._is_one_by_one else read_script(text)
        timed = [s for s in statements if _is_timed(s)]
        listings = self._run_all([(None, s) for s in statements if not _is_timed(s)], text)
        # Stable: statements of one time stay in the order they were written.
        in_order = sorted(((self._time_of(s, text), s) for s in timed), key=lambda pair: pair[0])
        return listings + self._run_all(in_order, text)

    def _run_all(self, statements: Sequence[tuple[int | None, Statement | Row]], text: str) -> list[Listing]:
        """Statements with their times, in order; those that repeat are registered together."""
        listings = []
        for is_row, group in groupby(statements, key=lambda pair: isinstance(pair[1], Row)):
            times, found = zip(*group, strict=True)
            if is_row:
                self._run_rows(text, found, times)
            else:
                listings += [self.run(statement, text) for statement in found]
        return [listing for listing in listings if listing is not None]

    def _run_rows(self, text: str, found: Sequence[Row], times: Sequence[int | None]) -> None:
        """Those from which on there are many triggers are another run: they are routed otherwise."""
        triggers = np.cumsum([row.shape is not None and row.shape.is_trigger for row in found])
        edge = int(np.searchsorted(triggers, max(0, trigger_space.FEW - self.queries.triggers), side="right"))
        for some in (slice(edge), slice(edge, None)):
            run = self._run_of(text, found[some], times[some])
            for cohorts in cohorts_of(run, self._checked, self._first_clash(run.names)):
                self.queries.add(cohorts)

    def _run_of(self, text: str, rows: Sequence[Row], times: Sequence[int | None]) -> Run:
        read, groups = reader_of(text, rows), []
        for shape, numbers in grouped(row.shape for row in rows).items():
            mine = [rows[number] for number in numbers]
            assert shape is not None
            groups.append(Group(shape, np.array(numbers), columns_of(mine), reader_of(text, mine)))

        def by_itself(row: int) -> Query:
            statement = read(row).statement
            self._refuse_taken(statement, text)
            return self._checked(statement, text)

        since = np.array([ALWAYS if t is None else t for t in times], np.int64)
        return Run([row.name for row in rows], [row.sql for row in rows], since, groups, by_itself)

    def _first_clash(self, names: Sequence[str]) -> list[int]:
        """The first whose name is taken, if there is one: there the run ends."""
        folded = [name.casefold() for name in names]
        distinct = set(folded)
        if len(distinct) == len(folded) and not self._has_any(distinct):
            return []
        seen: set[str] = set()
        for row, name in enumerate(folded):
            if name in seen or self._kind_of(name):
                return [row]
            seen.add(name)
        return []

    def run(self, statement: Statement, text: str) -> Listing | None:
        """Runs one statement; `text` is what its spans count in."""
        at: int | None = None
        written: Value | None = None
        if isinstance(statement, At):
            at, written = self._time(statement, text), statement.time
            statement = statement.statement
            if isinstance(statement, (At, CreateStream)) or (
                isinstance(statement, Drop) and statement.kind == "STREAM"
            ):
                place = statement.span.place_in(text)
                raise QueryError(
                    "query.not_timed", "this statement cannot stand after AT", "leave out AT", place
                )
        match statement:
            case CreateStream():
                self._refuse_taken(statement, text)
                self.streams.put(statement.name.text, Declarations(text).stream(statement, self._infer))
            case CreateTable():
                self._refuse_taken(statement, text)
                self.tables.put(statement.name.text, self._table(statement, text))
            case CreateRegion():
                self._refuse_taken(statement, text)
                coverage = self._relations.coverage(statement.coverage, text)
                self.regions.put(statement.name.text, coverage)
            case CreateArchive():
                self._refuse_taken(statement, text)
                self._archives.create(statement, text)
            case DescribeArchive():
                return described_archive(self._known(self._archives.names, "archive", statement, text))
            case DeleteFromArchive():
                archive = self._known(self._archives.names, "archive", statement, text)
                self.erasures.append(erasure_of(archive, statement, text))
            case InsertInto() | DeleteFrom() | RefreshTable():
                self._change_table(statement, text, at)
            case RegisterQuery() | CreateTrigger() | RegisterPattern():
                self._register(statement, text, at)
            case Replace():
                self._replace(statement, text, at)
            case RegisterQueries():
                self._register_table(statement, text, at)
            case Drop():
                self._drop(statement, text, at)
            case Ask():
                self._ask(statement, text, written)
            case Show():
                if statement.kind == "ARCHIVES":
                    return shown_archives(self._archives.names.values())
                return shown(
                    statement.kind, self.streams.values(), self.tables.values(),
                    {name: self.regions.get(name) for name in self.regions}, self.queries.values(),
                    self.failed,
                )  # fmt: skip
            case DescribeQuery():
                return described(self._asked(statement, text))
            case DescribeDeclared("stream"):
                return described_stream(self._known(self.streams, "stream", statement, text))
            case DescribeDeclared():
                return described_table(self._known(self.tables, "table", statement, text))
            case DescribeRegion():
                region = self._known(self.regions, "region", statement, text)
                return described_region(statement.name.text, region)
            case Explain():
                registered = self._asked(statement, text)
                if statement.is_analyze and self.figures is None:
                    self.analyzed.append(registered.name)
                    return None
                return explain_query(
                    self.plan(), registered.name, self.figures if statement.is_analyze else None
                )
        return None

    def _ask(self, statement: Ask, text: str, at: Value | None) -> None:
        if self.asked is None:
            message = "a SELECT by itself is asked here, not told among other statements"
            hint = "ask it alone: session.query(…), or sanderling ask; to keep it, REGISTER QUERY name AS …"
            raise QueryError("query.not_alone", message, hint, statement.span.place_in(text))
        self.asked(statement, text, at)

    def plan(self) -> Plan:
        """What every shard is to do."""
        plan = build_plan(self.streams.values(), self.queries.over(self.tables), self.tables)
        return self._archives.in_(plan)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """If one of several statements is refused, none of them was there."""
        names, queries = [n for n in self._names.values() if isinstance(n, Names)], self.queries.mark()
        erasures = list(self.erasures)
        marks = [n.mark() for n in names]
        try:
            yield
        except BaseException:
            for name, mark in zip(names, marks, strict=True):
                name.back_to(mark)
            self.queries.back_to(queries)
            self.erasures = erasures
            self._selects.forget()
            raise

    def archive_of(self, stream: str) -> Archiving | None:
        """The archive that is declared of a stream."""
        return self._archives.of(stream)

    # ----- names

    def _kind_of(self, name: str) -> str | None:
        kind = next((kind for kind, names in self._names.items() if name in names), None)
        member = self.queries.get(name)
        return member.query.kind if kind == "query" and member is not None else kind

    def _query_of(self, name: str) -> Query | None:
        """What a trigger tells is nothing to read from; what a pattern tells has a window."""
        member = self.queries.get(name)
        return None if member is None or member.query.kind == "trigger" else member.own

    def _has_any(self, folded: set[str]) -> bool:
        return any(names.has_any(folded) for names in self._names.values())

    def _refuse_taken(
        self, statement: CreateStream | CreateTable | CreateRegion | CreateArchive | Registration, text: str
    ) -> None:
        name = statement.name
        kind = self._kind_of(name.text)
        if kind:
            place = name.span.place_in(text)
            hint = f"choose another name, or DROP {kind.upper()} {name.text} first"
            raise QueryError(
                "query.name_taken", f'{with_article(kind)} is named "{name.text}" already', hint, place
            )

    def _known(
        self, names: Names[Any] | Queries, kind: str,
        statement: Drop | Describing | Explain | TableChange | DeleteFromArchive | Replace,
        text: str,
    ) -> Any:  # fmt: skip
        name = statement.name
        found, other = names.get(name.text), self._kind_of(name.text)
        if found is None or other != kind:
            hint = (
                f'"{name.text}" is {with_article(other)}'
                if other
                else did_you_mean(name.text, [n for n in names if self._kind_of(n) == kind])
                or f"there is no {kind} yet"
            )
            place = name.span.place_in(text)
            raise QueryError(f"query.unknown_{kind}", f'no {kind} is named "{name.text}"', hint, place)
        return found

    def _asked(self, statement: DescribeQuery | Explain, text: str) -> Member:
        """A query, a trigger or a pattern."""
        kind = self._kind_of(statement.name.text)
        found: Member = self._known(
            self.queries, kind if kind in ("trigger", "pattern") else "query", statement, text
        )
        return found

    def _time_of(self, statement: Statement | Row, text: str) -> int:
        if isinstance(statement, Row):
            time = time_of(constant_of(statement.at or ""))
            if time is not None and time <= self._latest():
                return time
            statement = read_row(text, statement)  # to say what is wrong with it
        assert isinstance(statement, At)
        return self._time(statement, text)

    def _latest(self) -> int:
        # A tick ends up to its own length later; that end has to be a time too.
        return LAST_US - max((s.tick_us for s in self.streams.values()), default=0)

    def _time(self, statement: At, text: str) -> int:
        time = time_of(statement.time.value)
        if time is None or time > self._latest():
            place = statement.time.span.place_in(text)
            hint = "AT '2008-05-23 19:00:00' (UTC), or a number of seconds since 1970"
            raise QueryError("query.bad_time", f"this is not a time: {statement.time.value}", hint, place)
        return time

    # ----- tables

    def _infer(self, path: str, format: str, written: Written, roles: Roles) -> tuple[Column, ...]:
        """The columns that nobody declares; where nothing is yet to tell them from, they have to be."""
        try:
            known = format_of(path, format or None, STREAM_FORMATS, self._data)
            with unpacking_in(self._folder) as folder:
                return inferred_columns(path, known, written, roles, folder, self._data)
        except ConfigError as e:
            if e.code != "config.missing_file":
                raise
            hint = f"{e.hint}; declare the columns of files that are yet to come"
            raise ConfigError(e.code, e.message, hint) from e

    def _table(self, statement: CreateTable, text: str) -> Table:
        declarations = Declarations(text)
        columns = declarations.table_columns(statement)
        options = declarations.options(statement.options, TABLE_OPTIONS)
        path = declarations.text_option(options, "path")
        if path is None:
            span = statement.name.span
            raise declarations.refuse(
                "query.missing_option", "a table needs a path", "WITH (path = '…')", span
            )
        format_ = declarations.format_option(options, ("csv", "json", "parquet", "geojson")) or None
        form = declarations.table_form(options)
        is_globe = declarations.globe_option(statement, options)
        try:
            with unpacking_in(self._folder) as folder:
                found, rows, region, notes = self._read(
                    statement.name.text, columns, statement.key.text, path, format_, folder, form
                )
        except SanderlingError as e:
            # The loader knows no text: point at the clause that its complaint is about.
            key_codes = ("query.duplicate_key", "query.missing_key_value", "query.unknown_column")
            span = statement.key.span if e.code in key_codes else options["path"].span
            hint = e.hint or "mend the file, or name another"
            raise type(e)(e.code, e.message, hint, span.place_in(text)) from e
        place = declarations.table_place(statement, found)
        try:
            rows = placed_rows(rows, region, place, is_globe)
        except QueryError as e:
            raise QueryError(e.code, e.message, e.hint, options["path"].span.place_in(text)) from e
        key = form.row_key or next(
            c.name for c in found if c.name.casefold() == statement.key.text.casefold()
        )
        return Table(
            statement.name.text,
            found,
            key,
            History.of(rows),
            region,
            path,
            format_,
            place,
            form,
            is_globe,
            notes,
        )

    def _change_table(self, change: TableChange, text: str, at: int | None) -> None:
        table = self._known(self.tables, "table", change, text)
        changes = TableChanges(text, self._selects, self._folder, self._read)
        self.tables.put(table.name, changes.changed(table, change, ALWAYS if at is None else at))

    # ----- queries

    def _register(self, statement: Registration, text: str, at: int | None) -> None:
        self._refuse_taken(statement, text)
        query = self._checked(statement, text)
        begin = ALWAYS if at is None else tick_end(at, query.stream.tick_us)
        name = statement.name.text
        self.queries.add([(np.zeros(1, np.int64), Cohort.of_one(name, query, statement.sql, begin))])

    def _replace(self, statement: Replace, text: str, at: int | None) -> None:
        new, span = statement.statement, statement.name.span
        kind = "pattern" if isinstance(new, RegisterPattern) else "query"
        member: Member = self._known(self.queries, kind, statement, text)
        self._refuse_in_use(kind, member.name, text, span)
        query = self._checked(new, text)

        def refuse(why: str) -> QueryError:
            word = kind.upper()
            hint = f"DROP {word} {member.name}, then REGISTER {word} {member.name} AS …"
            message = f'{kind} "{member.name}" cannot go on as this: {why}'
            return QueryError("query.not_replaceable", message, hint, span.place_in(text))

        if member in self.queries.replaced:
            raise refuse("it goes on as another by the same script; say them one by one")
        tick = ALWAYS if at is None else tick_end(at, query.stream.tick_us)
        if member.number is None and tick <= member.begin:
            cohort = Cohort.of_one(member.name, query, new.sql, member.begin)
        else:
            cohort = self._going_on(member, query, new.sql, tick, refuse)
        self.queries.replace(member.name, cohort)

    def _going_on(self, member: Member, query: Query, sql: str, tick: int, refuse: Refuse) -> Cohort:
        return replacing(member, query, sql, tick, refuse)

    def _checked(self, statement: Registration, text: str) -> Query:
        if isinstance(statement, CreateTrigger):
            return read_trigger(self._selects, statement, text, self.queries.triggers, self._reader.rules)
        if isinstance(statement, RegisterPattern):
            return read_pattern(self._reader, statement, text, self.states)
        return self._reader.read(statement, text)

    def _register_table(self, statement: RegisterQueries, text: str, at: int | None) -> None:
        declarations = Declarations(text)
        options = declarations.options(statement.options, QUERIES_OPTIONS)
        format_ = declarations.format_option(options) or None

        try:
            with unpacking_in(self._folder) as folder:
                table = load_queries(str(statement.path.value), format_, folder, self._data)
            self._refuse_taken_names(table)
            run = QueryTable(table, at, self._checked).run()
            found = [pair for cohorts in cohorts_of(run, self._checked) for pair in cohorts]
        except SanderlingError as e:
            if e.place is not None:
                raise  # it points into a template
            span = statement.path.span
            hint = e.hint or "mend the file, or name another"
            raise type(e)(e.code, e.message, hint, span.place_in(text)) from e
        self.queries.add(found)

    def _refuse_taken_names(self, table: QueryRows) -> None:
        seen: set[str] = set()
        for row, name in enumerate(table.names):
            folded = name.casefold()
            if ODD_CHARACTER.search(name):
                raise QueryError(
                    "query.bad_table_row", f"row {row + 1} has a name that cannot be written", "rename it"
                )
            if folded in seen:
                raise QueryError(
                    "query.duplicate_key", f"{table.shown(row)} has a name that stands before it",
                    "give each query a name of its own",
                )  # fmt: skip
            seen.add(folded)
        if self._has_any(seen):
            row, kind = next((i, k) for i, n in enumerate(table.names) if (k := self._kind_of(n)))
            raise QueryError(
                "query.name_taken", f"{table.shown(row)}: {with_article(kind)} has this name already",
                "choose another name, or drop what has it",
            )  # fmt: skip

    def _drop(self, statement: Drop, text: str, at: int | None) -> None:
        kind = statement.kind.lower()
        names = self._names["query" if kind in ("trigger", "pattern") else kind]
        found = self._known(names, kind, statement, text)
        self._refuse_in_use(kind, statement.name.text, text, statement.name.span)
        if kind == "stream":
            self._archives.refuse_in_use(found.name, statement, text)
        if isinstance(names, Queries):
            names.end(statement.name.text, None if at is None else tick_end(at, found.query.stream.tick_us))
        else:
            self._selects.forget()
            names.remove(statement.name.text)

    def _refuse_in_use(self, kind: str, name: str, text: str, span: Span) -> None:
        folded = name.casefold()
        users = [
            q
            for q in [*self.queries.values(), *self.queries.ended]
            if folded in (used.casefold() for used in q.query.used(kind))
            and (kind in ("stream", "table") or q.end == NEVER)
        ]
        if users:
            user, what = users[0].name, users[0].query.kind
            raise QueryError(
                "query.in_use", f'{kind} "{name}" is used by {what} "{user}"',
                f"DROP {what.upper()} {user} first",
                span.place_in(text),
            )  # fmt: skip


def _is_timed(statement: Statement | Row) -> bool:
    return statement.at is not None if isinstance(statement, Row) else isinstance(statement, At)


__all__ = ["Listing", "Planner"]
