"""What passes between the parts of an operator: moves of objects, and their meetings with regions."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I64, Bools
from sanderling.kernels.inside.cross import IS, WAS
from sanderling.kernels.inside.follow import Meetings

Found = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int8]]


@dataclass(frozen=True, slots=True)
class MoveBatch:
    """How objects moved over some ticks, in order of tick: rows of the reading store, -1 for absent."""

    tick: I64
    object: I64
    old_row: I64
    new_row: I64

    def __len__(self) -> int:
        return len(self.tick)

    def part(self, some: slice) -> MoveBatch:
        return MoveBatch(self.tick[some], self.object[some], self.old_row[some], self.new_row[some])


NO_MOVES = MoveBatch(*(np.empty(0, np.int64) for _ in range(4)))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """A reading's meeting with a region: in it before (`was`), after (`is_`), or both.

    `changed` has a bit for each column of the reading that differs from before.
    """

    tick: I64
    region: I64
    old_row: I64
    new_row: I64
    was: Bools
    is_: Bools
    changed: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.tick)

    @classmethod
    def of(cls, found: Found, moves: MoveBatch, changed: npt.NDArray[np.uint64], ids: I64) -> PairBatch:
        """What the join kernel found among some moves and the regions `ids`."""
        move, region, state = found
        was, is_ = (state & WAS) > 0, (state & IS) > 0
        old, new = moves.old_row[move], moves.new_row[move]
        return cls(moves.tick[move], ids[region], old, new, was, is_, changed[move])

    @classmethod
    def of_meetings(cls, found: Meetings, ids: I64) -> PairBatch:
        """What the regions `ids` met that follow their focal objects."""
        was, is_ = (found.state & WAS) > 0, (found.state & IS) > 0
        return cls(found.tick, ids[found.region], found.old_row, found.new_row, was, is_, found.changed)

    def sides(self) -> tuple[tuple[Bools, I64], tuple[Bools, I64]]:
        """Before and after: whether it was in, and the reading it was judged by."""
        return (self.was, self.old_row), (self.is_, self.new_row)

    def take(self, chosen: Bools) -> PairBatch:
        return PairBatch(*(getattr(self, f.name)[chosen] for f in fields(self)))

    @classmethod
    def concat(cls, batches: list[PairBatch]) -> PairBatch:
        if len(batches) == 1:
            return batches[0]
        return cls(*(np.concatenate([getattr(b, f.name) for b in batches]) for f in fields(cls)))
