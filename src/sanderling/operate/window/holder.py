"""What a shard keeps of a window, whatever its kind; and what those kinds share that later readings end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sanderling.arrays import I64, Bools, Growing
from sanderling.clock import ALWAYS, NEVER

if TYPE_CHECKING:
    from sanderling.operate.window.history import History

NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Closing:
    """What the closing of some ticks brought."""

    before: int  # the last tick that had closed
    rows: I64  # new ones, in order of object and time
    followed: I64  # they have a row behind them now
    ended: I64  # the last ones of objects that were gone or silent


class Holder(Protocol):
    """The readings of one window, as rows of a history."""

    @property
    def leave(self) -> Growing | None:
        """By row the tick in which it left, where that does not follow from times alone: so it is saved."""

    def advance(self, closing: Closing) -> I64:
        """Takes new rows; gives those that leave."""

    def leaves(self, rows: I64) -> I64:
        """The tick in which each reading leaves; NEVER: not yet, or others know."""

    def is_held(self) -> Bools:
        """Which readings are in it after the last tick that closed; of the last of all: may be in it."""

    @property
    def oldest(self) -> int:
        """Readings of this time would be in it, whether there are some or not."""


class Leaving:
    """Of windows that later readings end: by row the tick in which it left, NEVER: it is held."""

    def __init__(self, history: History, leave: I64 | None):
        """As it was with these `leave`; without, rows are yet to be looked at, as if all had come now."""
        self.history = history
        self.leave = Growing(np.where(history.is_own, NEVER, ALWAYS) if leave is None else leave, NEVER)

    def leaves(self, rows: I64) -> I64:
        return np.asarray(self.leave.all[rows])

    def is_held(self) -> Bools:
        return np.asarray(self.leave.all == NEVER)

    @property
    def oldest(self) -> int:
        return self.history.closed_to


def by_object(history: History) -> I64:
    """All rows that windows of a shard may look at, in order of object and time."""
    own = np.flatnonzero(history.is_own)
    return np.asarray(own[np.argsort(history.object[own], kind="stable")])
