"""What whoever serves a session to others needs of it, beside what its users call.

judged(sql) ──► what it would bring ──► may they? ──► run(sql), with nobody in between
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sanderling.ask.page import texts_of
from sanderling.catalog import Stream, Table
from sanderling.deliver.log import Log
from sanderling.figures.arrivals import Arrivals
from sanderling.language import parse_script
from sanderling.language.statements import At, Coverage, Statement
from sanderling.plan.listing import Listing
from sanderling.plan.many.cohorts import Member
from sanderling.plans.plan import Plan, Template
from sanderling.session.reader import Listener, Reader
from sanderling.spark.plans import PlanFolder

if TYPE_CHECKING:
    from sanderling.session.session import Session

# How long a client waits for the answer of a SELECT.
ASKED_S = 30.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What statements have done, or would do: queries that came, names that went, what was asked to see."""

    registered: tuple[Member, ...]
    dropped: tuple[str, ...]
    listings: tuple[Listing, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is now."""

    streams: tuple[Stream, ...]
    tables: tuple[Table, ...]
    regions: dict[str, Coverage]
    members: tuple[Member, ...]  # queries, triggers and patterns, in order of registration
    plan: Plan


class _Enough(Exception):
    """Ends a trial; what it did is undone."""


class Host:
    """Promises (tests/server/test_host.py): a trial leaves everything as it was; between a judgement and what
    is done after it nobody else changes anything."""

    def __init__(self, session: Session):
        self.session = session

    # ----- statements

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else changes the session meanwhile."""
        with self.session._lock:
            yield

    def trial(self, sql: str) -> Outcome:
        """What statements would do; whatever is wrong with them is raised."""
        session, found = self.session, list[Outcome]()
        with self.alone(), suppress(_Enough), session._tables.all_or_nothing():
            session._refuse_stopped()
            living = session._living
            before = living.queries.mark().members
            with living.all_or_nothing():
                listings = tuple(living.run_script(sql))
                found.append(_outcome(before, living.queries.mark().members, listings))
                raise _Enough
        return found[0]

    def run(self, sql: str) -> Outcome:
        """Runs statements, all or none."""
        session = self.session
        with self.alone():
            before = session._living.queries.mark().members
            shown = session.execute(sql)
            listings = () if shown is None else (_listing(shown),)
            return _outcome(before, session._living.queries.mark().members, listings)

    def ask(self, sql: str, may_see: Callable[[str], bool]) -> Outcome:
        """Answers a SELECT by itself, for one to whom only some queries are there."""
        told = self.session._query(sql, ASKED_S, may_see)
        rows = tuple(zip(*texts_of(told), strict=True))
        return Outcome((), (), (Listing("", tuple(told.column_names), rows),))

    def seen(self) -> Seen:
        living = self.session._living
        with self.alone():
            regions = {name: coverage for name in living.regions if (coverage := living.regions.get(name))}
            return Seen(
                tuple(living.streams.values()), tuple(living.tables.values()), regions,
                tuple(living.queries.values()), living.plan(),
            )  # fmt: skip

    def member(self, name: str) -> Member | None:
        """A query, a trigger or a pattern."""
        with self.alone():
            return self.session._living.queries.get(name)

    # ----- what is told

    def number_of(self, name: str) -> int:
        """Raises if there is no such query."""
        self.session._running()
        return self.session._desk.number_of(name)

    def reading_of(self, number: int) -> tuple[Template, tuple[str, ...], bool]:
        """What a query's rows are, for which streams its ticks wait, and whether it holds nothing."""
        desk = self.session._desk
        return desk.template_of(number), desk.streams_of(number), desk.is_told_only(number)

    def read_along(self, number: int, reader: Reader) -> None:
        self.session._running()
        self.session._desk.read_along(number, reader)

    def listen(self, listener: Listener) -> None:
        self.session._desk.listen(listener)

    def forget(self, listener: Listener) -> None:
        self.session._desk.forget(listener)

    def arrivals(self) -> dict[str, Arrivals]:
        """What came of rows, by stream, in this run."""
        return self.session._desk.figures.arrivals

    # ----- what is kept

    @property
    def log(self) -> Log:
        return Log(self.session._work / "said")

    @property
    def plans(self) -> PlanFolder:
        """All versions so far, with the names of queries."""
        return self.session._named

    @property
    def folder(self) -> Path:
        """Where the session keeps what it is to know after a restart."""
        return self.session._work

    @property
    def why_over(self) -> BaseException | None:
        """Why nothing more will come, if so."""
        return self.session._why_over()


def statements_in(sql: str) -> list[Statement]:
    return list(parse_script(sql))


def _outcome(before: dict[str, Member], now: dict[str, Member], listings: Sequence[Listing]) -> Outcome:
    came = tuple(m for name, m in now.items() if before.get(name) is not m)
    went = tuple(m.name for name, m in before.items() if name not in now)
    return Outcome(came, went, tuple(listings))


def without_time(statement: Statement) -> Statement:
    """What stands behind AT and its time."""
    return statement.statement if isinstance(statement, At) else statement


def _listing(shown: pa.Table) -> Listing:
    columns = tuple(shown.column_names)
    rows = tuple(tuple(map(_text, row.values())) for row in shown.to_pylist())
    return Listing("", columns, rows)


def _text(value: object) -> str:
    """As a listing shows it."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(value or "")


__all__ = ["Host", "Outcome", "Seen", "statements_in"]
