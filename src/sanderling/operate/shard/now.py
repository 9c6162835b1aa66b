"""What the operators of a shard look at: readings as they stand, and what moved since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sanderling.arrays import I64
from sanderling.kernels.inside.cross import Moves
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.where.orders import Ordered
from sanderling.operate.window.past import Past


@dataclass(frozen=True, slots=True)
class Now:
    """A stream in a shard, as at the last tick that closed."""

    objects: LastReadings
    focals: LastReadings
    closed_to: int
    ready: int  # versions from this number on have not begun, whatever the plan says
    past: Past


@dataclass(frozen=True, slots=True)
class Moved:
    """How objects, and focal objects, moved in the ticks that have just closed."""

    now: Now
    moves: MoveBatch
    columns: Moves  # the same for kernels, with what conditions say
    rows_before: I64  # where objects' readings were
    focal_moves: MoveBatch
    due: Sequence[Ordered] = ()  # of these it is to be tried what they would find by place alone


@dataclass(frozen=True, slots=True)
class Settled:
    """How objects, and focal objects, moved, when others have told of it."""

    now: Now
    moves: MoveBatch
    focal_moves: MoveBatch
