"""Conditions that only compare columns with constants, judged by NumPy: far faster where there are many.

They hold as in DuckDB (tests/engine/test_comparisons.py): NULL satisfies nothing, NaN is above all numbers, a
whole number beside a double is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import Bools
from sanderling.plans.columns import of_reading
from sanderling.plans.expression import Comparison


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers: int64 or double, 0 where it is NULL."""

    values: npt.NDArray[Any]
    is_null: Bools | None
    is_nan: Bools | None


Values: TypeAlias = Numbers | pa.ChunkedArray | None  # numbers, texts, or neither


def is_compared(comparison: Comparison, types: Mapping[str, pa.DataType]) -> bool:
    """Whether it can be judged here, by the types of columns of readings and of constants."""
    both = types.get(of_reading(comparison.column)), types.get(comparison.constant)
    if all(type_ is not None and pa.types.is_string(type_) for type_ in both):
        return comparison.op in ("=", "<>")
    return all(type_ is not None and is_number(type_) for type_ in both)


def is_number(type_: pa.DataType) -> bool:
    """Whether values of this type are compared here as numbers."""
    return bool(pa.types.is_integer(type_) or pa.types.is_float64(type_))


def values_of(column: pa.ChunkedArray) -> Values:
    """A column as it is compared."""
    type_ = column.type
    if pa.types.is_string(type_):
        return column
    if not is_number(type_):
        return None  # a FLOAT beside a whole number is compared as a FLOAT
    is_null = np.asarray(column.is_null().to_numpy(), np.bool_) if column.null_count else None
    whole = pa.int64() if pa.types.is_integer(type_) else pa.float64()
    values = np.asarray(column.cast(whole).fill_null(0).to_numpy())
    is_nan = np.isnan(values) if values.dtype == np.float64 else None
    return Numbers(values, is_null, is_nan if is_nan is not None and is_nan.any() else None)


def judged(
    found: tuple[Comparison, ...], constants: Mapping[str, pa.Scalar], values: Callable[[str], Values]
) -> Bools | None:
    """For each reading whether all of them hold; None if some have to be judged elsewhere."""
    verdict: Bools | None = None
    for comparison in found:
        holds = _holds(values(comparison.column), comparison.op, constants[comparison.constant])
        if holds is None:
            return None
        verdict = holds if verdict is None else verdict & holds
    return verdict


def judged_pairs(
    found: tuple[Comparison, ...], values: Callable[[str], Values], constants: Callable[[str], Values]
) -> Bools | None:
    """The same where each reading has constants of its own, as columns beside it."""
    verdict: Bools | None = None
    for comparison in found:
        holds = _holds_in_pairs(values(comparison.column), comparison.op, constants(comparison.constant))
        if holds is None:
            return None
        verdict = holds if verdict is None else verdict & holds
    return verdict


def _holds(column: Values, op: str, constant: pa.Scalar) -> Bools | None:
    if isinstance(column, pa.ChunkedArray):
        if not pa.types.is_string(constant.type) or not constant.is_valid:
            return None
        return _texts_hold(column, op, constant)
    value = constant.as_py()
    if column is None or type(value) not in (int, float) or value != value:
        return None
    if isinstance(value, int) and column.values.dtype == np.float64:
        value = float(value)
    return _numbers_hold(column, op, value)


def _holds_in_pairs(column: Values, op: str, constant: Values) -> Bools | None:
    if isinstance(column, pa.ChunkedArray) and isinstance(constant, pa.ChunkedArray):
        return None if constant.null_count else _texts_hold(column, op, constant)
    if not isinstance(column, Numbers) or not isinstance(constant, Numbers):
        return None
    if constant.is_null is not None or constant.is_nan is not None:
        return None
    return _numbers_hold(column, op, constant.values)


def _texts_hold(column: pa.ChunkedArray, op: str, other: pa.Scalar | pa.ChunkedArray) -> Bools | None:
    if op not in ("=", "<>"):
        return None
    compare = pc.equal if op == "=" else pc.not_equal
    return np.asarray(compare(column, other).fill_null(False).to_numpy(), np.bool_)


def _numbers_hold(column: Numbers, op: str, other: float | npt.NDArray[Any]) -> Bools:
    """Where one of both is a double, the other is taken as one."""
    holds = COMPARE[op](column.values, other)
    if column.is_nan is not None and op in (">", ">="):
        holds = holds | column.is_nan
    return holds if column.is_null is None else holds & ~column.is_null


COMPARE: dict[str, Callable[[npt.NDArray[Any], float | npt.NDArray[Any]], Bools]] = {
    "=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}  # fmt: skip
