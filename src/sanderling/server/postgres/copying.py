"""COPY (SUBSCRIBE query) TO STDOUT: signed rows as lines, without end. Of a SELECT, with one.

COPY (SUBSCRIBE [TO] q [FROM now | 'tick' | 'id'] [UNTIL 'tick'] [WITH (PROGRESS)])
  TO STDOUT [WITH (FORMAT csv, HEADER)]
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.clock import time_of
from sanderling.errors import Place, QueryError, ServerError, SessionError
from sanderling.server.hub.watcher import Step, Watcher
from sanderling.server.postgres.pieces import Piece
from sanderling.server.postgres.values import texts_of
from sanderling.server.postgres.wire import copy_data
from sanderling.server.service import Connection, Service
from sanderling.server.shown.forms import named
from sanderling.session.rows import TICK

NAME = r"(?:`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|[\w.]+)"
SUBSCRIBE = (
    rf"SUBSCRIBE\s+(?:TO\s+)?(?P<name>{NAME})(?:\s+FROM\s+(?P<begin>\w+|'[^']*'))?"
    r"(?:\s+UNTIL\s+'(?P<until>[^']*)')?(?P<progress>\s+(?:WITH\s*)?\(\s*PROGRESS\s*\))?"
)
FORM = re.compile(
    rf"COPY\s+(?:\(\s*(?:{SUBSCRIBE}|(?P<select>.*?))\s*\)|(?P<table>{NAME}))\s+TO\s+STDOUT"
    r"(?:\s+(?:WITH\s*)?(?:\((?P<options>[^)]*)\)|(?P<words>[\w\s]*)))?",
    re.IGNORECASE | re.DOTALL,
)
HINT = (
    "write COPY (SUBSCRIBE query [FROM now] [UNTIL 'tick'] [WITH (PROGRESS)]) TO STDOUT "
    "[WITH (FORMAT csv, HEADER)]"
)
SPECIAL = re.compile(r"[\\\t\n\r]")
ESCAPED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True, slots=True)
class Copy:
    """What is to be copied: a query as it changes, or the rows of a SELECT."""

    query: str | None
    begin: str
    until: int | None
    says_progress: bool
    select: str
    is_csv: bool
    has_header: bool

    @classmethod
    def read(cls, piece: Piece) -> Copy:
        found = FORM.fullmatch(piece.sql.strip())
        if found is None:
            place = Place.in_text(piece.sql, 0, len(piece.sql))
            raise QueryError("query.syntax", "this cannot be read", HINT, place)
        words = (found["options"] or found["words"] or "").upper().replace(",", " ").split()
        strange = set(words) - {"FORMAT", "CSV", "TEXT", "HEADER", "TRUE", "ON", "ENCODING", "'UTF8'"}
        if strange:
            raise QueryError("query.unknown_option", f'COPY has no option "{min(strange)}" here', HINT)
        until = None if found["until"] is None else time_of(found["until"])
        if found["until"] is not None and until is None:
            raise SessionError(
                "session.bad_argument", f"until = {found['until'][:60]} is no tick", "2024-05-01T08:00:01Z"
            )
        select = found["select"] or f"SELECT * FROM {found['table']}"
        query = None if found["name"] is None else unquoted(found["name"])
        begin = (found["begin"] or "answer").strip("'")
        begin = begin.lower() if begin.lower() in ("now", "answer") else begin
        return cls(query, begin, until, bool(found["progress"]), select, "CSV" in words, "HEADER" in words)

    def lines(self, columns: Iterable[list[str | None]]) -> bytes:
        """Rows as COPY writes them, each a message: so clients take them."""
        write = _csv if self.is_csv else _text
        return b"".join(copy_data(write(row).encode()) for row in zip(*columns, strict=True))

    def header(self, names: list[str]) -> bytes:
        return self.lines([[name] for name in names]) if self.has_header else b""


def unquoted(name: str) -> str:
    mark = name[0]
    return name[1:-1].replace(mark * 2, mark) if mark in '`"' else name


def _text(row: tuple[str | None, ...]) -> str:
    return "\t".join("\\N" if v is None else SPECIAL.sub(lambda c: ESCAPED[c[0]], v) for v in row) + "\n"


def _csv(row: tuple[str | None, ...]) -> str:
    return ",".join("" if v is None else _quoted(v) for v in row) + "\n"


def _quoted(value: str) -> str:
    is_plain = value and not set(value) & set('",\n\r')
    return value if is_plain else '"' + value.replace('"', '""') + '"'


class Copying:
    """The rows of a query as they change, for one client, until it wants no more."""

    def __init__(self, service: Service, copy: Copy, name: str, connection: Connection):
        self._service, self._copy, self._name, self._connection = service, copy, name, connection
        self._wake = asyncio.Event()
        self._is_stopped = False
        self._watcher: Watcher | None = None
        self.names: list[str] = []

    async def begin(self) -> None:
        """What is wrong is said before the first row."""
        copy, hub = self._copy, self._service.hub
        self._service.refuse_too_many(self._connection.token)
        self._watcher = await hub.watch(self._name, copy.begin, self._connection.load, self._wake.set)
        self._connection.looks_at[0], self._connection.watchers[0] = self._name, self._watcher
        self.names = ["tick", "sign", *(c.name for c in self._watcher.channel.columns)]

    def stop(self) -> None:
        self._is_stopped = True
        self._wake.set()

    def end(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
        self._connection.looks_at.pop(0, None)
        self._connection.watchers.pop(0, None)

    async def pieces(self, refuse_gone: Callable[[], None]) -> AsyncIterator[tuple[int, bytes]]:
        """How many rows, and their messages. `refuse_gone` says now and then if nobody is there any more."""
        watcher = self._watcher
        assert watcher is not None
        while True:
            self._wake.clear()
            while (step := watcher.step()) is not None:
                if self._is_stopped:
                    break
                self._refuse_broken(step)
                rows, lines = self._lines(step)
                if lines:
                    yield rows, lines
                if step.ended is not None or self._is_over(step):
                    return
            if self._is_stopped:
                raise ServerError("request.canceled", "nothing more is told")
            try:
                await asyncio.wait_for(self._wake.wait(), SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                refuse_gone()

    def _refuse_broken(self, step: Step) -> None:
        """Lines that were written cannot be taken back."""
        if step.reset is not None:
            raise SessionError(
                "session.fell_behind", f'"{self._name}": {step.reset}',
                "subscribe again: it begins with the whole answer",
            )  # fmt: skip

    def _is_over(self, step: Step) -> bool:
        until = self._copy.until
        assert self._watcher is not None
        return until is not None and step.progress is not None and self._watcher.channel.tick >= until

    def _lines(self, step: Step) -> tuple[int, bytes]:
        assert self._watcher is not None
        columns = self._watcher.channel.columns
        if step.piece is not None:
            rows = named(self._cut(step.piece.rows, step.piece.is_whole), columns, is_signed=True)
            return rows.num_rows, self._copy.lines([texts_of(column) for column in rows.columns])
        if step.progress is not None and self._copy.says_progress:
            tick = min(step.progress, self._copy.until or step.progress)
            told = texts_of(pa.chunked_array([pa.array([tick], pa.int64()).cast(TICK)]))
            nothing: list[list[str | None]] = [[None] for _ in columns]
            return 0, self._copy.lines([told, ["0"], *nothing])
        return 0, b""

    def _cut(self, rows: pa.Table, is_whole: bool) -> pa.Table:
        """What is later than it is wanted is not told."""
        if self._copy.until is None or is_whole:
            return rows
        return rows.filter(pc.less_equal(rows.column("tick").cast(pa.int64()), self._copy.until))
