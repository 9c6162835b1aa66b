"""A query without INSIDE: any place there is. No numbers."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box

EVERYWHERE = 3
WORD = "everywhere"


def numbers(n: int) -> tuple[F64, F64, F64, F64]:
    zero = np.zeros(n)
    return zero, zero, zero, zero


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """NaN is no place."""
    return x == x


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return -np.inf, -np.inf, np.inf, np.inf


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    return np.inf


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    return not np.isnan(x)
