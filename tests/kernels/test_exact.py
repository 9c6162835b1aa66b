"""Exact sums against fractions: huge and tiny values, ties, weights, sums that vanish."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from sanderling.kernels.sql.exact import Accounts, walk_sums

doubles = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, 2.0**-53, 2.0**-1074, 2.0**1023, 1.7976931348623157e308, -(2.0**-54), 2.0**53]),
)
times = st.one_of(st.integers(-3, 3), st.integers(-(2**40), 2**40))


def summed(
    values: list[Any], signs: list[int], is_float: bool
) -> tuple[list[Any], list[Any], list[Any], Any]:
    """A step for each value, all of one group, in two calls: so that the account is kept in between."""
    accounts = Accounts(*(np.zeros(1, np.int64) for _ in range(4)), np.zeros(1, np.bool_))
    pool, used = np.zeros(4, np.uint32), 0
    found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    middle = len(values) // 2
    for part in (slice(0, middle), slice(middle, None)):
        column = np.array(values[part], np.float64 if is_float else np.int64).view(np.int64)
        n = len(column)
        sign, starts = np.array(signs[part], np.int64), np.arange(n + 1)
        told = walk_sums(np.zeros(n, np.int64), starts, column, sign, is_float, accounts, pool, used)
        pool, used = told[3], told[4]
        for line, what in zip(found, told[:3], strict=True):
            line.extend(what[1].tolist())
    return *found, accounts


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@given(st.lists(st.tuples(doubles, times), max_size=12))
@example([(1.0, 1), (2.0**-53, 1), (2.0**-1074, 1), (2.0**-1074, -1)])
@example([(-1.0, 2**32), (1.0, 2**32)])
def test_a_sum_of_doubles_is_rounded_once(changes: list[tuple[float, int]]) -> None:
    values, signs = [v for v, _ in changes], [t for _, t in changes]
    _, found, fits, accounts = summed(values, signs, is_float=True)
    total = Fraction(0)
    for value, sign, sum_, is_there in zip(values, signs, found, fits, strict=True):
        total += Fraction(value) * sign
        assert sum_ == nearest(total) and is_there == math.isfinite(sum_)
    assert (accounts.size[0] == 0) == (total == 0)


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), times), max_size=12))
@example([(-(2**63), 1), (2**63 - 1, 1), (1, 1)])
def test_a_sum_of_whole_numbers(changes: list[tuple[int, int]]) -> None:
    values, signs = [v for v, _ in changes], [t for _, t in changes]
    wholes, rounded, fits, _ = summed(values, signs, is_float=False)
    total = 0
    for k, (value, sign) in enumerate(zip(values, signs, strict=True)):
        total += value * sign
        assert fits[k] == (-(2**63) <= total < 2**63) and rounded[k] == float(total)
        assert not fits[k] or wholes[k] == total
