"""Who asks: the token of a request or of a socket, and how much it may ask for."""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from sanderling.errors import ServerError
from sanderling.server.rights.tokens import Token

if TYPE_CHECKING:
    from sanderling.server.service import Service

PROTOCOL, BEARER = "sanderling.v1", "bearer."
COOKIE = "sanderling"
SECONDS_AT_ONCE = 1.0


def service_of(connection: HTTPConnection) -> Service:
    found: Service = connection.app.state.service
    return found


def word_in(connection: HTTPConnection, cookie: str) -> str | None:
    """As a header, as a subprotocol, or as a cookie."""
    scheme, _, said = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return said.strip()
    if scheme.lower() == "basic":
        return _password(said.strip())
    offered = [p.strip() for p in connection.headers.get("sec-websocket-protocol", "").split(",")]
    for protocol in offered:
        if protocol.startswith(BEARER):
            return protocol.removeprefix(BEARER)
    return connection.cookies.get(cookie)


def _password(said: str) -> str | None:
    try:
        return base64.b64decode(said, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return None


def caller_of(connection: HTTPConnection) -> Token:
    return asks_as(connection, service_of(connection))


def asks_as(connection: HTTPConnection, service: Service) -> Token:
    word = word_in(connection, service.cookie)
    token = service.tokens.known(word) if word else None
    if token is None:
        raise ServerError(
            "auth.missing", "a token is needed" if not word else "this token is none of ours",
            "Authorization: Bearer TOKEN; the server said one when it started",
        )  # fmt: skip
    return token


def operator_of(connection: HTTPConnection) -> Token:
    token = caller_of(connection)
    if not token.is_operator:
        raise ServerError("auth.forbidden", "this is for operators", "ask with an operator's token")
    return token


def sender_of(connection: HTTPConnection) -> Token:
    token = caller_of(connection)
    if not token.may_send:
        raise ServerError("auth.forbidden", "this token may not send readings", "ask for one that may")
    return token


Caller = Annotated[Token, Depends(caller_of)]
Operator = Annotated[Token, Depends(operator_of)]
Sender = Annotated[Token, Depends(sender_of)]


Clock = Callable[[], float]


class Pace:
    """How many statements each token has run lately: as many may come at once as in a minute."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._lock, self._clock = threading.Lock(), clock
        self._left: dict[str, tuple[float, float]] = {}  # by token: how many, and when that was

    def take(self, token: Token, count: int) -> None:
        most, now = float(token.limits.statements_a_minute), self._clock()
        with self._lock:
            left, at = self._left.get(token.id, (most, now))
            left = min(most, left + (now - at) * most / 60)
            if count > left:
                raise ServerError(
                    "limit.statements",
                    f"at most {most:,.0f} statements a minute",
                    "wait a little, or say less",
                )
            self._left[token.id] = left - count, now


class Flow:
    """How many bytes each token has sent and been told lately: as many may come at once as in a second.

    Promise (tests/server/test_limits.py): nobody gets more than that, however many connections they have;
    who is over it waits and loses nothing, since what waits for a client is bounded anyhow. Belongs to the
    server's loop.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._paid: dict[str, float] = {}  # by token: when all is paid for

    def seconds_to_wait(self, token: Token, nbytes: int) -> float:
        """Before the next one, when these are told."""
        now = self._clock()
        owed_s = max(self._paid.get(token.id, now) - now, 0.0) + nbytes / token.limits.bytes_a_second
        self._paid[token.id] = now + owed_s
        return max(0.0, owed_s - SECONDS_AT_ONCE)

    async def pass_(self, token: Token, nbytes: int) -> None:
        seconds = self.seconds_to_wait(token, nbytes)
        if seconds > 0:
            await asyncio.sleep(seconds)
