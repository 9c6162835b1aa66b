"""What a shard keeps of one window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from sanderling.arrays import I64, Growing

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class Holder(Protocol):
    """The readings of one window."""

    leave: Growing  # by row the tick in which it left; NEVER: it is held

    def advance(self, rows: I64, followed: I64, ended: I64) -> I64:
        """Takes new rows, in order of object and time; gives the rows that leave.

        `followed` have a row behind them now, `ended` are the last of an object that was gone or silent.
        """


def by_object(history: History) -> I64:
    """All rows that windows of a shard may look at, in order of object and time."""
    own = np.flatnonzero(history.is_own)
    return np.asarray(own[np.argsort(history.object[own], kind="stable")])
