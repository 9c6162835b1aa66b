"""A server beside a session: Uvicorn in a thread of its own, with its own loop.

session ──► host ──► hub ──► clients          the driver's Python mostly waits for Spark: a thread is enough
"""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from sanderling.errors import ConfigError
from sanderling.server.http.app import app_of
from sanderling.server.http.guard import Gate
from sanderling.server.http.pages import static_folder
from sanderling.server.http.protocol import Http, Silent
from sanderling.server.postgres.listener import Listener
from sanderling.server.rights.tokens import OPERATOR, Tokens
from sanderling.server.service import Service
from sanderling.server.shown.ground import Ground
from sanderling.session.host import Host

if TYPE_CHECKING:
    from sanderling.session.session import Session

SECONDS_TO_STOP = 3
SECONDS_BETWEEN_LOOKS = 1.0
MOST_MESSAGE_BYTES = 1 << 20
MOST_CONNECTIONS = 4_000
FILES_WANTED = 16_384
NOTHING_BENEATH = Ground()


class Server:
    """Serves a session until it is stopped. Made by `session.serve(port=…)`.

    `address` is where it answers; `link` opens the page there, with the operator's token of this run.
    """

    def __init__(
        self, session: Session, host: str, port: int, *, tokens: Path | None = None,
        ground: Ground = NOTHING_BENEATH, host_names: Iterable[str] = (), origins: Iterable[str] = (),
        postgres_port: int | None = None,
    ):  # fmt: skip
        ground.refuse_what_is_none()
        self._session = session
        self._socket = bound(host, port)
        self._postgres = None if postgres_port is None else bound(host, postgres_port)
        self.postgres_port = None if self._postgres is None else int(self._postgres.getsockname()[1])
        self.port = int(self._socket.getsockname()[1])
        self.host = host
        self.tokens = Tokens(tokens)
        self.token, _ = self.tokens.make("operator", OPERATOR, is_passing=True)
        self.service = Service(
            Host(session), self.tokens, Gate.of(host, host_names, origins), ground=ground,
            reads_files=session.data is not None, postings=session.postings, cookie=f"sanderling_{self.port}",
        )  # fmt: skip
        http: Any = partial(Http, Silent())
        config = uvicorn.Config(
            app_of(self.service), log_config=None, access_log=False, server_header=False, http=http,
            ws="websockets-sansio", ws_per_message_deflate=False, ws_max_size=MOST_MESSAGE_BYTES,
            lifespan="off", limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=SECONDS_TO_STOP,
        )  # fmt: skip
        self._uvicorn = uvicorn.Server(config)
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)

    @property
    def address(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/"

    @property
    def link(self) -> str:
        return f"{self.address}?token={self.token}"

    @property
    def postgres_link(self) -> str | None:
        """Where psql and drivers connect; the password is a token."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return (
            None
            if self._postgres is None
            else f"postgresql://operator@{name}:{self.postgres_port}/sanderling"
        )

    @property
    def has_page(self) -> bool:
        return (static_folder() / "index.html").exists()

    def start(self) -> Server:
        make_room_for_sockets()
        self._thread.start()
        self._is_up.wait()
        return self

    def stop(self) -> None:
        """Lets everybody go."""
        self._uvicorn.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()
        if self._postgres is not None:
            self._postgres.close()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        try:
            self.service.begin(asyncio.get_running_loop())
        except BaseException:
            self._is_up.set()
            raise
        looking = asyncio.create_task(self._look())
        listener = None if self._postgres is None else Listener(self.service, self._postgres)
        if listener is not None:
            await listener.start()
        self._is_up.set()
        try:
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            looking.cancel()
            self.service.end("the server has stopped")
            if listener is not None:
                await listener.stop()

    async def _look(self) -> None:
        """A stream that fails tells nobody by itself."""
        hub = self.service.hub
        while hub.ended is None:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            if (why := await hub.beside(lambda: self.service.host.why_over)) is not None:
                hub.stop(str(why))
            if self._uvicorn.should_exit:
                hub.stop("the server has stopped")


def make_room_for_sockets() -> None:
    """Each client is an open file to the system, which begins with room for a thousand or fewer."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if most == resource.RLIM_INFINITY else min(FILES_WANTED, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        found.setblocking(False)
        return found
    except (OSError, OverflowError) as e:
        why = getattr(e, "strerror", None) or str(e)
        raise ConfigError(
            "config.no_port", f"{host}:{port}: {why}", "choose another --port, or 0 for any"
        ) from e
