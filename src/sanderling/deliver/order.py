"""In which order rows go out, whatever their columns hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.kernels.order import ordered_by


def sort_order(columns: Sequence[pa.ChunkedArray]) -> I64:
    """The rows by the first column, then the second, and so on; NULL comes last."""
    order = np.arange(len(columns[0]))
    for key in reversed(_packed([key for column in columns for key in _keys(column)])):
        order = ordered_by(order, key)
    return order


def _packed(keys: list[I64]) -> list[I64]:
    """The same order by fewer keys: neighbours whose values fit into one number together."""
    packed: list[tuple[I64, int]] = []
    for key in keys:
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        span = high - low + 1
        if packed and packed[-1][1] * span < 2**62:
            before, spans = packed.pop()
            packed.append((before * span + (key - low), spans * span))
        else:
            packed.append((key - low, span) if span < 2**62 else (key, span))
    return [key for key, _ in packed]


def _keys(column: pa.ChunkedArray) -> list[I64]:
    """Whole numbers that are ordered as the values are."""
    keys = [np.asarray(pc.is_null(column).to_numpy(), np.int64)] if column.null_count else []
    type_ = column.type
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        encoded = column.combine_chunks().dictionary_encode()
        ranks = np.empty(len(encoded.dictionary), np.int64)
        ranks[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
        codes = encoded.indices.fill_null(0).to_numpy()
        return [*keys, ranks[codes] if len(ranks) else np.zeros(len(codes), np.int64)]
    if pa.types.is_floating(type_):
        # There is one zero; below it the bits of floats run backwards.
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0
        bits = values.view(np.int64)
        return [*keys, np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)]
    if pa.types.is_date(type_):
        column = column.cast(pa.int32())
    return [*keys, column.cast(pa.int64()).fill_null(0).to_numpy()]
