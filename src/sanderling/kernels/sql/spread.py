"""The standard deviation of a sample, from exact sums: n·Σx² − (Σx)² is exact, and rounded once."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I64
from sanderling.kernels.jit import jit
from sanderling.kernels.sql.exact import (
    DIGITS,
    UNIT_OF_DOUBLES,
    Accounts,
    add,
    add_square,
    flip,
    leading,
    load,
    parts_of,
    settle,
    store,
)

U32 = npt.NDArray[np.uint32]


@jit
def deviation(
    sums: I64, low: int, high: int, squares: I64, square_low: int, square_high: int, n: int, unit: int
) -> float:
    """The root of (n·Σx² − (Σx)²) / (n·(n − 1)); both sums are settled."""
    if n < 2:
        return math.nan
    work = np.zeros(DIGITS + 8, np.int64)
    first, last = DIGITS, 0
    for i in range(square_low, square_high):
        first, last = add(work, first, last, np.uint64(squares[i]), n & 0xFFFFFFF, 32 * i)
        first, last = add(work, first, last, np.uint64(squares[i]) << np.uint64(28), n >> 28, 32 * i)
    for i in range(low, high):
        for j in range(low, high):
            m = np.uint64(sums[i]) * np.uint64(sums[j])
            first, last = add(work, first, last, m, -1, 32 * (i + j))
    first, last, _ = settle(work, first, last)
    m, exponent = leading(work, first, last)
    exponent += 2 * unit
    whole = float(m)
    if exponent % 2 != 0:
        whole, exponent = 2.0 * whole, exponent - 1
    return math.ldexp(math.sqrt(whole / (float(n) * float(n - 1))), exponent // 2)


@jit
def walk_spreads(
    group: I64, starts: I64, value: I64, sign: I64, is_float: bool, counts: I64,
    sums: Accounts, sum_pool: U32, sum_used: int, squares: Accounts, square_pool: U32, square_used: int,
) -> tuple[F64, U32, int, U32, int]:  # fmt: skip
    """The deviation of each step's group before it (line 0) and after it (line 1); NaN where there is none.

    `counts` has, in the same way, how many values a group has. For the rest see walk_sums.
    """
    n = len(group)
    unit = UNIT_OF_DOUBLES if is_float else 0
    found = np.zeros((2, n))
    x, xx = np.zeros(DIGITS, np.int64), np.zeros(DIGITS, np.int64)
    low, high, is_negative = DIGITS, 0, False
    low2, high2 = DIGITS, 0
    for s in range(n):
        if s > 0 and group[s - 1] == group[s]:
            found[0, s] = found[1, s - 1]
        else:
            low, high, is_negative = load(sums, sum_pool, group[s], x)
            low2, high2, _ = load(squares, square_pool, group[s], xx)
            found[0, s] = deviation(x, low, high, xx, low2, high2, counts[0, s], unit)
        if is_negative:
            flip(x, low, high)
        for i in range(starts[s], starts[s + 1]):
            m, minus, shift = parts_of(value[i], is_float)
            low, high = add(x, low, high, m, sign[i] * minus, shift)
            low2, high2 = add_square(xx, low2, high2, m, sign[i], shift)
        low, high, is_negative = settle(x, low, high)
        low2, high2, _ = settle(xx, low2, high2)
        found[1, s] = deviation(x, low, high, xx, low2, high2, counts[1, s], unit)
        if s + 1 == n or group[s + 1] != group[s]:
            sum_pool, sum_used = store(sums, sum_pool, sum_used, group[s], x, low, high, is_negative)
            square_pool, square_used = store(
                squares, square_pool, square_used, group[s], xx, low2, high2, False
            )
    return found, sum_pool, sum_used, square_pool, square_used
