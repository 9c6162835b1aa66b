"""One connection: who it is, what it says, what it is answered. Lives in the server's loop.

Promises (tests/server/test_postgres.py, test_postgres_hostile.py): what a token may over HTTP it may here and
no more; a client that does not read, or says what is no protocol, is let go, and nobody else notices.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from sanderling.errors import QueryError, SanderlingError, ServerError, SessionError
from sanderling.server.http.problems import unforeseen
from sanderling.server.postgres import wire
from sanderling.server.postgres.ask import Asker
from sanderling.server.postgres.catalogs import Catalogs
from sanderling.server.postgres.copying import Copy, Copying
from sanderling.server.postgres.extended import Names, Portal, Prepared, described
from sanderling.server.postgres.faults import fault_of, warning
from sanderling.server.postgres.pieces import Kind, Piece, pieces_of
from sanderling.server.postgres.relations import Relations
from sanderling.server.postgres.settings import Settings
from sanderling.server.postgres.values import rows_of, texts_of
from sanderling.server.rights.statements import OWN
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Connection

if TYPE_CHECKING:
    from sanderling.server.postgres.listener import Listener

SECONDS_TO_BEGIN = 10.0
# A client that takes nothing for so long is gone.
SECONDS_TO_SEND = 10.0
ROWS_AT_ONCE = 1_000
MOST_HELD = 64 << 20  # of what was asked for and is not fetched
IDLE, INSIDE, FAILED = b"I", b"T", b"E"
SHOWS = ("SHOW", "DESCRIBE", "DESC", "EXPLAIN")


class Client:
    def __init__(self, listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._listener, self._service = listener, listener.service
        self._reader, self._writer = reader, writer
        self._names = Names()
        self._status = IDLE
        self._is_skipping = False
        self._is_done_inside = False  # something was done that ROLLBACK does not take back
        self._copying: Copying | None = None
        self._token: Token
        self._connection: Connection
        self._asker: Asker
        self._settings: Settings
        self._relations: Relations

    def cancel(self) -> None:
        """Another connection of the same client says so."""
        self._asker.stop()
        if self._copying is not None:
            self._copying.stop()

    async def serve(self) -> None:
        try:
            given = await asyncio.wait_for(self._begin(), SECONDS_TO_BEGIN)
            if given is not None:
                await self._stay(given)
        except SanderlingError as e:
            await self._send(fault_of(e, is_last=True))
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            pass
        except Exception as e:
            await self._send(fault_of(unforeseen(e), is_last=True))

    # ----- the beginning

    async def _begin(self) -> dict[str, str] | None:
        """What it says of itself; None if it only came to cancel."""
        for _ in range(4):
            fields = wire.Fields(await wire.start_message(self._reader))
            code = fields.int32()
            if code in (wire.SSL, wire.GSS):
                await self._send(b"N")  # it may go on without
            elif code == wire.CANCEL:
                self._listener.cancel(fields.int32(), fields.int32() & 0xFFFFFFFF)
                return None
            elif code >> 16 == 3:
                given = wire.settings_in(fields)
                unknown = [name for name in given if name.startswith("_pq_.")]
                if code != wire.VERSION_3 or unknown:
                    await self._send(wire.other_version(unknown))
                await self._ask_for_token()
                return given
            else:
                raise wire.bad(f"version {code >> 16}.{code & 0xFFFF}")
        raise wire.bad("one beginning after another")

    async def _ask_for_token(self) -> None:
        await self._send(wire.PASSWORD_WANTED)
        kind, fields = await wire.message(self._reader, wire.MOST_START)
        token = self._service.tokens.known(fields.text()) if kind == b"p" else None
        if token is None:
            raise ServerError(
                "auth.missing", "this password is no token of ours", "the server said one when it started"
            )
        self._token = token

    async def _stay(self, given: dict[str, str]) -> None:
        service, host = self._service, self._writer.get_extra_info("peername") or ("", 0)
        with service.connected(self._token, f"{host[0]}:{host[1]}", "postgres") as self._connection:
            self._settings = Settings(given)
            self._relations = Relations(service, self._token)
            catalogs = Catalogs(self._token.owner, self._settings.all)
            self._asker = Asker(self._relations, catalogs, self._listener)
            with self._listener.known(self) as (process, secret):
                said = [wire.setting(*pair) for pair in self._settings.said()]
                said.append(wire.setting("session_authorization", self._token.owner))
                await self._send(wire.WELCOME, *said, wire.key_of(process, secret), wire.ready(IDLE))
                await self._talk()

    # ----- messages

    async def _talk(self) -> None:
        most = min(self._token.limits.sql_bytes * 2, self._service.gate.most_body_bytes)
        while True:
            kind, fields = await wire.message(self._reader, most)
            if kind == b"X":
                return
            if kind == b"S":
                self._is_skipping = False
                if self._status == IDLE:
                    self._names.portals.clear()
                await self._send(wire.ready(self._status))
            elif kind == b"Q":
                await self._query(fields.text())
            elif not self._is_skipping:
                await self._take(kind, fields)

    async def _query(self, text: str) -> None:
        """The simple protocol: statements, and what each of them gives."""
        start = 0
        try:
            for piece in _together(text, pieces_of(text)):
                start = piece.start
                await self._run_simply(piece)
        except SanderlingError as e:
            await self._failed(e, text, start)
        except (ConnectionError, asyncio.IncompleteReadError):
            raise
        except Exception as e:
            await self._failed(unforeseen(e))
        await self._send(wire.ready(self._status))

    async def _run_simply(self, piece: Piece) -> None:
        if piece.kind == Kind.EMPTY:
            return self._write(wire.EMPTY)
        prepared = await self._prepared(piece, [])
        portal = Portal(prepared, [], [])
        if self._gives_rows(piece):
            await self._ask(portal)
            assert portal.rows is not None
            self._write(described(portal.rows.schema, []))
        await self._execute(portal, 0)

    async def _take(self, kind: bytes, fields: wire.Fields) -> None:
        """The extended protocol: after an error all is skipped up to the next Sync."""
        text = ""
        try:
            if kind == b"P":
                name, text = fields.text(), fields.text()
                await self._prepare(name, text, [fields.int32() for _ in range(fields.int16())])
            elif kind == b"B":
                self._names.bind(fields)
                self._write(wire.BOUND)
            elif kind == b"D":
                await self._describe(fields.take(1), fields.text())
            elif kind == b"E":
                portal = self._names.portal(fields.text())
                text = portal.prepared.piece.sql
                await self._execute(portal, max(fields.int32(), 0))
            elif kind == b"C":
                self._names.close(fields.take(1), fields.text())
                self._write(wire.CLOSED)
            elif kind == b"H":
                await self._send()
            elif kind not in b"dcf":  # what is left of a COPY
                raise wire.bad(f"a message of kind {kind!r}")
        except SanderlingError as e:
            if e.code == "request.bad":
                raise
            self._is_skipping = True
            await self._failed(e, text)
        except (ConnectionError, asyncio.IncompleteReadError):
            raise
        except Exception as e:
            self._is_skipping = True
            await self._failed(unforeseen(e))

    async def _failed(self, e: SanderlingError, text: str = "", start: int = 0) -> None:
        if self._status == INSIDE:
            self._status = FAILED
        await self._send(fault_of(e, text, start))

    # ----- statements

    async def _prepare(self, name: str, text: str, oids: Sequence[int]) -> None:
        pieces = pieces_of(text)
        if len(pieces) > 1:
            raise ServerError(
                "query.syntax", "one statement at a time can be prepared", "send them one by one"
            )
        self._names.prepare(name, await self._prepared(pieces[0], list(oids)))
        self._write(wire.PARSED)

    async def _prepared(self, piece: Piece, oids: list[int]) -> Prepared:
        question = await self._asker.read(piece.sql) if piece.kind == Kind.SELECT else None
        return Prepared(piece, question, oids)

    def _gives_rows(self, piece: Piece) -> bool:
        return piece.kind in (Kind.SELECT, Kind.SHOW) or (
            piece.kind == Kind.SESSION and piece.words[:1] in [(word,) for word in SHOWS]
        )

    async def _describe(self, kind: bytes, name: str) -> None:
        if kind == b"S":
            prepared = self._names.statement(name)
            self._write(wire.parameters(prepared.parameters))
            if not self._gives_rows(prepared.piece):
                return self._write(wire.NO_ROWS)
            if prepared.question is not None:
                return self._write(described(await self._asker.shape(prepared.question), []))
            portal = Portal(prepared, [], [])
        else:
            portal = self._names.portal(name)
        if not self._gives_rows(portal.prepared.piece):
            return self._write(wire.NO_ROWS)
        await self._ask(portal)
        assert portal.rows is not None
        self._write(described(portal.rows.schema, portal.forms))

    async def _ask(self, portal: Portal) -> None:
        """Whatever gives rows: once for a portal, as at that moment."""
        piece, question = portal.prepared.piece, portal.prepared.question
        if portal.rows is not None:
            return
        self._refuse(piece)
        if sum(p.rows.nbytes for p in self._names.portals.values() if p.rows is not None) > MOST_HELD:
            raise QueryError("query.too_large", "too much is asked for and not fetched", "fetch or close it")
        if question is not None:
            portal.rows = await self._asker.answer(question, portal.parameters)
        elif piece.kind == Kind.SHOW:
            name, value = self._settings.get(piece)
            portal.rows = pa.table({name: [value]})
        else:
            portal.rows = await self._run(piece)

    async def _execute(self, portal: Portal, most: int) -> None:
        piece = portal.prepared.piece
        if piece.kind == Kind.EMPTY:
            return self._write(wire.EMPTY)
        if self._gives_rows(piece):
            await self._ask(portal)
            return await self._send_rows(portal, most)
        self._refuse(piece)
        if piece.kind == Kind.COPY:
            return await self._copy(piece)
        tag = self._meant_well(piece) if piece.kind == Kind.MEANT_WELL else piece.tag
        if piece.kind == Kind.SESSION:
            await self._run(piece)
            self._is_done_inside = self._status == INSIDE
        self._write(wire.done(tag))

    def _refuse(self, piece: Piece) -> None:
        if self._token.id not in {token.id for token in self._service.tokens.all()}:
            raise ServerError("auth.missing", "this token has been taken away", "connect with another")
        if self._status == FAILED and piece.words[:1] not in (
            ("ROLLBACK",),
            ("ABORT",),
            ("COMMIT",),
            ("END",),
        ):
            raise ServerError("request.aborted", "an error came before in this transaction", "ROLLBACK")
        self._service.pace.take(self._token, 1)

    async def _run(self, piece: Piece) -> pa.Table:
        """A statement of ours; what it shows."""
        outcome = await self._listener.beside(self._service.statements.run, piece.sql, self._token)
        if not outcome.listings:
            return pa.table({"done": pa.array([], pa.string())})
        listing = outcome.listings[-1]
        columns = list(zip(*listing.rows, strict=True)) or [()] * len(listing.columns)
        arrays = [pa.array([str(v) for v in column], pa.string()) for column in columns]
        return pa.Table.from_arrays(arrays, names=list(listing.columns))

    def _meant_well(self, piece: Piece) -> str:
        first, second = piece.words[0], piece.words[1:2]
        if first in ("BEGIN", "START"):
            self._status, self._is_done_inside = INSIDE, False
            return "BEGIN"
        if first in ("COMMIT", "END", "ROLLBACK", "ABORT") and second != ("TO",):
            is_back = first in ("ROLLBACK", "ABORT") or self._status == FAILED
            if is_back and self._is_done_inside:
                self._write(warning("what was registered or dropped stays so: it was done when it was said"))
            self._status, self._is_done_inside = IDLE, False
            return "ROLLBACK" if is_back else "COMMIT"
        if first == "ROLLBACK":
            self._status = INSIDE
        elif first == "SET":
            self._settings.set(piece)
        elif first in ("DEALLOCATE", "DISCARD"):
            self._names = Names()
        return (
            " ".join((first, *second)) if first in ("DISCARD", "DEALLOCATE") and second == ("ALL",) else first
        )

    # ----- rows

    async def _send_rows(self, portal: Portal, most: int) -> None:
        rows = portal.rows
        assert rows is not None
        forms = portal.forms_of(rows.num_columns)
        end = min(rows.num_rows, portal.at + most) if most else rows.num_rows
        sent = end - portal.at
        while portal.at < end:
            some = rows.slice(portal.at, min(ROWS_AT_ONCE, end - portal.at))
            await self._send(await self._listener.beside(_written, some, forms))
            portal.at += some.num_rows
        if end < rows.num_rows:
            return self._write(wire.SUSPENDED)
        portal.rows, portal.at = rows.schema.empty_table(), 0
        piece = portal.prepared.piece
        self._write(wire.done(f"SELECT {sent}" if piece.kind == Kind.SELECT else piece.words[0]))

    async def _copy(self, piece: Piece) -> None:
        copy = Copy.read(piece)
        if copy.query is None:
            return await self._copy_select(copy)
        name = copy.query
        member = await self._listener.beside(self._service.host.member, name)
        if member is None or name.startswith(OWN) or not self._service.statements.may_see(self._token, name):
            raise SessionError("session.no_query", f'there is no query "{name}"')
        count = 0
        self._copying = Copying(self._service, copy, member.name, self._connection)
        try:
            await self._copying.begin()
            await self._begin_copy(copy, self._copying.names)
            async for rows, lines in self._copying.pieces(self._refuse_gone):
                await self._send(lines)
                count += rows
        finally:
            self._copying.end()
            self._copying = None
        self._write(wire.COPY_DONE + wire.done(f"COPY {count}"))

    async def _begin_copy(self, copy: Copy, names: list[str]) -> None:
        await self._send(wire.copy_begins(len(names)), copy.header(names))

    def _refuse_gone(self) -> None:
        if self._reader.at_eof():
            raise ConnectionResetError
        if self._token.id not in {token.id for token in self._service.tokens.all()}:
            raise ServerError("auth.missing", "this token has been taken away", "connect with another")

    async def _copy_select(self, copy: Copy) -> None:
        rows = await self._asker.answer(await self._asker.read(copy.select), [])
        await self._begin_copy(copy, rows.column_names)
        for at in range(0, rows.num_rows, ROWS_AT_ONCE):
            some = rows.slice(at, ROWS_AT_ONCE)
            lines = await self._listener.beside(
                lambda some=some: copy.lines([texts_of(c) for c in some.columns])
            )
            await self._send(lines)
        self._write(wire.COPY_DONE + wire.done(f"COPY {rows.num_rows}"))

    # ----- bytes

    def _write(self, data: bytes) -> None:
        self._writer.write(data)

    async def _send(self, *data: bytes) -> None:
        """Waits while the client has not taken what was sent before; not for ever."""
        self._writer.write(b"".join(data))
        try:
            await asyncio.wait_for(self._writer.drain(), SECONDS_TO_SEND)
        except TimeoutError:
            self._writer.transport.abort()
            raise ConnectionResetError from None


def _written(rows: pa.Table, forms: Sequence[int]) -> bytes:
    return b"".join(wire.row(values) for values in rows_of(rows, forms))


def _together(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Statements of ours that follow each other are one script: all of them are done, or none."""
    found: list[Piece] = []
    for piece in pieces:
        before = found[-1] if found else None
        if before is not None and before.kind == piece.kind == Kind.SESSION:
            sql = text[before.start : piece.start + len(piece.sql)]
            found[-1] = Piece(Kind.SESSION, sql, before.start, piece.words)
        else:
            found.append(piece)
    return found
