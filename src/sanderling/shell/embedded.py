"""A session of the shell's own. It starts when an answer is asked for: streams are declared before that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from sanderling.errors import SessionError
from sanderling.session.host import Host
from sanderling.shell.behind import Relation, Rows, Update, text_of

if TYPE_CHECKING:
    from sanderling.session.session import Session

T = TypeVar("T")
SECONDS_TO_WAIT = 0.2


class Embedded:
    def __init__(self, session: Session, say: Callable[[str], None]):
        self._session, self._say = session, say
        self._host = Host(session)

    @property
    def name(self) -> str:
        return "a session of its own"

    def run(self, statement: str) -> Rows | None:
        shown = self._running(lambda: self._session.execute(statement))
        return None if shown is None else _rows(shown)

    def relations(self) -> list[Relation]:
        seen = self._host.seen()
        streams = [Relation(s.name, "stream", _columns(s.columns), s.path or "") for s in seen.streams]
        tables = [Relation(t.name, "table", _columns(t.columns), t.path) for t in seen.tables]
        queries = [
            Relation(m.name, m.query.kind, tuple((o.name, o.type.name) for o in m.query.outputs), m.sql)
            for m in seen.members
        ]
        return [*streams, *tables, *queries]

    def updates(self, name: str) -> Iterator[Update | None]:
        with self._running(lambda: self._session.subscribe(name)) as subscription:
            while True:
                batch = subscription.poll(SECONDS_TO_WAIT)
                if batch is None and subscription.is_over:
                    return
                if batch is None:
                    yield None
                    continue
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    yield Update(str(row[0]), row[1], tuple(map(text_of, row[2:])))

    def close(self) -> None:
        self._session.stop()

    def _running(self, call: Callable[[], T]) -> T:
        """What needs a stream that runs starts it."""
        try:
            return call()
        except SessionError as e:
            if e.code != "session.not_running":
                raise
        self._say("starting: streams that are declared from here on need another session")
        for stream in self._session.streams:
            if stream.path is None:
                self._session.receive(stream.name)
        self._session.start()
        self._session.process_all()
        return call()


def _columns(columns: tuple[object, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((c.name, c.type.name) for c in columns)  # type: ignore[attr-defined]


def _rows(shown: pa.Table) -> Rows:
    columns = [[text_of(v) for v in column.to_pylist()] for column in shown.columns]
    return Rows(tuple(shown.column_names), tuple(zip(*columns, strict=True)))
