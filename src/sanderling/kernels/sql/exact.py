"""Exact sums of doubles and of whole numbers: long numbers of 32-bit digits, rounded once when read.

A double is a whole number of 2^-1074, so a sum of doubles is one too, and needs 68 digits at most. Most need
three or four: an account keeps those between its lowest and its highest digit, and none when it is zero.
While changes are added, digits may be negative or large; `settle` brings them in order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit

U32 = npt.NDArray[np.uint32]

# Squares of doubles are whole numbers of 2^-2148, below 2^2048: 132 digits, and some for many rows.
DIGITS = 144
LOW = 0xFFFFFFFF
LOW_U = np.uint64(0xFFFFFFFF)
MOST_TIMES = 1 << 29  # so that a digit times this fits
UNIT_OF_DOUBLES = -1074


class Accounts(NamedTuple):
    """Sums by number: `size` digits from the `low`-th on are at `start` in a pool, with `room` for more."""

    start: I64
    size: I64
    room: I64
    low: I64
    is_negative: Bools


@jit
def add(digits: I64, low: int, high: int, m: np.uint64, times: int, shift: int) -> tuple[int, int]:
    """Adds m · 2^shift so many times; gives the range of digits in use."""
    limb, bit = shift // 32, np.uint64(shift % 32)
    d0 = np.int64((m << bit) & LOW_U)
    d1 = np.int64((m >> (np.uint64(32) - bit)) & LOW_U)
    # Two shifts: one by 64 would be undefined.
    d2 = np.int64((m >> np.uint64(32)) >> (np.uint64(32) - bit))
    while times != 0:
        some = min(max(times, -MOST_TIMES), MOST_TIMES)
        p0, p1, p2 = d0 * some, d1 * some, d2 * some
        digits[limb] += p0 & LOW
        digits[limb + 1] += (p0 >> 32) + (p1 & LOW)
        digits[limb + 2] += (p1 >> 32) + (p2 & LOW)
        digits[limb + 3] += p2 >> 32
        times -= some
    return min(low, limb), max(high, limb + 4)


@jit
def add_square(digits: I64, low: int, high: int, m: np.uint64, times: int, shift: int) -> tuple[int, int]:
    """Adds (m · 2^shift)² so many times."""
    a, b = m >> np.uint64(32), m & LOW_U
    low, high = add(digits, low, high, b * b, times, 2 * shift)
    low, high = add(digits, low, high, a * b, times, 2 * shift + 33)
    return add(digits, low, high, a * a, times, 2 * shift + 64)


@jit
def parts_of(value: int, is_float: bool) -> tuple[np.uint64, int, int]:
    """A value as sign · m · 2^shift: m, sign, shift. A double is given by its bits, and is finite."""
    if not is_float:
        if value < 0:
            return np.uint64(~value) + np.uint64(1), -1, 0
        return np.uint64(value), 1, 0
    exponent = (value >> 52) & 0x7FF
    m = np.uint64(value & 0xFFFFFFFFFFFFF)
    if exponent > 0:
        m |= np.uint64(1 << 52)
        exponent -= 1
    return m, -1 if value < 0 else 1, exponent


@jit
def settle(digits: I64, low: int, high: int) -> tuple[int, int, bool]:
    """Digits from 0 to 2^32 - 1 and a sign; the range shrinks to what is not zero."""
    carry = 0
    for i in range(low, high):
        v = digits[i] + carry
        digits[i], carry = v & LOW, v >> 32
    while carry not in (0, -1):
        digits[high], carry = carry & LOW, carry >> 32
        high += 1
    is_negative = carry == -1
    if is_negative:
        carry = 0
        for i in range(low, high):
            v = carry - digits[i]
            digits[i], carry = v & LOW, v >> 32
        if carry == 0:
            digits[high] = 1
            high += 1
    while high > low and digits[high - 1] == 0:
        high -= 1
    while low < high and digits[low] == 0:
        low += 1
    if low >= high:
        return DIGITS, 0, False
    return low, high, is_negative


@jit
def leading(digits: I64, low: int, high: int) -> tuple[np.uint64, int]:
    """The settled number as m · 2^exponent with m of 53 bits, rounded to the nearest, ties to even."""
    if low >= high:
        return np.uint64(0), 0
    bits, top = 32 * (high - 1), digits[high - 1]
    while top > 0:
        top >>= 1
        bits += 1
    drop = max(0, bits - 53)
    limb, bit = drop // 32, np.uint64(drop % 32)
    d0, d1, d2 = np.uint64(digits[limb]), np.uint64(digits[limb + 1]), np.uint64(digits[limb + 2])
    m = (d0 >> bit) | (d1 << (np.uint64(32) - bit)) | ((d2 << np.uint64(32)) << (np.uint64(32) - bit))
    m &= np.uint64((1 << 53) - 1)
    if drop > 0:
        at = drop - 1
        limb = at // 32
        is_half = (digits[limb] >> (at % 32)) & 1 == 1
        is_more = low < limb or digits[limb] & ((1 << (at % 32)) - 1) != 0
        if is_half and (is_more or m & np.uint64(1) == np.uint64(1)):
            m += np.uint64(1)
    return m, drop


@jit
def rounded(digits: I64, low: int, high: int, is_negative: bool, unit: int) -> float:
    """The nearest double; infinite where there is none."""
    m, exponent = leading(digits, low, high)
    value = math.ldexp(float(m), exponent + unit)
    return -value if is_negative else value


@jit
def whole(digits: I64, low: int, high: int, is_negative: bool) -> tuple[int, bool]:
    """The number itself, and whether it fits into 64 bits."""
    if low >= high:
        return 0, True
    if high > 2:
        return 0, False
    m = (np.uint64(digits[1]) << np.uint64(32)) | np.uint64(digits[0])
    limit = np.uint64(1) << np.uint64(63)
    if is_negative:
        return int(np.int64(~m + np.uint64(1))), bool(m <= limit)
    return int(np.int64(m)), bool(m < limit)


@jit
def load(accounts: Accounts, pool: U32, a: int, digits: I64) -> tuple[int, int, bool]:
    """An account's digits, settled."""
    n, first, start = accounts.size[a], accounts.low[a], accounts.start[a]
    if n == 0:
        return DIGITS, 0, False
    for i in range(n):
        digits[first + i] = np.int64(pool[start + i])
    return first, first + n, accounts.is_negative[a]


@jit
def store(
    accounts: Accounts, pool: U32, used: int, a: int, digits: I64, low: int, high: int, is_negative: bool
) -> tuple[U32, int]:
    """Keeps settled digits and clears them; they move to the end of the pool if they need more room."""
    n = max(0, high - low)
    if n > accounts.room[a]:
        if used + n > len(pool):
            grown = np.zeros(2 * (used + n), np.uint32)
            grown[:used] = pool[:used]
            pool = grown
        accounts.start[a], accounts.room[a] = used, n
        used += n
    accounts.size[a], accounts.low[a], accounts.is_negative[a] = n, low, is_negative
    for i in range(n):
        pool[accounts.start[a] + i] = np.uint32(digits[low + i])
        digits[low + i] = 0
    return pool, used


@jit
def flip(digits: I64, low: int, high: int) -> None:
    for i in range(low, high):
        digits[i] = -digits[i]


@jit
def walk_sums(
    group: I64, starts: I64, value: I64, sign: I64, is_float: bool, accounts: Accounts, pool: U32, used: int
) -> tuple[I64, F64, Bools, U32, int]:
    """The sum of each step's group before it (line 0) and after it (line 1).

    As a whole number and as a double; `fits` says whether there is one. Changes stand in order of their
    steps, those of step s from starts[s] on.
    """
    n = len(group)
    wholes, doubles, fits = np.zeros((2, n), np.int64), np.zeros((2, n)), np.zeros((2, n), np.bool_)
    digits = np.zeros(DIGITS, np.int64)
    low, high, is_negative = DIGITS, 0, False
    for s in range(n):
        is_first = s == 0 or group[s - 1] != group[s]
        if is_first:
            low, high, is_negative = load(accounts, pool, group[s], digits)
        for side in range(2):
            if side == 0 and not is_first:
                wholes[0, s], doubles[0, s], fits[0, s] = wholes[1, s - 1], doubles[1, s - 1], fits[1, s - 1]
                continue
            if side == 1:
                if is_negative:
                    flip(digits, low, high)
                for i in range(starts[s], starts[s + 1]):
                    m, minus, shift = parts_of(value[i], is_float)
                    low, high = add(digits, low, high, m, sign[i] * minus, shift)
                low, high, is_negative = settle(digits, low, high)
            if is_float:
                doubles[side, s] = rounded(digits, low, high, is_negative, UNIT_OF_DOUBLES)
                fits[side, s] = np.isfinite(doubles[side, s])
            else:
                doubles[side, s] = rounded(digits, low, high, is_negative, 0)
                wholes[side, s], fits[side, s] = whole(digits, low, high, is_negative)
        if s + 1 == n or group[s + 1] != group[s]:
            pool, used = store(accounts, pool, used, group[s], digits, low, high, is_negative)
    return wholes, doubles, fits, pool, used
