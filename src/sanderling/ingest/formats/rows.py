"""The rows of a slice in columns, not yet typed: what every format is brought to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.ingest.letters import Faults

Numbers = npt.NDArray[np.int64]


class Source(Protocol):
    """What rows were read from, and can be shown from again."""

    def raw(self, numbers: Numbers) -> Sequence[str]:
        """The rows with these numbers, as their sender wrote them."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the right shape: one array for each wanted column, in the order asked for.

    The arrays hold texts, or what the parquet file holds. Rows without the right shape are in `faults`.
    """

    numbers: Numbers
    columns: tuple[pa.Array, ...]
    faults: Faults
    source: Source


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The column as one array, even if it has no chunk at all."""
    if isinstance(column, pa.Array):
        return column
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays([*column.chunks, pa.array([], column.type)])
    )
