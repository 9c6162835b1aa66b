"""The port that speaks PostgreSQL's protocol, in the server's loop."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from sanderling.relational import Questions
from sanderling.server.postgres.client import Client
from sanderling.server.postgres.macros import MACROS
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Service

T = TypeVar("T")

# SELECTs that are worked out at a time, of all and of one token. What is short waits for none of them.
THREADS, ASKED_AT_ONCE, OF_ONE_TOKEN = 4, 4, 2
MOST_CONNECTIONS = 1_000
MOST_WAITING_BYTES = 1 << 20
SECONDS_TO_NOTICE = 60


class Listener:
    """Takes connections until it is closed."""

    def __init__(self, service: Service, bound: socket.socket):
        self.service = service
        self.database = Questions(MACROS)
        self._pool = ThreadPoolExecutor(THREADS, "postgres")
        self._asking = ThreadPoolExecutor(ASKED_AT_ONCE, "asking")
        self._turns: dict[str, asyncio.Semaphore] = {}  # by token
        self._socket = bound
        self._known: dict[int, tuple[int, Client]] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: dict[Client, asyncio.Task[None]] = {}  # who has not said who it is, the eldest first
        self._server: asyncio.Server

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._come, sock=self._socket)

    async def stop(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for pool in (self._pool, self._asking):
            pool.shutdown(wait=False, cancel_futures=True)

    async def beside(self, call: Callable[..., T], *arguments: object) -> T:
        """A call that may wait a little, in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: call(*arguments))

    def asked(self, call: Callable[..., T], *arguments: object) -> asyncio.Future[T]:
        """A call that may take long."""
        return asyncio.get_running_loop().run_in_executor(self._asking, lambda: call(*arguments))

    def turn(self, token: Token) -> asyncio.Semaphore:
        return self._turns.setdefault(token.id, asyncio.Semaphore(OF_ONE_TOKEN))

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._tasks) >= MOST_CONNECTIONS and not self._make_room():
            return writer.close()
        client = Client(self, reader, writer)
        self._tasks.add(task)
        self._strangers[client] = task
        try:
            _notice_who_is_gone(writer)
            await client.serve()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            self._strangers.pop(client, None)
            with suppress(ConnectionError, RuntimeError):
                writer.close()

    def _make_room(self) -> bool:
        """Whoever has said nothing for longest goes, so that strangers keep nobody out."""
        if not self._strangers:
            return False
        eldest = next(iter(self._strangers))
        self._strangers.pop(eldest).cancel()
        return True

    # ----- cancelling

    @contextmanager
    def known(self, client: Client) -> Iterator[tuple[int, int]]:
        """A number and a secret: whoever has both may cancel what this client asks."""
        self._strangers.pop(client, None)
        number, secret = next(self._numbers), secrets.randbits(32)
        self._known[number] = secret, client
        try:
            yield number, secret
        finally:
            del self._known[number]

    def cancel(self, number: int, secret: int) -> None:
        expected, client = self._known.get(number, (None, None))
        if client is not None and expected is not None and secrets.compare_digest(str(expected), str(secret)):
            client.cancel()


def _notice_who_is_gone(writer: asyncio.StreamWriter) -> None:
    """Also one whose machine went away without a word."""
    writer.transport.set_write_buffer_limits(high=MOST_WAITING_BYTES)
    own: socket.socket = writer.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SECONDS_TO_NOTICE)
