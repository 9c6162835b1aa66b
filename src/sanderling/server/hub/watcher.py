"""One client's look at one query: what waits for it is bounded, and never dropped in silence.

hub ──► pieces ──► (too many: netted into one) ──► (still too many: a reset, the whole answer) ──► steps
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sanderling.clock import NOTHING_YET
from sanderling.server.hub.rows import Piece, first_tick, netted

if TYPE_CHECKING:
    from sanderling.server.hub.channel import Channel

MOST_BYTES = 8 << 20  # of one query
MOST_BYTES_OF_ALL = 32 << 20  # of all of one client


@dataclass(slots=True)
class Load:
    """What waits for a client, over all it looks at."""

    waiting: int = 0
    most: int = MOST_BYTES_OF_ALL


@dataclass(frozen=True, slots=True)
class Step:
    """What a client is told next. `reset` says why to forget all rows: the piece is then the whole answer."""

    piece: Piece | None = None
    reset: str | None = None
    progress: int | None = None
    ended: str | None = None


class Watcher:
    """Belongs to the server's loop.

    Promises (tests/server/test_watcher.py): what it tells adds up to the answer, however slowly it is asked;
    what waits is bounded; nobody else notices.
    """

    def __init__(self, channel: Channel, load: Load, wake: Callable[[], None], most: int = MOST_BYTES):
        self.channel, self.load, self.wake, self.most = channel, load, wake, most
        self.reset: str | None = None
        self.told_to = NOTHING_YET
        self._waiting: deque[Piece] = deque()
        self._bytes = 0
        self._is_catching_up = False
        self._ended: str | None = None
        self.is_closed = False

    # ----- from the hub

    def begin(self, piece: Piece | None) -> None:
        """What it begins with."""
        self._is_catching_up = False
        if piece is not None:
            self._waiting.appendleft(piece)
            self._add(piece.nbytes)
            self._bound()
        self.wake()

    def catch_up(self) -> None:
        """Nothing is told before it has begun."""
        self._is_catching_up = True

    def give(self, piece: Piece) -> None:
        if self.reset is None:
            self._waiting.append(piece)
            self._add(piece.nbytes)
            self._bound()
        self.wake()

    def start_again(self, why: str) -> None:
        """What waits is of no use: the whole answer follows."""
        self._is_catching_up, self.reset = False, why
        self._waiting.clear()
        self._add(-self._bytes)
        self.wake()

    def end(self, why: str) -> None:
        self._ended = why
        self.wake()

    def _bound(self) -> None:
        if not self._is_too_much() or self._is_catching_up:
            return
        is_one = len(self._waiting) == 1
        if not is_one and not self.channel.is_told_only:
            self._merge()
        if self._is_too_much() and not is_one:
            self.start_again("it fell behind")

    def _is_too_much(self) -> bool:
        return self._bytes > self.most or self.load.waiting > self.load.most

    def _merge(self) -> None:
        """All that waits, as one step."""
        first, last = self._waiting[0], self._waiting[-1]
        rows = netted([piece.rows for piece in self._waiting], last.tick)
        begun = first.merged[0] if first.merged else first_tick(first.rows)
        merged = None if first.is_whole else (begun, last.tick)
        self._waiting.clear()
        self._add(-self._bytes)
        self._waiting.append(Piece(rows, last.tick, first.is_whole, merged))
        self._add(self._waiting[0].nbytes)

    def _add(self, nbytes: int) -> None:
        self._bytes += nbytes
        self.load.waiting += nbytes

    # ----- for the client

    @property
    def waiting(self) -> int:
        """In bytes."""
        return self._bytes

    def step(self) -> Step | None:
        """What comes next, if there is something."""
        if self._is_catching_up:
            return None
        if self.reset is not None:
            why, self.reset = self.reset, None
            self.told_to = NOTHING_YET
            return Step(self.channel.whole(), reset=why)
        if self._waiting:
            piece = self._waiting.popleft()
            self._add(-piece.nbytes)
            return Step(piece)
        if self.channel.tick > self.told_to:
            self.told_to = self.channel.tick
            return Step(progress=self.told_to)
        return None if self._ended is None else Step(ended=self._ended)

    def close(self) -> None:
        """Wants no more."""
        if not self.is_closed:
            self.is_closed = True
            self._waiting.clear()
            self._add(-self._bytes)
            self.channel.leave(self)
