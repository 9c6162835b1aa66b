"""Many queries on one socket: /api/v1/live. Text is JSON, binary is frames; one task writes all of it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from sanderling.clock import show_time
from sanderling.errors import SanderlingError, ServerError, SessionError
from sanderling.server.http.api import seen_by, streams_in
from sanderling.server.http.callers import PROTOCOL, caller_of, service_of
from sanderling.server.http.problems import told, unforeseen
from sanderling.server.http.upsert import encoded_upserts, refuse_without_key
from sanderling.server.hub.hub import id_of
from sanderling.server.hub.views import MOST_SHOWN, View
from sanderling.server.hub.watcher import Step, Watcher
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Connection, Service
from sanderling.server.shown.forms import ARROW, FRAME_POSITIONS, FRAME_UPDATES, encoded, flags_of, frame
from sanderling.server.version import VERSION

router = APIRouter(prefix="/api/v1")

SECONDS_TO_SEND = 10.0
TRY_AGAIN, POLICY = 1013, 1008
# Answers to what was asked that may wait: whoever asks without end and never reads is let go.
MOST_REPLIES = 1_000
LARGEST_CHANNEL = 2**32 - 1
ENVELOPES = ("signed", "upsert")


@router.websocket("/live")
async def live(socket: WebSocket) -> None:
    """See docs/api.md."""
    service = service_of(socket)
    try:
        token = caller_of(socket)
    except ServerError as e:
        return await socket.close(POLICY, e.code)
    offered = socket.headers.get("sec-websocket-protocol", "")
    await socket.accept(PROTOCOL if PROTOCOL in [p.strip() for p in offered.split(",")] else None)
    address = f"{socket.client.host}:{socket.client.port}" if socket.client else ""
    try:
        with service.connected(token, address, "socket") as connection:
            await Live(service, token, connection, socket).run()
    except ServerError as e:
        await _bye(socket, POLICY, e.code)


async def _bye(socket: WebSocket, code: int, why: str) -> None:
    if socket.application_state == WebSocketState.CONNECTED:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            await asyncio.wait_for(socket.close(code, why), 1.0)


class Live:
    """One socket.

    Promises (tests/server): what is wrong with one message is told, and the socket goes on; whoever does not
    read is let go, and nobody else waits meanwhile.
    """

    def __init__(self, service: Service, token: Token, connection: Connection, socket: WebSocket):
        self.service, self.token, self.connection, self.socket = service, token, connection, socket
        self.watchers = connection.watchers
        self.views: dict[int, View] = {}
        self._upserts: set[int] = set()  # channels with this envelope
        self._opening: dict[int, asyncio.Task[None]] = {}
        self._replies: list[dict[str, Any]] = []
        self._wake = asyncio.Event()

    async def run(self) -> None:
        streams = await self.service.hub.beside(streams_in, self.service)
        self._say(op="hello", version=VERSION, tick=self.service.hub.tick, streams=streams)
        tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._write())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                e = task.exception()
                if isinstance(e, TimeoutError):
                    await _bye(self.socket, TRY_AGAIN, "limit.slow")
                elif e is not None and not isinstance(e, (WebSocketDisconnect, RuntimeError)):
                    unforeseen(e)
        finally:
            await self._end([*tasks, *self._opening.values()])

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for channel in {*self.watchers, *self.views}:
            await self._close(channel)
        await _bye(self.socket, 1000, "")

    # ----- from the client

    async def _listen(self) -> None:
        while True:
            said = await self.socket.receive()
            if said["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(said.get("code", 1000))
            channel: object = None
            try:
                message = _message(said.get("text"))
                channel = message.get("channel")
                await self._take(message)
            except SanderlingError as e:
                self._fail(channel, e)
            if len(self._replies) > MOST_REPLIES:
                raise TimeoutError

    async def _take(self, message: dict[str, Any]) -> None:
        match message.get("op"):
            case "ping":
                self._say(op="pong")
            case "subscribe":
                self._begin(message, self._subscribe)
            case "view":
                await self._look(message)
            case "unsubscribe":
                channel = _channel(message)
                if (task := self._opening.pop(channel, None)) is not None:
                    task.cancel()
                await self._close(channel)
            case op:
                raise SessionError(
                    "session.bad_argument", f"op = {op!r:.60} is none", "subscribe, view, unsubscribe, ping"
                )

    def _begin(self, message: dict[str, Any], call: Any) -> None:
        """A subscription that takes its time to begin: others do not wait for it."""
        channel = _channel(message)
        if channel in self.watchers or channel in self.views or channel in self._opening:
            raise SessionError("session.bad_argument", f"channel {channel} is in use", "unsubscribe it first")
        self.service.refuse_too_many(self.token)
        self.connection.looks_at[channel] = str(message.get("query") or message.get("stream"))

        async def opened() -> None:
            try:
                await call(channel, message)
            except SanderlingError as e:
                self.connection.looks_at.pop(channel, None)
                self._fail(channel, e)
            except asyncio.CancelledError:
                raise
            except Exception as e:
                self.connection.looks_at.pop(channel, None)
                self._fail(channel, unforeseen(e))
            finally:
                self._opening.pop(channel, None)

        self._opening[channel] = asyncio.create_task(opened())

    async def _subscribe(self, channel: int, message: dict[str, Any]) -> None:
        name, begin = message.get("query"), message.get("from", "answer")
        if not isinstance(name, str) or not isinstance(begin, str):
            raise SessionError(
                "session.bad_argument", "subscribe needs the name of a query", '"query": "in_depot"'
            )
        envelope = message.get("envelope", "signed")
        if envelope not in ENVELOPES:
            raise SessionError(
                "session.bad_argument", f"envelope = {envelope!r:.40} is none", " or ".join(ENVELOPES)
            )
        hub = self.service.hub
        await hub.beside(seen_by, self.service, self.token, name)
        found = await hub.channel(name)
        self._upserts.discard(channel)
        if envelope == "upsert":
            refuse_without_key(found.name, found.columns)
            self._upserts.add(channel)
        watcher = await hub.watch(name, begin, self.connection.load, self._wake.set)
        # Said before anything of it is, and only now: from here on no tick is missed.
        columns = [c.shown() for c in found.columns]
        self._say(op="subscribed", channel=channel, query=found.name, columns=columns)
        self.watchers[channel] = watcher

    async def _look(self, message: dict[str, Any]) -> None:
        channel, view = _channel(message), self._view(message)
        there = self.views.get(channel)
        if there is not None and there.stream == view.stream:
            there.box, there.pixel, there.most, there.is_due = view.box, view.pixel, view.most, True
            self._wake.set()
            return
        if there is not None:
            await self._close(channel)

        async def look(channel: int, message: dict[str, Any]) -> None:
            await self.service.views.open(view)
            self.views[channel] = view
            self._wake.set()

        self._begin(message, look)

    def _view(self, message: dict[str, Any]) -> View:
        if not self.token.is_operator:
            raise ServerError(
                "auth.forbidden", "all objects are for operators", "subscribe to queries of your own"
            )
        stream, box = message.get("stream"), message.get("box")
        pixel, most = message.get("pixel", 0.0), message.get("most", MOST_SHOWN)
        is_box = isinstance(box, list) and len(box) == 4 and all(_is_number(v) for v in box)
        if not isinstance(stream, str) or not is_box or not _is_number(pixel) or not _is_number(most):
            raise SessionError(
                "session.bad_argument",
                "view needs a stream and a box",
                '"stream": "city", "box": [x1, y1, x2, y2]',
            )
        left, low, right, high = (float(v) for v in box)  # type: ignore[union-attr]
        most = int(max(1, min(most, MOST_SHOWN)))
        return View(stream, (left, low, right, high), max(0.0, float(pixel)), most, self._wake.set)

    async def _close(self, channel: int) -> None:
        self.connection.looks_at.pop(channel, None)
        if (watcher := self.watchers.pop(channel, None)) is not None:
            watcher.close()
        if (view := self.views.pop(channel, None)) is not None:
            await self.service.views.close(view)

    # ----- to the client

    def _say(self, **message: Any) -> None:
        self._replies.append(message)
        self._wake.set()

    def _fail(self, channel: object, e: SanderlingError) -> None:
        number = channel if isinstance(channel, int) and not isinstance(channel, bool) else None
        self._say(op="error", channel=number, **told(e))

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            is_more = True
            while is_more:  # a step of each in turn: none waits for another
                is_more = await self._write_replies()
                for channel, watcher in list(self.watchers.items()):
                    if (step := watcher.step()) is not None:
                        is_more = True
                        await self._write_step(channel, watcher, step)
                for channel, view in list(self.views.items()):
                    await self._write_view(channel, view)

    async def _write_replies(self) -> bool:
        replies, self._replies = self._replies, []
        for reply in replies:
            await self._text(reply)
        return bool(replies)

    async def _write_step(self, channel: int, watcher: Watcher, step: Step) -> None:
        if step.reset is not None:
            await self._text({"op": "reset", "channel": channel, "why": step.reset})
        if step.piece is not None:
            if step.piece.merged is not None:
                first, last = (show_time(t) for t in step.piece.merged)
                await self._text({"op": "merged", "channel": channel, "first": first, "last": last})
            write = encoded_upserts if channel in self._upserts else encoded
            body = write(step.piece, ARROW, watcher.channel.columns)
            await self._bytes(frame(channel, FRAME_UPDATES, flags_of(step.piece), body))
        if step.progress is not None:
            said = {"tick": show_time(step.progress), "id": id_of(watcher.channel, step.progress)}
            await self._text({"op": "progress", "channel": channel, **said})
        if step.ended is not None:
            await self._close(channel)
            await self._text({"op": "ended", "channel": channel, "why": step.ended})

    async def _write_view(self, channel: int, view: View) -> None:
        shot = self.service.views.shot(view)
        if shot is None:
            return
        if shot.slots:
            await self._text({"op": "keys", "channel": channel, "slots": shot.slots, "keys": shot.keys})
        await self._bytes(frame(channel, FRAME_POSITIONS, 0, shot.body))

    async def _text(self, message: dict[str, Any]) -> None:
        text = orjson.dumps(message, default=str).decode()
        await asyncio.wait_for(self.socket.send_text(text), SECONDS_TO_SEND)
        await self.service.flow.pass_(self.token, len(text))

    async def _bytes(self, data: bytes) -> None:
        await asyncio.wait_for(self.socket.send_bytes(data), SECONDS_TO_SEND)
        await self.service.flow.pass_(self.token, len(data))


def _message(text: str | None) -> dict[str, Any]:
    try:
        message = orjson.loads(text or "")
    except orjson.JSONDecodeError as e:
        raise SessionError("session.bad_argument", f"this is no JSON: {e}", '{"op": "ping"}') from None
    if not isinstance(message, dict):
        raise SessionError("session.bad_argument", "a message is an object", '{"op": "ping"}')
    return message


def _channel(message: dict[str, Any]) -> int:
    channel = message.get("channel")
    if not isinstance(channel, int) or isinstance(channel, bool) or not 0 <= channel <= LARGEST_CHANNEL:
        raise SessionError(
            "session.bad_argument", f"channel = {channel!r:.40} is no number", "choose one from 0 on"
        )
    return channel


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value == value
        and abs(value) < 1e300
    )
