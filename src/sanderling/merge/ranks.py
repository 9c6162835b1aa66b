"""The order of keys: numbers as numbers, texts by their bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def key_ranks(keys: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Numbers in the order of the keys; equal keys have equal numbers."""
    if pa.types.is_integer(keys.type):
        return np.asarray(keys.to_numpy(), np.int64)
    flat = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    encoded = flat.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), np.int64)
    rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
    return np.asarray(rank[encoded.indices.to_numpy(zero_copy_only=False)])
