"""Engines as bytes: a snapshot now and then, deltas in between.

snapshot ◄─ delta ◄─ delta ◄─ … = the engine now

What is in them every part of an engine says for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sanderling.state.frame import Frame, from_bytes, to_bytes


class Saved(NamedTuple):
    """What an engine saved, under a version of its plan."""

    frame: Frame
    version: int


class Keeps(Protocol):
    """A shard, or a merge partition."""

    version: int

    def saved(self, is_whole: bool) -> Frame:
        """All that is remembered; or what changed since this was last asked."""
        ...

    def restore(self, whole: Saved | None, since: Sequence[Saved]) -> None:
        """Brings a new one to the state that was saved; without a whole one, from the first plan on."""
        ...

    def catch_up(self, since: Sequence[Saved]) -> None:
        """Brings one that was saved some deltas ago to where it is now; costs by what changed since."""
        ...


def snapshot(engine: Keeps) -> bytes:
    """The whole state."""
    return to_bytes(engine.saved(is_whole=True), engine.version)


def delta(engine: Keeps) -> bytes:
    """What changed since the last snapshot or delta."""
    return to_bytes(engine.saved(is_whole=False), engine.version)


def restore(engine: Keeps, snapshot_bytes: bytes | None, deltas: list[bytes]) -> None:
    whole = None if snapshot_bytes is None else Saved(*from_bytes(snapshot_bytes))
    engine.restore(whole, [Saved(*from_bytes(data)) for data in deltas])


def catch_up(engine: Keeps, deltas: list[bytes]) -> None:
    engine.catch_up([Saved(*from_bytes(data)) for data in deltas])
