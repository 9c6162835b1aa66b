"""Where two columns hold different values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bools = npt.NDArray[np.bool_]


def differs(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Bools:
    """Where two columns hold different values; NULL is the same as NULL, NaN as NaN."""
    is_same = pc.or_(pc.equal(old, new).fill_null(False), pc.and_(pc.is_null(old), pc.is_null(new)))
    if pa.types.is_floating(old.type):
        both_nan = pc.and_(pc.is_nan(old).fill_null(False), pc.is_nan(new).fill_null(False))
        is_same = pc.or_(is_same, both_nan)
    return ~np.asarray(is_same.to_numpy(), np.bool_)
