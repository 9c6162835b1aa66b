"""Hashes of keys: the same on every machine and in every version, since objects live by them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import U64
from sanderling.kernels.jit import jit


@jit
def mix(value: np.uint64) -> np.uint64:
    """Spreads the bits of a number over all 64 (the finaliser of splitmix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@jit
def hash_integers(values: npt.NDArray[np.int64]) -> U64:
    hashes = np.empty(len(values), np.uint64)
    for i in range(len(values)):
        hashes[i] = mix(np.uint64(values[i]) + np.uint64(0x9E3779B97F4A7C15))
    return hashes


@jit
def hash_strings(offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> U64:
    """FNV-1a over the bytes of each string, mixed."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(offsets) - 1):
        h = np.uint64(0xCBF29CE484222325)
        for j in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        hashes[i] = mix(h)
    return hashes


def hash_keys(keys: pa.Array) -> U64:
    """A hash for each key of a column of strings or integers without nulls."""
    if not pa.types.is_string(keys.type):
        return hash_integers(keys.cast(pa.int64()).to_numpy(zero_copy_only=False))
    _, offsets, data = keys.buffers()
    if offsets is None or len(keys) == 0:
        return np.empty(0, np.uint64)
    starts = np.frombuffer(offsets, np.int32)[keys.offset : keys.offset + len(keys) + 1]
    text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    return hash_strings(starts, text)
