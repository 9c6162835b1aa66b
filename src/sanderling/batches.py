"""The columnar batches that travel between stages.

readings ──► moves ──► signed rows
(ingest)     (operate)  (merge, deliver)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

I64 = npt.NDArray[np.int64]

# Columns that a reading carries beside its own.
TS = "__ts"
ROW = "__row"
LATE = "__late"


@dataclass(frozen=True, slots=True)
class MoveBatch:
    """How objects moved over some ticks, in order of tick: rows of the reading store, -1 for absent."""

    tick: I64
    object: I64
    old_row: I64
    new_row: I64

    def __len__(self) -> int:
        return len(self.tick)

    @classmethod
    def empty(cls) -> MoveBatch:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, nothing)


@dataclass(frozen=True, slots=True)
class PairBatch:
    """A reading's meeting with a region: in it before (`was`), after (`is_`), or both."""

    tick: I64
    region: I64
    old_row: I64
    new_row: I64
    was: npt.NDArray[np.bool_]
    is_: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tick)

    def take(self, chosen: npt.NDArray[np.bool_] | I64) -> PairBatch:
        return PairBatch(
            self.tick[chosen], self.region[chosen], self.old_row[chosen], self.new_row[chosen],
            self.was[chosen], self.is_[chosen],
        )  # fmt: skip

    @classmethod
    def concat(cls, batches: list[PairBatch]) -> PairBatch:
        if len(batches) == 1:
            return batches[0]
        return cls(
            *(
                np.concatenate([getattr(b, n) for b in batches] or [np.empty(0, t)])
                for n, t in (
                    ("tick", np.int64), ("region", np.int64), ("old_row", np.int64), ("new_row", np.int64),
                    ("was", np.bool_), ("is_", np.bool_),
                )  # fmt: skip
            )
        )


@dataclass(frozen=True, slots=True)
class DeltaBatch:
    """Signed rows of one template: query, tick, sign, then the select list as c0, c1, …"""

    template: int
    rows: pa.Table
