"""All that a server has, in one place: the session, its hub, who may ask, and who is connected."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from sanderling.clock import NOTHING_YET
from sanderling.errors import ServerError
from sanderling.server.health.pulse import Pulse
from sanderling.server.http.callers import Flow, Pace
from sanderling.server.http.guard import Gate
from sanderling.server.hub.hub import Hub
from sanderling.server.hub.views import Views
from sanderling.server.hub.watcher import Load, Watcher
from sanderling.server.rights.owners import Owners
from sanderling.server.rights.statements import OWN, Statements
from sanderling.server.rights.tokens import Token, Tokens
from sanderling.server.shown.ground import Ground
from sanderling.session.host import Host
from sanderling.session.posting import Posting

OWNERS = "owners.jsonl"
THREADS = 16
# Answers that are written for one token at a time: each of them may be large.
ANSWERS_AT_ONCE = 4


@dataclass(slots=True, eq=False)
class Connection:
    """One client, as operators see it."""

    id: int
    token: Token
    address: str
    kind: str
    since: float = field(default_factory=time.time)
    load: Load = field(default_factory=Load)
    looks_at: dict[int, str] = field(default_factory=dict)  # by channel
    watchers: dict[int, Watcher] = field(default_factory=dict)  # of a socket, by channel

    @property
    def lag_s(self) -> float | None:
        """How much event time has been told of its queries and not to it; None if it has heard nothing."""
        watchers = [w for w in list(self.watchers.values()) if w.told_to != NOTHING_YET]
        behind = [w.channel.tick - w.told_to for w in watchers]
        return max(behind) / 1e6 if behind else None


class Service:
    """Lives in the server's loop; made before it runs."""

    def __init__(
        self, host: Host, tokens: Tokens, gate: Gate, *, reads_files: bool, cookie: str,
        postings: Mapping[str, Posting], ground: Ground,
    ):  # fmt: skip
        self.postings = postings  # by stream
        self.host, self.tokens, self.gate, self.cookie, self.ground = host, tokens, gate, cookie, ground
        self.owners = Owners(host.folder / OWNERS)
        self.statements = Statements(host, self.owners, reads_files)
        self.pace, self.flow, self.pulse = Pace(), Flow(), Pulse()
        self.connections: dict[int, Connection] = {}
        self.is_ready = False
        self._numbers = itertools.count(1)
        self._turns: dict[str, asyncio.Semaphore] = {}  # by token
        self._pool = ThreadPoolExecutor(THREADS, "server")
        self.hub: Hub
        self.views: Views

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        names = [m.name for m in self.host.seen().members]
        for name in (n for n in names if n.startswith(OWN)):  # a server that was killed has left it
            self.host.run(f"DROP QUERY `{name.replace('`', '``')}`")
        self.owners.keep_only(names)
        self.hub = Hub(self.host, loop, self._pool)
        self.views = Views(self.hub)
        self.hub.turns += [self.pulse.take, self.views.turn]
        self.hub.start()
        self.is_ready = True

    def end(self, why: str) -> None:
        self.is_ready = False
        self.hub.stop(why)
        self._pool.shutdown(wait=False, cancel_futures=True)

    # ----- who is here

    @contextmanager
    def connected(self, token: Token, address: str, kind: str) -> Iterator[Connection]:
        """As long as somebody stays."""
        mine = sum(c.token.id == token.id for c in self.connections.values())
        if mine >= token.limits.connections:
            raise ServerError("limit.connections", f"you may have {mine:,} connections", "close one")
        connection = Connection(next(self._numbers), token, address, kind)
        self.connections[connection.id] = connection
        try:
            yield connection
        finally:
            del self.connections[connection.id]

    def turn(self, token: Token) -> asyncio.Semaphore:
        """To write an answer."""
        return self._turns.setdefault(token.id, asyncio.Semaphore(ANSWERS_AT_ONCE))

    def refuse_too_many(self, token: Token) -> None:
        mine = sum(len(c.looks_at) for c in self.connections.values() if c.token.id == token.id)
        if mine >= token.limits.subscriptions:
            raise ServerError(
                "limit.subscriptions", f"you may look at {mine:,} queries at a time", "close one"
            )
