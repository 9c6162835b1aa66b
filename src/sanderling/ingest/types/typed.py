"""A column in its declared type, and how the slow ways of parsing put one together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Typed:
    """Values of the declared type; a bad one is null. No mask means that none is bad."""

    values: pa.Array
    is_bad: Mask | None

    def bad(self) -> Mask:
        return np.zeros(len(self.values), np.bool_) if self.is_bad is None else self.is_bad


def mask(answers: pa.Array) -> Mask:
    """An Arrow mask as NumPy's; unknown is no."""
    return np.asarray(answers.fill_null(False))


def judged(values: npt.NDArray[np.generic], is_null: Mask, is_good: Mask, kind: pa.DataType) -> Typed:
    """Values as NumPy has them, null where they are null or not good."""
    is_bad = ~is_null & ~is_good
    is_none = is_null | is_bad
    # Arrow checks the range of what the mask hides, too.
    values = np.where(is_none, np.zeros(1, values.dtype), values)
    typed = pa.array(values, mask=is_none).cast(kind)
    return Typed(typed, is_bad if is_bad.any() else None)


def spread(values: pa.Array, is_there: Mask) -> pa.Array:
    """The values put where `is_there`, in order, with nulls between."""
    at = np.cumsum(is_there) - 1
    return values.take(pa.array(at, pa.int64(), mask=~is_there))


def trimmed(texts: pa.Array) -> pa.Array:
    """Without white space around; what is then empty is null."""
    clean = pc.ascii_trim_whitespace(texts)
    return pc.if_else(pc.equal(clean, ""), pa.scalar(None, pa.string()), clean)


def from_bytes(values: pa.Array, of_texts: Callable[[pa.Array], Typed]) -> Typed:
    """Old writers leave texts unmarked: bytes that are UTF-8 are texts, others do not fit."""
    values = values.cast(pa.binary())
    try:
        return of_texts(values.cast(pa.string()))
    except pa.ArrowInvalid:
        texts = pa.array([_text(value) for value in values.to_pylist()], pa.string())
        is_broken = mask(pc.and_(pc.is_null(texts), pc.is_valid(values)))
        typed = of_texts(texts)
        return Typed(typed.values, typed.bad() | is_broken)


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
