"""A SELECT is answered: by DuckDB, over answers as at the end of one batch, and over catalogs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sanderling.errors import QueryError, SanderlingError, ServerError
from sanderling.relational import Question as Cursor
from sanderling.relational import Refused, Stopped
from sanderling.server.postgres import translate
from sanderling.server.postgres.catalogs import DATABASE, SCHEMA, Catalogs
from sanderling.server.postgres.relations import Relation, Relations
from sanderling.server.postgres.translate import Question, Wanted

if TYPE_CHECKING:
    from sanderling.server.postgres.listener import Listener

SECONDS_TO_ANSWER = 30.0
MOST_BYTES = 64 << 20
VERSION = "PostgreSQL 14.0 (Sanderling)"
NO_COLUMN = re.compile(r'(?:column|alias) (?:named )?"([^"]+)"')
NO_FUNCTION = re.compile(r"Function with name (\S+) does not exist")
CANDIDATES = re.compile(r"Candidate bindings: (.+)")


class Asker:
    """Of one connection. May be stopped while it asks."""

    def __init__(self, relations: Relations, catalogs: Catalogs, listener: Listener):
        self._relations, self._catalogs, self._listener = relations, catalogs, listener
        self._cursor: Cursor = listener.database.new()
        token = relations.token
        self._constants = {
            "version": VERSION, "current_schema": SCHEMA, "current_database": DATABASE,
            "current_catalog": DATABASE, "current_user": token.owner, "session_user": token.owner,
            "user": token.owner, "current_role": token.owner,
        }  # fmt: skip
        self._is_stopped = False

    async def answer(self, question: Question, parameters: Sequence[exp.Expr]) -> pa.Table:
        self._is_stopped = False
        async with self._listener.turn(self._relations.token):
            tables = await self._tables(question)
            write = translate.written
            sql = await self._listener.beside(
                write, question, parameters, self._constants, self._catalogs.oids
            )
            return await self._worked_out(question, sql, tables)

    async def _worked_out(self, question: Question, sql: str, tables: dict[str, pa.Table]) -> pa.Table:
        asking = self._listener.asked(self._cursor.answer, sql, tables, MOST_BYTES)
        try:
            done, _ = await asyncio.wait([asking], timeout=SECONDS_TO_ANSWER)
            if not done:
                self._cursor.stop()
            return await asking
        except asyncio.CancelledError:
            self._cursor.stop()
            raise
        except Stopped:
            raise self._why_stopped() from None
        except Refused as e:
            raise _in_our_words(e, question.sql) from e

    async def read(self, sql: str) -> Question:
        return await self._listener.beside(translate.read, sql)

    async def shape(self, question: Question) -> pa.Schema:
        """The columns it will have."""
        nothing = [exp.Null()] * question.parameters
        return (await self.answer(question, nothing)).schema

    def stop(self) -> None:
        """Whoever asked wants no answer any more."""
        self._is_stopped = True
        self._cursor.stop()

    def _why_stopped(self) -> SanderlingError:
        if self._is_stopped:
            return ServerError("request.canceled", "the statement was cancelled")
        return ServerError("limit.time", f"no answer within {SECONDS_TO_ANSWER:g} seconds", "ask for less")

    async def _tables(self, question: Question) -> dict[str, pa.Table]:
        catalogs = [w for w in question.wanted if Catalogs.has(w.schema, w.name)]
        others = [w for w in question.wanted if w not in catalogs]
        for wanted in others:
            if wanted.schema not in ("", SCHEMA):
                name = f"{wanted.schema}.{wanted.name}"
                raise QueryError("query.unknown_table", f'nothing is named "{name}"', "", wanted.place)
        found = {}
        if catalogs or "reg" in question.sql:
            found = await self._listener.beside(self._of_catalogs, catalogs)
        rows = await self._relations.rows({w.name: w.place for w in others}) if others else {}
        return found | {w.alias: rows[w.name] for w in others}

    def _of_catalogs(self, wanted: Sequence[Wanted]) -> dict[str, pa.Table]:
        relations: list[Relation] = self._relations.all()
        self._catalogs.number(relations)
        return {w.alias: self._catalogs.table(w.schema, w.name, relations) for w in wanted}


def _in_our_words(e: Exception, sql: str) -> QueryError:
    """What DuckDB says of a text that it was given, of the text that was written."""
    words = str(e)
    message = re.sub(r"^[\w ]*Error: ", "", words.split("\n")[0])
    if (found := NO_COLUMN.search(message)) is not None:
        candidates = CANDIDATES.search(words)
        hint = "" if candidates is None else f"there are {candidates[1]}"
        place = translate.place_of(found[1], sql)
        return QueryError("query.unknown_column", f'no column is named "{found[1]}"', hint, place)
    if (found := NO_FUNCTION.search(message)) is not None:
        place = translate.place_of(found[1], sql)
        return QueryError("query.unknown_function", f'no function is named "{found[1]}"', "", place)
    if "Out of Memory" in words:
        return QueryError("query.too_large", "this takes too much memory", "ask for less")
    code = (
        "query.wrong_type" if "Conversion" in words or "No function matches" in words else "query.unsupported"
    )
    return QueryError(code, message)
