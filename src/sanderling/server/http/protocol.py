"""Who holds a connection for nothing is let go: who never says what they want, and who takes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_ASK = 10.0
# Nothing of what waits to be written was taken for so long: nobody reads any more.
SECONDS_TO_TAKE = 10.0
# So many are held who say nothing; where there are more, who has said nothing for so long makes room.
MOST_SILENT = 500
SECONDS_OF_SILENCE = 0.5


class Silent:
    """Connections of one server that have still to say what they want, the eldest first."""

    def __init__(self) -> None:
        self._since: dict[Http, float] = {}

    def add(self, one: Http, now: float) -> None:
        self._since[one] = now
        while len(self._since) > MOST_SILENT:
            eldest, since = next(iter(self._since.items()))
            if now - since < SECONDS_OF_SILENCE:
                return
            eldest.let_go()

    def remove(self, one: Http) -> None:
        self._since.pop(one, None)


class Http(H11Protocol):
    """HTTP as Uvicorn speaks it.

    Promises (tests/server/test_hostile.py): a connection over which nobody asks anything, or half of
    something, is closed after a while, also behind a request that was whole; however many of them there are,
    others find room; and what is told to somebody who does not read is thrown away.
    """

    def __init__(self, silent: Silent, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._silent = silent
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def let_go(self) -> None:
        self._silent.remove(self)
        if self.transport is not None:
            self.transport.abort()

    # ----- who says nothing

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._wait_no_more()  # from here on the connection is somebody else's
        self._is_taken()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        self._is_taken()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Half of a request, or a body of one that is answered: more of it does not buy more time."""
        theirs, is_answered = self.conn.their_state, self.conn.our_state is h11.DONE
        is_half = theirs is h11.IDLE and bool(self.conn.trailing_data[0])
        if is_half or (theirs is h11.SEND_BODY and is_answered):
            self._wait()
        else:
            self._wait_no_more()

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(SECONDS_TO_ASK, self.let_go)
            self._silent.add(self, self.loop.time())

    def _wait_no_more(self) -> None:
        self._silent.remove(self)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    # ----- who takes nothing

    def pause_writing(self) -> None:
        super().pause_writing()
        self._is_taken()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_taken()

    def _watch(self) -> None:
        waits = self.transport.get_write_buffer_size()
        self._stuck = self.loop.call_later(SECONDS_TO_TAKE, self._look_again, waits)

    def _look_again(self, waited: int) -> None:
        if self.transport.get_write_buffer_size() >= waited:
            self.let_go()
        else:
            self._watch()

    def _is_taken(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
