"""What kNN queries ask, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.language.statements import NearestTarget, Value


@dataclass(frozen=True, slots=True)
class Neighbours:
    """By query: how many, and nearest to which place, or to which focal object."""

    k: npt.NDArray[np.int64]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    focals: pa.Array | None

    def of(self, row: int) -> Neighbours:
        """One of them."""
        focals, one = None if self.focals is None else self.focals.slice(row, 1), slice(row, row + 1)
        return Neighbours(self.k[one], self.x[one], self.y[one], focals)


def written(target: NearestTarget) -> tuple[Value, ...]:
    """The numbers that a kNN is written with: k, then the place if there is one."""
    return (target.k, *(target.place or ()))


def neighbours_like(columns: list[npt.NDArray[np.float64]], focals: pa.Array | None) -> Neighbours:
    """Queries with these numbers, as `written` has them, and these focal objects."""
    k = columns[0].astype(np.int64)
    x, y = columns[1:] if len(columns) > 1 else (np.zeros(len(k)), np.zeros(len(k)))
    return Neighbours(k, x, y, focals)


def neighbours_of(target: NearestTarget, key: pa.DataType) -> Neighbours:
    """One query."""
    focals = None if target.focal is None else pa.array([target.focal.value], key)
    return neighbours_like([np.array([v.value], np.float64) for v in written(target)], focals)
