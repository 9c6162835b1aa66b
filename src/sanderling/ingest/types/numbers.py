"""Texts to booleans, integers and floats.

First the whole column by Arrow. Where Arrow refuses it, or takes what we do not (0x1F), each value is held
against a pattern.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.ingest.types.typed import Mask, Typed, judged, mask, spread, trimmed

TRUE = pa.array(["true", "t", "1", "yes"])
FALSE = pa.array(["false", "f", "0", "no"])

# 12.0 is an integer, 1.5 is not. Leading zeros are left out of `digits`.
INTEGER = r"\A(?P<sign>[+-]?)0*(?P<digits>[0-9]+?)(?:\.0*)?\z"
# What Arrow takes for a float, no more and no less.
FLOAT = r"(?i)\A[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan(?:\([0-9a-z_]*\))?|inf|infinity)\z"

SAFE_DIGITS = 18  # any number of so many digits is an int64


def parse_booleans(texts: pa.Array) -> Typed:
    clean = pc.ascii_lower(trimmed(texts))
    is_true, is_false = mask(pc.is_in(clean, TRUE)), mask(pc.is_in(clean, FALSE))
    return judged(is_true, mask(pc.is_null(clean)), is_true | is_false, pa.bool_())


def parse_integers(texts: pa.Array, kind: pa.DataType) -> Typed:
    try:
        values = texts.cast(kind)
    except pa.ArrowInvalid:
        return _parse_each_integer(texts, kind)
    return _parse_each_integer(texts, kind) if _holds_hexadecimal(texts) else Typed(values, None)


def _holds_hexadecimal(texts: pa.Array) -> bool:
    data = texts.buffers()[2]
    # Arrow took them all as numbers. A buffer may hold more than this column: then we are slow, not wrong.
    return data is not None and bool(np.isin(np.frombuffer(data, np.uint8), (ord("x"), ord("X"))).any())


def _parse_each_integer(texts: pa.Array, kind: pa.DataType) -> Typed:
    clean = trimmed(texts)
    sign, digits = pc.extract_regex(clean, INTEGER).flatten()
    is_short = mask(pc.less_equal(pc.binary_length(digits), SAFE_DIGITS))
    is_long = mask(pc.is_valid(digits)) & ~is_short
    values = np.zeros(len(texts), np.int64)
    values[is_short] = pc.cast(_joined(sign, digits, is_short), pa.int64())
    fits = is_short | is_long
    for at in np.flatnonzero(is_long):
        # Python's integers have no end, but a limit on the digits it reads.
        number = int(f"{sign[at]}{digits[at]}") if len(digits[at].as_py()) == SAFE_DIGITS + 1 else 1 << 64
        fits[at] = -(1 << 63) <= number < 1 << 63
        values[at] = number if fits[at] else 0
    bounds = np.iinfo(kind.to_pandas_dtype())
    fits &= (values >= bounds.min) & (values <= bounds.max)
    return judged(values, mask(pc.is_null(clean)), fits, kind)


def _joined(sign: pa.Array, digits: pa.Array, where: Mask) -> pa.Array:
    sign = pc.if_else(pc.equal(sign, "-"), "-", "")
    return pc.binary_join_element_wise(sign, digits, "").filter(pa.array(where))


def parse_floats(texts: pa.Array, kind: pa.DataType) -> Typed:
    try:
        typed = Typed(texts.cast(kind), None)
    except pa.ArrowInvalid:
        typed = _parse_each_float(texts, kind)
    return _without_overflow(typed, texts)


def _parse_each_float(texts: pa.Array, kind: pa.DataType) -> Typed:
    clean = trimmed(texts)
    is_good = mask(pc.match_substring_regex(clean, FLOAT))
    values = spread(clean.filter(pa.array(is_good)).cast(kind), is_good)
    is_bad = mask(pc.is_valid(clean)) & ~is_good
    return Typed(values, is_bad if is_bad.any() else None)


def _without_overflow(typed: Typed, texts: pa.Array) -> Typed:
    """1e999 does not fit, though it reads as infinity; a written infinity does."""
    is_infinite = mask(pc.is_inf(typed.values))
    if not is_infinite.any():
        return typed
    is_over = is_infinite & mask(pc.match_substring_regex(texts, "[0-9]"))
    values = pc.if_else(pa.array(is_over), pa.scalar(None, typed.values.type), typed.values)
    return Typed(values, typed.bad() | is_over)
