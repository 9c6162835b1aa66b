"""Connections that never say what they want are closed: they would be held for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_ASK = 10.0


class Http(H11Protocol):
    """HTTP as Uvicorn speaks it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(SECONDS_TO_ASK, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        self._late.cancel()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._late.cancel()  # from here on the connection is somebody else's
        super().handle_websocket_upgrade(event)

    def _close_if_silent(self, *_: Any) -> None:
        if self.cycle is None and self.transport is not None and not self.transport.is_closing():
            self.transport.close()
