"""Where the time of a batch goes: laps, each with a name."""

from __future__ import annotations

import time


class Laps:
    """A stop watch; `seconds` is by name of lap."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def end(self, name: str) -> None:
        """What has passed since the last lap ended goes by this name."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def end_with(self, parts: dict[str, float], name: str) -> None:
        """The same, but for what is known to have gone into these parts."""
        for part, seconds in parts.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + seconds
            self._last += seconds
        self.end(name)
