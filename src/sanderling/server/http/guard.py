"""What every request has to pass before anything looks at it: its Host, its Origin, how long its body is.

A page elsewhere in the same browser can send us requests; a name that is made to point here can be its own.
So the Host has to be a name of ours, and an Origin the one that we are seen under.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sanderling.errors import ServerError
from sanderling.server.http.callers import asks_as
from sanderling.server.http.problems import problem

if TYPE_CHECKING:
    from sanderling.server.service import Service

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_BODY_BYTES = 10 << 20
# A body of which nothing comes for so long never will be whole.
SECONDS_TO_SAY_MORE = 10.0
CSP = (
    "default-src 'self'; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self' ws://{host} wss://{host} {sources}; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
READING = ("GET", "HEAD")
ALLOWED_METHODS = "GET, HEAD, POST, PUT, DELETE"
ALLOWED_HEADERS = "Authorization, Content-Type, If-None-Match, If-Match, Idempotency-Key, Last-Event-ID"


@dataclass(frozen=True, slots=True)
class Gate:
    """Names that we are seen under, and pages of others that may ask."""

    hosts: frozenset[str] = frozenset(LOOPBACK)
    origins: frozenset[str] = field(default_factory=frozenset)
    most_body_bytes: int = MOST_BODY_BYTES

    @classmethod
    def of(cls, host: str, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> Gate:
        return cls(frozenset((*LOOPBACK, host.lower(), *(h.lower() for h in hosts))), frozenset(origins))

    def refuse(self, headers: Headers, is_socket: bool, method: str) -> None:
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or _name_in(host) not in self.hosts:
            raise ServerError(
                "request.bad_host",
                f'"{host[:80]}" is no name of this server',
                "ask by its name, or --host-name",
            )
        origin = headers.get("origin")
        if origin is None or origin in self.origins or (method in READING and not is_socket):
            return
        if urlsplit(origin).netloc.lower() != host.lower():
            raise ServerError(
                "request.bad_origin", f"a page of {origin[:80]} may not ask here", "start with --allow-origin"
            )


def _name_in(host: str) -> str:
    """Without its port, if that is one."""
    name, _, port = host.lower().rpartition(":")
    return name if name and port.isascii() and port.isdecimal() else host.lower()


class Guard:
    """Promises (tests/server/test_hostile.py): what does not pass reaches nothing behind; every answer says
    what a page may do with it."""

    def __init__(self, app: ASGIApp, service: Service):
        self.app, self.gate, self.service = app, service.gate, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers, is_socket = Headers(scope=scope), scope["type"] == "websocket"
        method = scope.get("method", "GET")
        try:
            self.gate.refuse(headers, is_socket, method)
        except ServerError as e:
            if is_socket:
                return await send({"type": "websocket.close", "code": 1008, "reason": e.code})
            return await problem(e)(scope, receive, send)
        if is_socket:
            return await self.app(scope, receive, send)
        origin = headers.get("origin")
        is_friend = origin is not None and origin in self.gate.origins

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = MutableHeaders(scope=message)
                policy = CSP.format(host=headers.get("host", ""), sources=self.service.ground.sources)
                for name, value in (("Content-Security-Policy", policy), *HEADERS.items()):
                    said.setdefault(name, value)
                if not scope["path"].startswith("/assets/"):
                    said.setdefault("Cache-Control", "no-store")
                if is_friend and origin is not None:
                    said["Access-Control-Allow-Origin"] = origin
                    said["Cross-Origin-Resource-Policy"] = "cross-origin"
                    said.append("Vary", "Origin")
            await send(message)

        if is_friend and method == "OPTIONS":
            allowed = {
                "Access-Control-Allow-Methods": ALLOWED_METHODS,
                "Access-Control-Allow-Headers": ALLOWED_HEADERS,
            }  # fmt: skip
            return await Response(status_code=204, headers=allowed)(scope, receive, send_on)
        if int(headers.get("content-length") or 0) > self.gate.most_body_bytes:
            return await problem(self._too_long())(scope, receive, send_on)
        if method not in READING:
            try:  # before its body is read: what strangers send is not even kept
                asks_as(HTTPConnection(scope), self.service)
            except ServerError as e:
                return await problem(e)(scope, receive, send_on)
        await self.app(scope, self._counted(receive), send_on)

    def _counted(self, receive: Receive) -> Receive:
        seen, is_whole = 0, False

        async def counted() -> Message:
            nonlocal seen, is_whole
            if is_whole:  # what comes now is the end of the connection, whenever that is
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), SECONDS_TO_SAY_MORE)
            except TimeoutError:
                raise ServerError(
                    "request.too_slow", f"nothing more came for {SECONDS_TO_SAY_MORE:.0f} seconds"
                ) from None
            is_whole = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self.gate.most_body_bytes:
                raise self._too_long()
            return message

        return counted

    def _too_long(self) -> ServerError:
        return ServerError(
            "request.too_long", f"a body may have {self.gate.most_body_bytes >> 20} MiB", "send it in pieces"
        )


__all__ = ["Gate", "Guard"]
