"""What changes in one query, over HTTP, without end: server-sent events, lines of JSON, Arrow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Query, Request, Response
from starlette.types import Receive, Scope, Send

from sanderling.clock import show_time, time_of
from sanderling.errors import ServerError, SessionError
from sanderling.server.http.api import seen_by
from sanderling.server.http.callers import Caller, service_of
from sanderling.server.http.described import in_forms
from sanderling.server.http.upsert import encoded_upserts, refuse_without_key, upserts
from sanderling.server.hub.channel import Channel
from sanderling.server.hub.hub import id_of
from sanderling.server.hub.watcher import Step, Watcher
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Service
from sanderling.server.shown.forms import ARROW, EVENTS, LINES, UPDATE_FORMS, chosen, encoded, named
from sanderling.server.version import VERSION

router = APIRouter(prefix="/api/v1")

SECONDS_BETWEEN_BEATS = 15.0
BEATS = {EVENTS: b": still here\n\n", LINES: b"\n"}
# A client that takes nothing for so long is gone.
SECONDS_TO_SEND = 10.0


class Flowing(Response):
    """A body without end. A client that does not read is let go."""

    def __init__(self, pieces: AsyncIterator[bytes], media_type: str):
        super().__init__(media_type=media_type)
        self.pieces = pieces
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        async def flow() -> None:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for piece in self.pieces:
                told = {"type": "http.response.body", "body": piece, "more_body": True}
                await asyncio.wait_for(send(told), SECONDS_TO_SEND)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        tasks = [asyncio.create_task(gone()), asyncio.create_task(flow())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if (e := task.exception()) is not None and not isinstance(e, TimeoutError):
                    raise e
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.pieces.aclose()  # type: ignore[attr-defined]


@router.get(
    "/queries/{name}/updates", response_class=Response,
    responses={200: in_forms(UPDATE_FORMS, "without end, or up to a tick")},
)  # fmt: skip
async def updates(
    request: Request, name: str, token: Caller,
    begin: Annotated[str, Query(alias="from", description="answer, now, an id or a tick")] = "answer",
    until: str | None = None, envelope: Literal["signed", "upsert"] = "signed", progress: bool = False,
) -> Response:  # fmt: skip
    """Each update of a query, as it comes."""
    service = service_of(request)
    form = chosen(request.headers.get("accept"), UPDATE_FORMS)
    if form is None:
        raise ServerError("request.not_acceptable", "none of these forms is ours", ", ".join(UPDATE_FORMS))
    end = None if until is None else _tick(until)
    begin = request.headers.get("last-event-id") or begin
    await service.hub.beside(seen_by, service, token, name)
    service.refuse_too_many(token)
    wake = asyncio.Event()
    address = f"{request.client.host}:{request.client.port}" if request.client else ""
    teller = Teller(
        service, token, address, form, end, envelope == "upsert", progress or form == EVENTS, wake
    )
    return Flowing(await teller.tell(name, begin), form)


def _tick(text: str) -> int:
    tick = time_of(text)
    if tick is None:
        raise SessionError("session.bad_argument", f"until = {text[:60]} is no tick", "2024-05-01T08:00:01Z")
    return tick


class Teller:
    """Writes the steps of one client."""

    def __init__(
        self, service: Service, token: Token, address: str, form: str, until: int | None, is_upsert: bool,
        says_progress: bool, wake: asyncio.Event,
    ):  # fmt: skip
        self.service, self.token, self.address, self.form = service, token, address, form
        self.until, self.is_upsert, self.says_progress, self.wake = until, is_upsert, says_progress, wake

    async def tell(self, name: str, begin: str) -> AsyncIterator[bytes]:
        """What is wrong is said before the first byte."""
        connected = self.service.connected(self.token, self.address, "http")
        connection = connected.__enter__()
        try:
            connection.looks_at[0] = name
            watcher = await self.service.hub.watch(name, begin, connection.load, self.wake.set)
            if self.is_upsert:
                try:
                    refuse_without_key(name, watcher.channel.columns)
                except SessionError:
                    watcher.close()
                    raise
        except BaseException as e:
            connected.__exit__(type(e), e, None)
            raise

        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for piece in self._pieces(watcher):
                    yield piece
                    await self.service.flow.pass_(self.token, len(piece))
            finally:
                watcher.close()
                connected.__exit__(None, None, None)

        return pieces()

    async def _pieces(self, watcher: Watcher) -> AsyncIterator[bytes]:
        channel, arrow = watcher.channel, ArrowFlow(watcher.channel, self.is_upsert, self.says_progress)
        if self.form == ARROW:
            yield arrow.begin()
        elif self.form == EVENTS:
            yield f": sanderling {VERSION}\n\n".encode()
        while True:
            self.wake.clear()
            while (step := watcher.step()) is not None:
                if step.piece is not None or step.progress is not None:
                    step = self._cut(step)
                said = arrow.of(step) if self.form == ARROW else self._of(step, channel)
                if said:
                    yield said
                if step.ended is not None or self._is_over(watcher):
                    break
            if (step is not None and step.ended is not None) or self._is_over(watcher):
                if self.form == ARROW:
                    yield arrow.end()
                return
            try:
                await asyncio.wait_for(self.wake.wait(), SECONDS_BETWEEN_BEATS)
            except TimeoutError:
                yield arrow.beat() if self.form == ARROW else BEATS[self.form]

    def _is_over(self, watcher: Watcher) -> bool:
        return self.until is not None and watcher.told_to >= self.until

    def _cut(self, step: Step) -> Step:
        """What is later than it is wanted is not told."""
        if self.until is None:
            return step
        if step.piece is None:
            assert step.progress is not None
            return Step(progress=min(step.progress, self.until))
        ticks = step.piece.rows.column("tick").cast(pa.int64())
        is_wanted = pc.less_equal(ticks, self.until)
        if step.piece.is_whole or step.piece.merged or pc.all(is_wanted).as_py() is not False:
            return step
        rows = step.piece.rows.filter(is_wanted)
        return Step(type(step.piece)(rows, self.until), step.reset)

    def _of(self, step: Step, channel: Channel) -> bytes:
        """As events, or as lines."""
        said = []
        if step.reset is not None:
            said.append(self._one("reset", {"reset": step.reset}))
        if step.piece is not None:
            if step.piece.merged is not None:
                said.append(self._one("merged", {"merged": [show_time(t) for t in step.piece.merged]}))
            lines = self._lines(step, channel)
            if self.form == EVENTS and (lines or step.piece.is_whole):
                data = b"data: " + lines.rstrip(b"\n").replace(b"\n", b"\ndata: ") if lines else b"data:"
                lines = b"event: updates\n" + self._id(channel, step.piece.tick) + data + b"\n\n"
            said.append(lines)
        if step.progress is not None and self.says_progress:
            named_ = {"progress": show_time(step.progress), "id": id_of(channel, step.progress)}
            said.append(self._one("progress", named_, self._id(channel, step.progress)))
        if step.ended is not None:
            said.append(self._one("ended", {"ended": step.ended}))
        return b"".join(said)

    def _lines(self, step: Step, channel: Channel) -> bytes:
        assert step.piece is not None
        if self.is_upsert:
            return encoded_upserts(step.piece, "lines", channel.columns)
        return encoded(step.piece, "lines", channel.columns)

    def _id(self, channel: Channel, tick: int) -> bytes:
        return b"" if tick < 0 else f"id: {id_of(channel, tick)}\n".encode()

    def _one(self, event: str, said: Mapping[str, object], more: bytes = b"") -> bytes:
        text = json.dumps(said).encode()
        return (
            b"event: " + event.encode() + b"\n" + more + b"data: " + text + b"\n\n"
            if self.form == EVENTS
            else text + b"\n"
        )


class ArrowFlow:
    """One IPC stream that goes on: a batch a piece.

    What is said beside the rows (reset, merged, progress) is the batch's own metadata.
    """

    def __init__(self, channel: Channel, is_upsert: bool, says_progress: bool):
        self._channel, self._is_upsert, self._says_progress = channel, is_upsert, says_progress
        self.written: list[bytes] = []
        self._nothing = named(channel.schema.empty_table(), channel.columns, is_signed=True)
        self._writer = pa.ipc.new_stream(Chunks(self.written), self._nothing.schema)

    def begin(self) -> bytes:
        return self._taken()

    def of(self, step: Step) -> bytes:
        rows, said = self._nothing, self._beside(step)
        if step.piece is not None:
            piece = upserts(step.piece, self._channel.columns) if self._is_upsert else step.piece
            rows = named(piece.rows, self._channel.columns, is_signed=True)
        return self._batch(rows, said) if rows.num_rows or said else b""

    def beat(self) -> bytes:
        """A batch with nothing in it."""
        return self._batch(self._nothing, {})

    def _beside(self, step: Step) -> dict[str, object]:
        said: dict[str, object] = {}
        if step.reset is not None:
            said["reset"] = step.reset
        if step.piece is not None and step.piece.merged is not None:
            said["merged"] = [show_time(t) for t in step.piece.merged]
        if step.progress is not None and self._says_progress:
            said |= {"progress": show_time(step.progress), "id": id_of(self._channel, step.progress)}
        if step.ended is not None:
            said["ended"] = step.ended
        return said

    def _batch(self, rows: pa.Table, said: dict[str, object]) -> bytes:
        (batch,) = rows.combine_chunks().to_batches() or self._empty()
        self._writer.write_batch(batch, custom_metadata={"sanderling": json.dumps(said)} if said else None)
        return self._taken()

    def _empty(self) -> list[pa.RecordBatch]:
        return [pa.RecordBatch.from_pylist([], schema=self._nothing.schema)]

    def end(self) -> bytes:
        self._writer.close()
        return self._taken()

    def _taken(self) -> bytes:
        said = b"".join(self.written)
        self.written.clear()
        return said


class Chunks:
    """A file that keeps what is written until it is taken."""

    def __init__(self, written: list[bytes]):
        self._written = written
        self.closed = False

    def write(self, data: bytes) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...
