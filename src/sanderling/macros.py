"""Functions of our SQL in DuckDB's, where the two mean different things. The meaning is Spark's.

A macro of DuckDB writes its arguments into its text, so one that stands twice is computed twice, and
what is nested grows without bound. Here each stands once, in a list of one; a lambda takes it from there.

What builds a text measures it first: one that would be longer than LONGEST_TEXT is NULL.
"""

from __future__ import annotations

# In bytes of UTF-8.
LONGEST_TEXT = 65_536
# What builds texts, as it is written: by putting some together, or by much more than goes in.
JOINERS = ("OUR_JOINED",)
BUILDERS = ("OUR_REPEATED", "OUR_LPAD", "OUR_RPAD", "OUR_REPLACED")
BACKSLASH = "\\"
HAS_ZONE = r"[T ]\d{1,2}(:\d{2}){0,2}(\.\d+)?\s*([Zz]|UTC|[+-]\d{1,2}(:?\d{2})?)\s*$"


def _once(value: str, result: str) -> str:
    """`result` with v for a value that is computed once."""
    return f"list_transform([{value}], lambda v: {result})[1]"


def _padded(function: str) -> str:
    return _once(
        "{t: t, n: n, pad: pad}",
        "CASE WHEN v.pad IS NULL THEN NULL WHEN v.n <= 0 THEN left(v.t, 0) "
        "WHEN v.pad = '' THEN left(v.t, v.n) "
        f"WHEN v.n <= {LONGEST_TEXT} THEN our_bounded({function}(v.t, CAST(v.n AS INTEGER), v.pad)) END",
    )


def _shifted_left(bits: int) -> str:
    """As a processor does it: the count modulo the bits, and what leaves them is gone."""
    shifted = f"CAST(a AS HUGEINT) * (CAST(1 AS HUGEINT) << (n & {bits - 1}))"
    half, all_ = 2 ** (bits - 1), 2**bits - 1
    return f"(({shifted} + {half}) & {all_}) - {half}"


LENGTHS = "coalesce(list_sum(list_transform(v, lambda x: strlen(x))), 0)"

MACROS: dict[str, str] = {
    # ----- numbers
    "our_finite(value)": _once("value", "CASE WHEN isfinite(v) THEN v END"),
    "our_nonzero(value)": _once("value", "CASE WHEN v <> 0 THEN v END"),
    "our_not_negative(value)": _once("value", "CASE WHEN v < 0 THEN 0 ELSE v END"),
    # The sign of what is divided by is not seen in what is left, and −1 would overflow.
    "our_divisor(value)": _once("value", "CASE WHEN v = -1 THEN -v WHEN v <> 0 THEN v END"),
    "our_whole_div(a, b)": "TRY_CAST(CAST(a AS HUGEINT) // our_nonzero(b) AS BIGINT)",
    "our_div(a, b)": "TRY_CAST(trunc(CAST(a AS DOUBLE) / our_nonzero(b)) AS BIGINT)",
    "our_ln(value)": "our_finite(ln(value))",
    "our_positive(value)": _once("value", "CASE WHEN v > 0 THEN v END"),
    "our_log(base, value)": "our_finite(ln(value) / our_nonzero(ln(our_positive(base))))",
    # 1 to the power of what is no number is no number.
    "our_power(base, n)": _once(
        "{base: CAST(base AS DOUBLE), n: CAST(n AS DOUBLE)}",
        "CASE WHEN isfinite(v.n) OR abs(v.base) <> 1 THEN our_finite(power(v.base, v.n)) END",
    ),
    "our_sign(value)": _once(
        "CAST(value AS DOUBLE)",
        "CASE WHEN v = 0 THEN CAST(0 AS DOUBLE) WHEN v < 0 THEN -1 WHEN NOT isnan(v) THEN 1 END",
    ),
    "our_isnan(value)": "coalesce(isnan(value), false)",
    # There is one zero.
    "our_atan2(y, x)": "atan2(y + CAST(0 AS DOUBLE), x + CAST(0 AS DOUBLE))",
    "our_shifted_left_32(a, n)": f"CAST({_shifted_left(32)} AS INTEGER)",
    "our_shifted_left_64(a, n)": f"CAST({_shifted_left(64)} AS BIGINT)",
    "our_shifted_right_32(a, n)": "CAST(a AS INTEGER) >> CAST(n & 31 AS INTEGER)",
    "our_shifted_right_64(a, n)": "CAST(a AS BIGINT) >> CAST(n & 63 AS BIGINT)",
    # ----- texts
    "our_bounded(value)": _once("value", f"CASE WHEN strlen(v) <= {LONGEST_TEXT} THEN v END"),
    "our_joined(parts)": _once(
        "parts",
        f"CASE WHEN list_count(v) = len(v) AND {LENGTHS} <= {LONGEST_TEXT} THEN array_to_string(v, '') END",
    ),
    "our_joined_by(glue, parts)": _once(
        "{glue: glue, parts: list_filter(parts, lambda x: x IS NOT NULL)}",
        "CASE WHEN len(v.parts) = 0 THEN left(v.glue, 0) "
        f"WHEN {LENGTHS.replace('(v,', '(v.parts,')} + strlen(v.glue) * (len(v.parts) - 1) <= {LONGEST_TEXT} "
        "THEN list_reduce(v.parts, lambda a, b: a || v.glue || b) END",
    ),
    "our_repeated(t, n)": _once(
        "{t: t, n: n}",
        "CASE WHEN v.n <= 0 OR v.t = '' AND v.n > 0 THEN left(v.t, 0) "
        f"WHEN CAST(strlen(v.t) AS HUGEINT) * v.n <= {LONGEST_TEXT} THEN repeat(v.t, v.n) END",
    ),
    "our_lpad(t, n, pad)": _padded("lpad"),
    "our_rpad(t, n, pad)": _padded("rpad"),
    "our_replaced(t, old, new)": _once(
        "{t: t, old: old, new: new}",
        "CASE WHEN v.old = '' THEN v.t || left(v.new, 0) WHEN strlen(v.t) + "
        "(strlen(v.t) - strlen(replace(v.t, v.old, ''))) // strlen(v.old) * (strlen(v.new) - strlen(v.old)) "
        f"<= {LONGEST_TEXT} THEN replace(v.t, v.old, v.new) END",
    ),
    "our_left(t, n)": "left(t, our_not_negative(n))",
    "our_right(t, n)": "right(t, our_not_negative(n))",
    "our_start(value)": _once("value", "CASE WHEN v = 0 THEN 1 ELSE v END"),
    "our_split_part(t, glue, n)": _once(
        "{t: t, glue: glue, n: n}",
        "CASE WHEN v.n = 0 THEN NULL WHEN v.glue <> '' THEN split_part(v.t, v.glue, v.n) "
        "WHEN v.glue = '' AND abs(v.n) = 1 THEN v.t WHEN v.glue = '' AND v.n <> 0 THEN left(v.t, 0) END",
    ),
    "our_regex(pattern)": "'(?s)' || array_to_string(list_transform("
    r"regexp_extract_all(pattern, '(?s)\\.|.'), lambda c: CASE c WHEN '%' THEN '.*' WHEN '_' THEN '.' "
    "ELSE regexp_escape(right(c, 1)) END), '')",
    # With one % the engine's own LIKE is quick.
    "our_like(t, pattern)": _once(
        "{t: t, p: pattern}",
        r"CASE WHEN regexp_full_match(v.p, '(?s)(.*[^\\])?(\\\\)*\\') THEN NULL "
        "WHEN strlen(v.p) - strlen(replace(v.p, '%', '')) <= 1 THEN v.t LIKE v.p ESCAPE '\\' "
        "ELSE regexp_full_match(v.t, our_regex(v.p)) END",
    ),
    # ----- what a text says
    "our_whole(t)": _once("t", r"CASE WHEN regexp_full_match(v, '\s*[+-]?[0-9]+\s*') THEN v END"),
    "our_numeral(t)": _once("t", "CASE WHEN NOT contains(v, '_') THEN v END"),
    "our_time(t)": _once(
        "t",
        "CASE WHEN regexp_matches(v, '[T ]24:') THEN NULL "
        f"WHEN regexp_matches(v, '{HAS_ZONE}') THEN make_timestamp(epoch_us(TRY_CAST(v AS TIMESTAMPTZ))) "
        "ELSE our_finite(TRY_CAST(v AS TIMESTAMP)) END",
    ),
    "our_day(t)": "our_finite(TRY_CAST(t AS DATE))",
    "our_seconds(t)": "extract(microseconds FROM t) / CAST(1000000 AS DOUBLE)",
}  # fmt: skip


def definitions() -> list[str]:
    """The statements that make them; one may use those that stand above it."""
    return [f"CREATE MACRO {head} AS {body}" for head, body in MACROS.items()]
