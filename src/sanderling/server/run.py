"""`sanderling serve`: a script as a session that lives, and a server over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.server.shown.ground import Ground

if TYPE_CHECKING:
    from sanderling.session.session import Session


@dataclass(frozen=True, slots=True)
class ServeOptions:
    host: str
    port: int
    tokens: Path | None
    ground: Ground
    host_names: tuple[str, ...]
    origins: tuple[str, ...]
    checkpoint: Path | None
    keep: str
    master: str
    shards: int | None
    data: Path | None
    states: str | None = None  # a module with states for patterns
    postgres: int | None = None


def run_server(script: str, options: ServeOptions, say: Callable[[str], None]) -> None:
    """Serves until a signal comes, or the stream fails."""
    from sanderling.session.connect import connect
    from sanderling.session.state import states_in

    options.ground.refuse_what_is_none()
    session = connect(
        checkpoint=options.checkpoint, shards=options.shards, master=options.master, keep=options.keep,
        data=options.data,
    )  # fmt: skip
    with session:
        for name, kind in ({} if options.states is None else states_in(options.states)).items():
            session.state(name, kind)
        session.execute(script)
        take_readings(session)
        session.start()
        from sanderling.server.serve import Server

        server = Server(
            session, options.host, options.port, tokens=options.tokens, ground=options.ground,
            host_names=options.host_names, origins=options.origins, postgres_port=options.postgres,
        ).start()  # fmt: skip
        try:
            say(f"serving at {server.link}")
            if server.postgres_link is not None:
                say(f"PostgreSQL at {server.postgres_link}; the token is the password")
            if not server.has_page:
                say("the page is not built: `make web` builds it; the API is there")
            session.await_termination()
        finally:
            server.stop()


def take_readings(session: Session) -> None:
    """Streams that have no path get their readings over HTTP."""
    for stream in session.streams:
        if stream.path is None:
            session.receive(stream.name)
