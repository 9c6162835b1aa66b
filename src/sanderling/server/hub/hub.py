"""Between one session and many clients: a query is read along once, and encoded once for all who look.

courier's thread ──► one item a batch ──► the server's loop: channels ──► watchers ──► clients
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.clock import NOTHING_YET, show_time, time_of
from sanderling.deliver.changes import arrivals_in
from sanderling.errors import SessionError
from sanderling.figures.arrivals import Arrivals
from sanderling.server.hub.channel import Channel
from sanderling.server.hub.resume import NotKept, closed_in, rows_since
from sanderling.server.hub.rows import Piece, by_place
from sanderling.server.hub.watcher import Load, Watcher
from sanderling.server.shown.columns import columns_of
from sanderling.session.host import Host

T = TypeVar("T")

# A query that nobody looks at any more is read along for a while: somebody may come back.
SECONDS_TO_LINGER = 20.0
SECONDS_TO_BEGIN = 120.0


@dataclass(slots=True)
class Turn:
    """What one batch brought."""

    number: int
    closed: dict[str, int]
    arrivals: dict[str, Arrivals]
    letters: dict[str, dict[str, int]]  # by stream and reason
    updates: int
    at: float = field(default_factory=time.time)


class Along:
    """A reader for the hub: called by the courier, it leaves what comes for the end of the batch."""

    def __init__(self, channel: Channel, hub: Hub):
        self._channel, self._hub = channel, hub
        self.is_over = False

    def begin(self, answer: pa.Table | None) -> None:
        self._hub.note(lambda: self._channel.begin(answer, self._hub.tick_of(self._channel.streams)))

    def give(self, rows: pa.Table) -> None:
        self._hub.note(lambda: self._channel.give(rows))

    def end(self, failure: BaseException | None = None) -> None:
        why = "the query was dropped" if failure is None else str(failure)
        self._hub.say(lambda: self._hub.lose(self._channel, why))


class Hub:
    """Promises (tests/server): what a client is told adds up to the answer, and each update comes once, also
    over a restart; a slow client costs others nothing."""

    def __init__(self, host: Host, loop: asyncio.AbstractEventLoop, pool: Executor):
        self.host, self._loop, self._pool = host, loop, pool
        self.batch = -1  # the last that has been told
        self.closed: dict[str, int] = {}  # by stream
        self.turns: list[Callable[[Turn], None]] = []
        self.ended: str | None = None
        self._channels: dict[int, tuple[Channel, Along]] = {}
        self._of_batch: list[Callable[[], None]] = []  # in the courier's thread
        self._lock = threading.Lock()

    def start(self) -> None:
        self.closed = closed_in(self.host.log)
        self.host.listen(self._hear)

    def stop(self, why: str) -> None:
        """Nobody gets anything any more."""
        if self.ended is not None:
            return
        self.host.forget(self._hear)
        self.ended = why
        for channel, along in list(self._channels.values()):
            along.is_over = True
            channel.end(why)
        self._channels.clear()

    # ----- from the courier's thread

    def note(self, thing: Callable[[], None]) -> None:
        """To be done when the batch is over."""
        self._of_batch.append(thing)

    def say(self, thing: Callable[[], None]) -> None:
        """To be done by the loop, if there is one still."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(thing)

    def _hear(self, number: int, batches: list[Batch]) -> None:
        mine, self._of_batch = self._of_batch, []
        turn = _turn_of(number, batches)
        self.say(lambda: self._turn(turn, mine))

    # ----- in the loop

    def _turn(self, turn: Turn, things: Iterable[Callable[[], None]]) -> None:
        self.closed.update(turn.closed)
        self.batch = turn.number
        for thing in things:
            thing()
        for channel, _ in self._channels.values():
            if channel.is_begun:
                channel.go_on_to(self.tick_of(channel.streams))
        self._let_go()
        for then in self.turns:
            then(turn)

    def tick_of(self, streams: Iterable[str]) -> int:
        """Up to which all has been told of queries over these."""
        return min((self.closed.get(stream, NOTHING_YET) for stream in streams), default=NOTHING_YET)

    @property
    def tick(self) -> str | None:
        """The last that has closed in any stream."""
        last = max(self.closed.values(), default=NOTHING_YET)
        return None if last == NOTHING_YET else show_time(last)

    def _let_go(self) -> None:
        now = time.monotonic()
        for number, (channel, along) in list(self._channels.items()):
            if channel.watchers:
                channel.left_at = now
            elif now - channel.left_at > SECONDS_TO_LINGER and channel.is_begun:
                along.is_over = True
                del self._channels[number]

    def lose(self, channel: Channel, why: str) -> None:
        self._channels.pop(channel.number, None)
        channel.end(why)

    # ----- for clients

    def known(self, number: int) -> Channel | None:
        """If somebody looks at it."""
        found = self._channels.get(number)
        return found[0] if found and found[0].is_begun else None

    async def channel(self, name: str) -> Channel:
        """Read along from now on, if it is not already."""
        if self.ended:
            raise SessionError("session.stopped", self.ended)
        number = await self.beside(self.host.number_of, name)
        if number not in self._channels:
            await self._open(name, number)
        channel = self._channels[number][0]
        channel.left_at = time.monotonic()
        begun = asyncio.Event()
        channel.when_begun(begun.set)
        try:
            await asyncio.wait_for(begun.wait(), SECONDS_TO_BEGIN)
        except TimeoutError:
            raise SessionError("session.timeout", f'no answer of "{name}" in time', "ask again") from None
        if channel.ended:
            raise SessionError("session.no_query", f'"{name}": {channel.ended}')
        return channel

    async def _open(self, name: str, number: int) -> None:
        """What the session has to be asked for is asked beside the loop."""
        template, streams, is_told_only = await self.beside(self.host.reading_of, number)
        member = await self.beside(self.host.member, name)
        if number in self._channels:
            return
        columns = () if member is None else columns_of(member)
        channel = Channel(name, number, template, columns, streams, is_told_only)
        along = Along(channel, self)
        self._channels[number] = channel, along
        try:
            await self.beside(self.host.read_along, number, along)
        except BaseException:
            self.lose(channel, "it could not be asked for")
            raise

    async def beside(self, call: Callable[..., T], *arguments: object) -> T:
        """A call that may wait, in a thread of its own."""
        return await self._loop.run_in_executor(self._pool, lambda: call(*arguments))

    async def watch(self, name: str, begin: str, load: Load, wake: Callable[[], None]) -> Watcher:
        """A look at a query from `answer`, `now`, or what an earlier progress named."""
        since = None if begin in ("answer", "now") else read_id(begin)
        channel = await self.channel(name)
        watcher = Watcher(channel, load, wake)
        if since is None:
            channel.watchers.append(watcher)
            watcher.begin(channel.whole() if begin == "answer" and not channel.is_told_only else None)
            if begin == "now":
                watcher.told_to = channel.tick
        else:
            await self._resume(watcher, *since)
        return watcher

    async def _resume(self, watcher: Watcher, number: int | None, since: int) -> None:
        channel, until = watcher.channel, self.batch
        watcher.catch_up()
        channel.watchers.append(watcher)
        try:
            if number not in (None, channel.number):
                raise NotKept("another query has this name now")
            template, streams = channel.template, channel.streams
            rows = await self.beside(
                rows_since, self.host.log, template, channel.number, streams, since, until
            )
        except NotKept as e:
            watcher.start_again(str(e))
            return
        watcher.told_to = since
        piece = None if rows is None else Piece(by_place(channel.schema, rows), _end_of(rows))
        watcher.begin(piece)


def _end_of(rows: pa.Table) -> int:
    return int(rows.column("tick")[-1].value)


def id_of(channel: Channel, tick: int) -> str:
    """What a client resumes by: the query's number and the tick up to which it knows all."""
    return f"{channel.number}@{show_time(tick)}"


def read_id(text: str) -> tuple[int | None, int]:
    """A number, if there is one, and a tick in microseconds."""
    number, at, tick = text.rpartition("@")
    time_us = time_of(tick)
    if time_us is None or (at and not number.isdigit()):
        raise SessionError(
            "session.bad_argument", f'from = "{text[:60]}" is neither answer, nor now, nor an id',
            "the id of a progress, or a tick such as 2024-05-01T08:00:01Z",
        )  # fmt: skip
    return (int(number) if at else None), time_us


def _turn_of(number: int, batches: list[Batch]) -> Turn:
    closed: dict[str, int] = {}
    letters: dict[str, dict[str, int]] = {}
    updates = 0
    for batch in batches:
        if batch.kind == Kind.COUNTS and batch.closed_to != NOTHING_YET:
            closed[batch.stream] = batch.closed_to
        elif batch.kind == Kind.DELTAS:
            updates += batch.table.num_rows
        elif batch.kind in (Kind.LETTERS, Kind.LATE_ROWS, Kind.AHEAD_ROWS):
            mine = letters.setdefault(batch.stream, {})
            for reason, count in _reasons(batch):
                mine[reason] = mine.get(reason, 0) + count
    return Turn(number, closed, arrivals_in(batches), letters, updates)


def _reasons(batch: Batch) -> list[tuple[str, int]]:
    if batch.kind != Kind.LETTERS:
        return [(str(batch.kind), batch.table.num_rows)]
    counted = batch.table.column("reason").value_counts()
    return [(one["values"], one["counts"]) for one in counted.to_pylist()]


__all__ = ["Channel", "Hub", "Turn", "id_of", "read_id"]
