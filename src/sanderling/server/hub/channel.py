"""One query as its clients see it: read along once, whoever looks at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.clock import NOTHING_YET
from sanderling.plans.plan import Template
from sanderling.server.hub.rows import Held, Piece, by_place, last_tick, schema_of
from sanderling.server.hub.watcher import Watcher
from sanderling.server.shown.columns import ShownColumn


@dataclass(slots=True, eq=False)
class Channel:
    """Belongs to the server's loop; what comes in from the session goes through the hub first."""

    name: str
    number: int
    template: Template
    columns: tuple[ShownColumn, ...]
    streams: tuple[str, ...]  # that its ticks wait for
    is_told_only: bool  # alerts and matches, which nobody holds
    tick: int = NOTHING_YET  # all up to it has been told
    came: int = 0  # at the last tick that changed anything
    went: int = 0
    is_begun: bool = False
    ended: str | None = None
    watchers: list[Watcher] = field(default_factory=list)
    left_at: float = 0.0  # when the last of them left
    _held: Held | None = None
    _schema: pa.Schema = None
    _begun: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._schema = schema_of(self.template)

    # ----- from the hub

    def begin(self, answer: pa.Table | None, tick: int) -> None:
        rows = by_place(self._schema, answer)
        self.tick, self.is_begun = max(tick, last_tick(rows)), True
        if not self.is_told_only:
            self._held = Held(rows)
        self._say_begun()

    def give(self, table: pa.Table) -> None:
        rows = by_place(self._schema, table)
        piece = Piece(rows, last_tick(rows))
        self.tick = max(self.tick, piece.tick)
        if self._held is not None:
            self._held.change(rows)
        is_last = pc.equal(rows.column("tick"), rows.column("tick")[-1])
        signs = rows.column("sign").filter(is_last).to_numpy()
        self.came, self.went = int((signs > 0).sum()), int((signs < 0).sum())
        for watcher in list(self.watchers):
            watcher.give(piece)

    def go_on_to(self, tick: int) -> None:
        """All up to this tick has been told."""
        if tick > self.tick:
            self.tick = tick
            for watcher in self.watchers:
                watcher.wake()

    def end(self, why: str) -> None:
        self.ended = why
        self._say_begun()
        for watcher in list(self.watchers):
            watcher.end(why)

    def _say_begun(self) -> None:
        waiting, self._begun = self._begun, []
        for then in waiting:
            then()

    # ----- for clients

    def when_begun(self, then: Callable[[], None]) -> None:
        if self.is_begun or self.ended:
            then()
        else:
            self._begun.append(then)

    def whole(self) -> Piece:
        """The answer as it is now."""
        rows = self._schema.empty_table() if self._held is None else self._held.rows(self.tick)
        return Piece(rows, self.tick, is_whole=True)

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def size(self) -> int | None:
        return None if self._held is None else self._held.size

    def leave(self, watcher: Watcher) -> None:
        if watcher in self.watchers:
            self.watchers.remove(watcher)
