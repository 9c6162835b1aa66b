"""What a client's SQL may do: see, register and drop what is its own. No file, no network, no setting.

text ──► statements ──► allowed kinds ──► a trial ──► nothing of others read ──► run, with nobody in between
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sanderling.errors import QueryError, SanderlingError, ServerError
from sanderling.language.statements import (
    Ask,
    At,
    CreateArchive,
    CreateStream,
    CreateTable,
    CreateTrigger,
    DescribeQuery,
    DescribeRegion,
    Drop,
    Explain,
    RefreshTable,
    RegisterPattern,
    RegisterQueries,
    RegisterQuery,
    Show,
    Statement,
)
from sanderling.plan.listing import Listing
from sanderling.server.rights.owners import Owners
from sanderling.server.rights.tokens import Token
from sanderling.session.host import Host, Outcome, statements_in, without_time

QUERY_KINDS = ("QUERY", "TRIGGER", "PATTERN")
ASKING = (Show, DescribeQuery, DescribeRegion, Explain)
REGISTRATIONS = (RegisterQuery, CreateTrigger, RegisterPattern)
FOR_CLIENTS = (*REGISTRATIONS, *ASKING, Ask)
READS_FILES = (CreateTable, CreateArchive, RegisterQueries, RefreshTable)
# Names that the server gives to queries of its own.
OWN = "sanderling:"


@dataclass(frozen=True, slots=True)
class Statements:
    """Runs what somebody sent.

    Promises (tests/server/test_hostile.py, test_clients.py): a client reaches nothing but streams, tables,
    regions and its own queries, and is told of no other's; what was registered has an owner.
    """

    host: Host
    owners: Owners
    reads_files: bool  # whether paths start from a folder that they cannot lead out of

    def run(self, sql: str, token: Token, is_dry: bool = False) -> Outcome:
        statements = self._allowed(sql, token)
        if not is_dry and len(statements) == 1 and isinstance(without_time(statements[0]), Ask):
            with self._without_others(token):
                return self.host.ask(sql, lambda name: self.may_see(token, name))
        with self.host.alone(), self._without_others(token):
            found = self._seen(self.host.trial(sql), token)
            if is_dry or all(isinstance(s, ASKING) for s in statements):
                return found
            names = [member.name for member in found.registered]
            self._refuse_too_many(token, len(names))
            before = {name: self.owners.of(name) for name in names}
            self.owners.claim(names, token.owner)
            try:
                ran = self.host.run(sql)
            except BaseException:  # what is there still is whose it was
                self.owners.give(before)
                raise
            self.owners.forget(set(ran.dropped) - set(names))
            return replace(ran, listings=found.listings)

    def count(self, sql: str) -> int:
        return len(statements_in(sql))

    def may_see(self, token: Token, name: str) -> bool:
        return token.is_operator or self.owners.of(name) == token.owner

    # ----- what is refused

    def _allowed(self, sql: str, token: Token) -> list[Statement]:
        most = token.limits.sql_bytes
        if len(sql.encode()) > most:
            raise ServerError("limit.sql", f"statements may have {most >> 10:,} KiB", "send them in pieces")
        statements = statements_in(sql)
        for statement in statements:
            self._refuse(statement, sql, token)
        return statements

    def _refuse(self, statement: Statement, sql: str, token: Token) -> None:
        if isinstance(statement, At):
            return self._refuse(statement.statement, sql, token)
        place = statement.span.place_in(sql)
        is_of_file = isinstance(statement, READS_FILES) or (
            isinstance(statement, CreateStream) and "path" in statement.options
        )
        if is_of_file and not self.reads_files:
            raise ServerError(
                "auth.forbidden", "statements that come over the network may not read files",
                "start the server with --data FOLDER", place,
            )  # fmt: skip
        if isinstance(statement, REGISTRATIONS) and statement.name.text.startswith(OWN):
            raise ServerError("auth.forbidden", f"names that begin with {OWN} are the server's", "", place)
        if token.is_operator or isinstance(statement, (Show, DescribeRegion)):
            return
        if isinstance(statement, Drop) and statement.kind in QUERY_KINDS:
            return self._refuse_others(statement, sql, token)
        if not isinstance(statement, FOR_CLIENTS):
            raise ServerError(
                "auth.forbidden",
                "a client may register, drop and look at queries",
                "an operator may do this",
                place,
            )
        if isinstance(statement, DescribeQuery | Explain):
            self._refuse_others(statement, sql, token)

    def _refuse_others(self, statement: Drop | DescribeQuery | Explain, sql: str, token: Token) -> None:
        """Another's query is not there, as far as a client can tell."""
        name = statement.name
        if not self.may_see(token, name.text):
            raise QueryError(
                "query.unknown_query", f'no query is named "{name.text}"', "", name.span.place_in(sql)
            )

    def _refuse_too_many(self, token: Token, new: int) -> None:
        most = token.limits.queries
        if new and self.owners.count(token.owner) + new > most:
            raise ServerError("limit.queries", f"you may have {most:,} queries", "drop some of them")

    def _seen(self, outcome: Outcome, token: Token) -> Outcome:
        """Without what is others'."""
        if token.is_operator:
            return outcome
        mine = {member.name.casefold() for member in outcome.registered}
        for member in outcome.registered:
            for name in member.query.queries:
                if name.casefold() not in mine and not self.may_see(token, name):
                    raise QueryError("query.unknown_stream", f'no stream is named "{name}"')
        return replace(outcome, listings=tuple(self._own(shown, token, mine) for shown in outcome.listings))

    def _own(self, listing: Listing, token: Token, mine: set[str]) -> Listing:
        if listing.title not in ("queries", "triggers", "patterns"):
            return listing
        rows = tuple(r for r in listing.rows if r[0].casefold() in mine or self.may_see(token, r[0]))
        return replace(listing, rows=rows)

    def _without_others(self, token: Token) -> Hinting:
        return Hinting(lambda name: self.may_see(token, name), self.host)


class Hinting:
    """An error that comes out of it gives no hint that names another's query."""

    def __init__(self, may_see: Callable[[str], bool], host: Host):
        self._may_see, self._host = may_see, host

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: object) -> None:
        if isinstance(e, SanderlingError) and e.hint and self._names_others(e.hint):
            raise type(e)(e.code, e.message, "", e.place) from e

    def _names_others(self, hint: str) -> bool:
        names: Sequence[str] = [m.name for m in self._host.seen().members]
        return any(name in hint for name in names if not self._may_see(name))


__all__ = ["OWN", "REGISTRATIONS", "Statements"]
