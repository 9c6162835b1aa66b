"""Tables of awkward values, and what every listed function and operator is tried on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from itertools import product
from typing import Any

NAN, INF = float("nan"), float("inf")
FRACTIONS = (None, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, 7.0, 1e10, 1e300, -1e300, 1e-300, NAN, INF, -INF)
INTS = (None, 0, 1, -1, 2, 3, -3, 7, 31, 32, 100, 2**31 - 1, -(2**31))
LONGS = (None, 0, 1, -1, 2, 7, -7, 63, 64, 2**53 + 1, 2**63 - 1, -(2**63))
COUNTS = (None, 0, 1, -1, 2, -2, 3, 5, -7)
TEXTS = (None, "", "a", "abc", "abcabc", "Straße", "é🚕", "  ab ", "12", "-2.7", "a,b,,c", "%_", "\n")
NUMERALS = (
    None,
    "",
    "12",
    " 12 ",
    "+7",
    "-0",
    "2.7",
    "-2.7",
    ".5",
    "1e3",
    "1e400",
    "NaN",
    "inf",
    "Infinity",
    "x",
    "1_000",
    "0x10",
    "9223372036854775808",
    "300",
    "true",
    "YES",
    "f",
    "n",
    "2024-02-29",
    "2023-02-29",
    "2024-05-01 10:20:30",
    "2024-05-01T10:20:30.123456",
    "2024-05-01 24:00:00",
    "é",
)
TIMES = (
    None,
    datetime(1970, 1, 1),
    datetime(2024, 2, 29, 23, 59, 59, 999999),
    datetime(2023, 12, 31, 12),
    datetime(2024, 5, 5, 10, 20, 30, 500000),
    datetime(2, 3, 4),
    datetime(9998, 12, 31, 23, 59, 59),
    datetime(1969, 12, 31, 23, 59, 59, 1),
    datetime(2021, 1, 3),
)
DAYS = (None, date(1970, 1, 1), date(2024, 2, 29), date(2023, 12, 31), date(2, 3, 4), date(9998, 12, 31))


@dataclass(frozen=True)
class Ground:
    """Columns by name, with their types, and all rows; and expressions over them."""

    types: dict[str, str]
    rows: list[tuple[Any, ...]]
    expressions: tuple[str, ...]


def spread(pattern: str, *options: tuple[str, ...]) -> tuple[str, ...]:
    """`pattern` with {0}, {1}, … for each combination of options."""
    return tuple(pattern.format(*chosen) for chosen in product(*options))


def listed(text: str) -> tuple[str, ...]:
    """Expressions with semicolons between them."""
    return tuple(part.strip() for part in text.split(";"))


COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
ARITHMETIC = ("+", "-", "*", "/", "%", "DIV")
OF_ONE_NUMBER = (
    "abs",
    "acos",
    "asin",
    "atan",
    "cbrt",
    "ceil",
    "ceiling",
    "cos",
    "degrees",
    "exp",
    "floor",
    "ln",
    "log",
    "log10",
    "log2",
    "radians",
    "round",
    "sign",
    "signum",
    "sin",
    "sqrt",
    "tan",
)

GROUNDS = {
    "fractions": Ground(
        {"d": "DOUBLE", "e": "DOUBLE"},
        list(product(FRACTIONS, FRACTIONS)),
        (
            *spread("d {0} e", COMPARISONS),
            *spread("d {0} e", ("+", "-", "*", "/", "%")),
            *spread("{0}(d)", (*OF_ONE_NUMBER, "isnan")),
            *spread(
                "{0}(d, e)",
                ("atan2", "greatest", "least", "log", "mod", "nullif", "pow", "power", "coalesce"),
            ),
            *listed(r"""
                -d ; d IS DISTINCT FROM e ; d BETWEEN e AND 3 ; d IN (e, 7, -2.5) ; d IS NULL ;
                d IS NOT NULL ; NOT d > e ; round(d, 1) ; round(d, -1) ; CASE WHEN d > e THEN d ELSE e END
                ; CASE d WHEN 1 THEN 'one' WHEN e THEN 'e' END ; IF(d > 0, d, e) ; CAST(d AS STRING) ;
                (d + 1) IN (e, 2) ; nullif(d + 1, e) ; CASE d + 1 WHEN 2 THEN 'two' WHEN e THEN 'e' END ;
                (d + 1) BETWEEN e AND 3 ; 5.5 DIV 2 ; -7.5 DIV 2 ; CAST(d AS INT) ; CAST(d AS BIGINT) ;
                CAST(d AS TINYINT) ; CAST(d AS BOOLEAN) ; CAST(d AS FLOAT) ; TRY_CAST(d AS SMALLINT) ;
                coalesce(sqrt(d), -1) ; ln(d) IS NULL ; pi() ; greatest(d, e, 0.5) ; ifnull(d, e) ;
                nvl(d, e) ; d / 0 ; abs(d) > 2 AND e > 0 ; sqrt(d) > 1 OR e > 0
            """),
        ),
    ),
    "ints": Ground(
        {"i": "INT", "j": "INT"},
        list(product(INTS, INTS)),
        (
            *spread("i {0} j", COMPARISONS),
            *spread("i {0} j", (*ARITHMETIC, "&", "|", "^")),
            *spread("{0}(i)", OF_ONE_NUMBER),
            *spread("{0}(i, j)", ("greatest", "least", "mod", "nullif", "power", "coalesce", "log")),
            *listed(r"""
                -i ; ~i ; i << j ; i >> j ; round(i, -1) ; CAST(i AS TINYINT) ; CAST(i AS SMALLINT) ;
                CAST(i AS STRING) ; CAST(i AS DOUBLE) ; CAST(i AS BOOLEAN) ; CAST(i AS BIGINT) * j ;
                i + 1.5 ; i / 3 ; coalesce(i + j, -1) ; repeat('ab', i % 5) ; i BETWEEN j AND 7 ;
                i IN (j, 7) ; i DIV 2 ; i DIV 2.5
            """),
        ),
    ),
    "longs": Ground(
        {"b": "BIGINT", "c": "BIGINT"},
        list(product(LONGS, LONGS)),
        (
            *spread("b {0} c", COMPARISONS),
            *spread("b {0} c", (*ARITHMETIC, "&", "|", "^")),
            *spread("{0}(b)", OF_ONE_NUMBER),
            *spread("{0}(b, c)", ("greatest", "least", "mod", "nullif", "coalesce")),
            *listed(r"""
                -b ; ~b ; round(b, -1) ; CAST(b AS INT) ; CAST(b AS STRING) ; CAST(b AS DOUBLE) ; b << 3 ;
                b >> 3 ; b > 1.5 ; b / 0 ; b % 0 ; b DIV 0 ; b = 9007199254740993.0 ; b << c ; b >> c ;
                b DIV 2.5
            """),
        ),
    ),
    "texts": Ground(
        {"s": "STRING", "u": "STRING", "n": "INT"},
        [(s, u, n) for s, u in product(TEXTS, TEXTS) for n in COUNTS],
        (
            *spread("s {0} u", COMPARISONS),
            *spread(
                "{0}(s)",
                (
                    "ascii",
                    "char_length",
                    "character_length",
                    "lcase",
                    "length",
                    "lower",
                    "ltrim",
                    "reverse",
                    "rtrim",
                    "trim",
                    "ucase",
                    "upper",
                ),
            ),
            *spread(
                "{0}(s, u)",
                (
                    "coalesce",
                    "concat",
                    "contains",
                    "endswith",
                    "greatest",
                    "instr",
                    "least",
                    "nullif",
                    "startswith",
                    "replace",
                ),
            ),
            *spread("{0}(s, n)", ("left", "right", "repeat", "substring", "substr", "lpad", "rpad")),
            *spread("{0}(s, n, u)", ("lpad", "rpad")),
            *listed(r"""
                s || u ; concat(s, '-', u) ; concat_ws(',', s, u, 'z') ; concat_ws(s, u, u) ;
                replace(s, u, 'xy') ; substring(s, n, 2) ; substring(s, 0, n) ; substring(s, n, n) ;
                substring(s, 1, 1) ; left(s, -1) ; split_part(s, ',', 2) ; split_part(s, u, 1) ;
                split_part(s, u, -1) ; split_part(s, u, 3) ; translate(s, 'abc', 'xy') ;
                translate(s, u, 'x🚕') ; translate(s, 'ab', u) ; TRIM(u FROM s) ; TRIM(LEADING 'ab' FROM s)
                ; TRIM(TRAILING u FROM s) ; s LIKE 'a%' ; s ILIKE 'A_C' ; s LIKE '%\_' ;
                s LIKE '/%_' ESCAPE '/' ; s LIKE '%,%' ; s LIKE '_' ; s LIKE '' ; s NOT LIKE '%b%' ;
                s LIKE u ; s NOT LIKE u ; s NOT ILIKE '%A%B%' ; s NOT LIKE '%/_%/%%' ESCAPE '/' ;
                s LIKE concat('%', u, '%') ; s ILIKE '%A%C%' ; s LIKE '%a%b%' ; s LIKE '_%,%_' ;
                s LIKE '%/%/_%' ESCAPE '/' ; s LIKE '%\n%' ; s ILIKE '%RA%E' ; s LIKE '%.%.%' ;
                s RLIKE '^a.*c$' ; s RLIKE '[bc]+' ; s RLIKE '' ; s RLIKE '^.$' ; s RLIKE '\\d' ;
                s RLIKE '(?i)ABC' ; regexp_extract(s, '([a-z])([a-z])', 2) ; regexp_extract(s, '(b+)') ;
                regexp_extract(s, 'x', 0) ; regexp_extract(s, '(x)?a', 1) ;
                CASE WHEN s = u THEN 'same' ELSE s END ; s IN (u, 'abc') ; s IS NULL ; s BETWEEN 'a' AND u
                ; upper(s) = upper(u) ; nvl(s, u) ; IF(s > u, s, u)
            """),
        ),
    ),
    "numerals": Ground(
        {"s": "STRING"},
        [(s,) for s in NUMERALS],
        (
            *spread(
                "CAST(s AS {0})",
                (
                    "INT",
                    "BIGINT",
                    "TINYINT",
                    "SMALLINT",
                    "DOUBLE",
                    "FLOAT",
                    "BOOLEAN",
                    "STRING",
                    "DATE",
                    "TIMESTAMP_NTZ",
                ),
            ),
            *listed(r"""
                TRY_CAST(s AS INT) ; to_date(s) ; CAST(s AS DECIMAL(10, 2))
            """),
        ),
    ),
    "times": Ground(
        {"t": "TIMESTAMP_NTZ", "v": "TIMESTAMP_NTZ", "day": "DATE"},
        [(t, v, day) for t, v in product(TIMES, TIMES) for day in DAYS],
        (
            *spread("t {0} v", COMPARISONS),
            *spread(
                "{0}({1})",
                (
                    "day",
                    "dayofmonth",
                    "dayofweek",
                    "dayofyear",
                    "hour",
                    "minute",
                    "month",
                    "quarter",
                    "second",
                    "year",
                ),
                ("t",),
            ),
            *spread("{0}(day)", ("day", "dayofmonth", "dayofweek", "dayofyear", "month", "quarter", "year")),
            *spread(
                "date_trunc('{0}', t)",
                (
                    "year",
                    "quarter",
                    "month",
                    "week",
                    "day",
                    "hour",
                    "minute",
                    "second",
                    "millisecond",
                    "microsecond",
                    "WEEK",
                ),
            ),
            *spread(
                "EXTRACT({0} FROM t)",
                (
                    "YEAR",
                    "QUARTER",
                    "MONTH",
                    "WEEK",
                    "DAY",
                    "DAYOFWEEK",
                    "DOY",
                    "HOUR",
                    "MINUTE",
                    "SECOND",
                    "YEAROFWEEK",
                    "DOW",
                    "DAYOFWEEK_ISO",
                    "DOW_ISO",
                ),
            ),
            *listed(r"""
                to_date(t) ; CAST(t AS DATE) ; CAST(day AS TIMESTAMP_NTZ) ; CAST(t AS STRING) ;
                CAST(day AS STRING) ; t + INTERVAL '1' HOUR ; t - INTERVAL 1 MONTH ;
                t + INTERVAL '90' MINUTES ; greatest(t, v) ; least(t, v) ; coalesce(t, v) ; nullif(t, v) ;
                t BETWEEN v AND v + INTERVAL 1 DAY ; t > day ; t > '2024-01-01' ; day > DATE '2024-01-01'
                ; day = '2024-02-29' ; EXTRACT(YEAR FROM day) ; t IN (v) ; t IS NULL
            """),
        ),
    ),
    "flags": Ground(
        {"o": "BOOLEAN", "p": "BOOLEAN"},
        list(product((None, True, False), (None, True, False))),
        (
            *spread("o {0} p", ("AND", "OR", "=", "<>", "<=>", "<", ">=")),
            *listed(r"""
                NOT o ; o IS TRUE ; o IS NOT FALSE ; o IS NULL ; CAST(o AS INT) ; CAST(o AS STRING) ;
                CASE WHEN o THEN 1 WHEN p THEN 2 ELSE 3 END ; IF(o, 1, 2) ; coalesce(o, p) ; nullif(o, p)
                ; o IN (p, true) ; CAST(o AS DOUBLE) ; greatest(o, p) ; o AND NOT p OR o IS NULL
            """),
        ),
    ),
}

NOT_FINITE = (
    "what has no finite value is NULL, wherever it stands; in Spark it is NaN, or 0 as a whole number"
)
TOO_LARGE = "a sum that is too large is NULL; in Spark it wraps around, or is an error"
PLAINLY = "a number as a text is written out; in Spark it has an exponent from 10000000 on"
BY_CHARACTER = "upper goes from character to character; in Spark the letter ß becomes two"
# Where we differ, and why; docs/language.md says so.
STATED = {
    "ceil(d)": NOT_FINITE,
    "ceiling(d)": NOT_FINITE,
    "floor(d)": NOT_FINITE,
    "coalesce(sqrt(d), -1)": NOT_FINITE,
    "ln(d) IS NULL": NOT_FINITE,
    "sqrt(d) > 1 OR e > 0": NOT_FINITE,
    "coalesce(i + j, -1)": TOO_LARGE,
    "CAST(d AS STRING)": PLAINLY,
    "upper(s)": BY_CHARACTER,
    "ucase(s)": BY_CHARACTER,
}
# Functions of ours that Spark has not.
OURS_ALONE = ("truncate",)
