"""Aggregates of a multiset of values: exact in fractions, rounded once. NULL counts for none of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .oracle import value_order

LARGEST = 2**63 - 1


def aggregate(kind: str, values: Sequence[object], is_distinct: bool = False) -> object:
    """`values` holds what the argument is in each row; NULLs among them."""
    known = [value for value in values if value is not None]
    if is_distinct:
        known = list(dict.fromkeys(known))
    if kind == "COUNT":
        return len(known)
    if not known:
        return None
    return {"SUM": total, "AVG": mean, "MIN": least, "MAX": most, "STDDEV": deviation}[kind](known)


def total(values: Sequence[object]) -> object:
    """Whole numbers give a whole number of 64 bits, or NULL; all else a double."""
    if all(isinstance(value, int) for value in values):
        exact = sum(values)  # type: ignore[arg-type]
        return exact if -LARGEST - 1 <= exact <= LARGEST else None
    return rounded(exact_sum(values))


def mean(values: Sequence[object]) -> object:
    """The sum is rounded before it is divided."""
    sum_ = rounded(exact_sum(values))
    return None if sum_ is None else sum_ / len(values)


def deviation(values: Sequence[object]) -> object:
    """Of a sample: of a single value there is none. n·Σx² − (Σx)² is exact, and rounded once."""
    n = len(values)
    if n < 2:
        return None
    squares = exact_sum([Fraction(value) ** 2 for value in values])  # type: ignore[call-overload]
    spread = rounded(n * squares - exact_sum(values) ** 2)
    return None if spread is None else math.sqrt(spread / (n * (n - 1)))


def least(values: Sequence[object]) -> object:
    return min(values, key=value_order)


def most(values: Sequence[object]) -> object:
    return max(values, key=value_order)


def exact_sum(values: Sequence[object]) -> Fraction:
    return sum((Fraction(value) for value in values), Fraction(0))  # type: ignore[call-overload]


def rounded(exact: Fraction) -> float | None:
    """The nearest double, of two the even one; NULL where there is none."""
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return None
