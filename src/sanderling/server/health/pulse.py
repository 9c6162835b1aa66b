"""How the stream is doing: the last ticks, and how many readings came, were late, or could not be read."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Any

from sanderling.clock import show_time
from sanderling.server.hub.hub import Turn

TURNS_KEPT = 300
# Over so many seconds a pace is told.
SECONDS_OF_PACE = 10.0


class Pulse:
    """Belongs to the server's loop."""

    def __init__(self) -> None:
        self.turns: deque[Turn] = deque(maxlen=TURNS_KEPT)
        self.rows: Counter[str] = Counter()  # by stream, since the server began
        self.letters: dict[str, Counter[str]] = {}
        self.updates = 0
        self.batches = 0

    def take(self, turn: Turn) -> None:
        if turn.closed or turn.updates:
            self.turns.append(turn)
        self.batches += 1
        self.updates += turn.updates
        for stream, came in turn.arrivals.items():
            self.rows[stream] += came.rows
        for stream, reasons in turn.letters.items():
            self.letters.setdefault(stream, Counter()).update(reasons)

    def pace(self, stream: str) -> float:
        """Readings a second, lately."""
        since = time.time() - SECONDS_OF_PACE
        return (
            sum(t.arrivals[stream].rows for t in self.turns if t.at > since and stream in t.arrivals)
            / SECONDS_OF_PACE
        )

    def figures(self) -> dict[str, Any]:
        """For the curves of an operator's page."""
        turns, ticks = list(self.turns), []
        for before, turn in zip([None, *turns], turns, strict=False):
            closed = max(turn.closed.values(), default=0)
            ticks.append({
                "tick": show_time(closed) if turn.closed else None,
                "latency_s": round(turn.at - closed / 1e6, 3) if turn.closed else None,
                "batch_s": None if before is None else round(turn.at - before.at, 3),
                "readings": sum(came.rows for came in turn.arrivals.values()),
                "updates": turn.updates,
            })  # fmt: skip
        streams = {
            name: {
                "readings_per_second": self.pace(name), "readings": self.rows[name],
                "letters": dict(self.letters.get(name, {})),
            }
            for name in {*self.rows, *self.letters}
        }  # fmt: skip
        return {"ticks": ticks, "streams": streams}
