"""Random expressions: as SQL, and as functions of a row. The texts mean the same to DuckDB."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.oracle.select import Expression

NUMBER, WHOLE, TEXT, FLAG = "number", "whole", "text", "flag"
ROUGH = "rough"  # a number that depends on how it is computed: nothing else may depend on it
Row = dict[str, Any]


def previous(alias: str, name: str, kind: str) -> Expression:
    place = f"previous {alias}.{name}"
    return Expression(f"PREVIOUS({alias}.{name})", lambda row: row[place], f"{alias}.previous_{name}", kind)


def made(
    pattern: str, function: Callable[..., Any], *parts: Expression, kind: str, is_strict: bool = True
) -> Expression:
    """`pattern` with {0}, {1}, … for the parts; strict: NULL if any part is."""
    values = [part.value for part in parts]

    def value(row: Row) -> Any:
        given = [of(row) for of in values]
        return None if is_strict and any(v is None for v in given) else function(*given)

    sql = pattern.format(*(part.sql for part in parts))
    duck = pattern.format(*(part.for_duck for part in parts))
    return Expression(sql, value, duck, kind)


def of_kind(scope: list[Expression], *kinds: str) -> list[Expression]:
    return [part for part in scope if part.kind in kinds]


@st.composite
def expression(draw: st.DrawFn, scope: list[Expression], *kinds: str) -> Expression:
    """Of one of these kinds, or of any; mostly a plain column."""
    fitting = of_kind(scope, *(kinds or (NUMBER, WHOLE, TEXT)))
    plain = draw(st.sampled_from(fitting))
    if draw(st.sampled_from([True, True, False])):
        return plain
    if plain.kind == TEXT:
        return draw(text(scope, plain))
    return draw(number(scope, plain)) if plain.kind in (NUMBER, WHOLE) else plain


@st.composite
def number(draw: st.DrawFn, scope: list[Expression], a: Expression) -> Expression:
    b = draw(st.sampled_from(of_kind(scope, NUMBER, WHOLE)))
    both = WHOLE if a.kind == b.kind == WHOLE else NUMBER
    match draw(st.sampled_from(["+", "-", "double", "coalesce", "abs", "half", "floor", "case"])):
        case "+":
            return made("({0} + {1})", lambda x, y: x + y, a, b, kind=both)
        case "-":
            return made("({0} - {1})", lambda x, y: x - y, a, b, kind=both)
        case "double":
            return made("{0} * 2", lambda x: x * 2, a, kind=a.kind)
        case "coalesce":
            return made("coalesce({0}, 1)", lambda x: 1 if x is None else x, a, kind=a.kind, is_strict=False)
        case "abs":
            return made("abs({0})", abs, a, kind=a.kind)
        case "half":
            return made("{0} / 2", lambda x: x / 2, a, kind=NUMBER)
        case "floor":
            return made("floor({0} / 2)", lambda x: float(math.floor(x / 2)), a, kind=NUMBER)
    condition = draw(comparison(scope))
    return made("CASE WHEN {0} THEN {1} ELSE 0 END", lambda c, x: x if c else 0, condition, a, kind=a.kind,
                is_strict=False)  # fmt: skip


@st.composite
def text(draw: st.DrawFn, scope: list[Expression], a: Expression) -> Expression:
    match draw(st.sampled_from(["coalesce", "upper", "join"])):
        case "coalesce":
            return made("coalesce({0}, 'none')", lambda x: "none" if x is None else x, a, kind=TEXT,
                        is_strict=False)  # fmt: skip
        case "upper":
            return made("upper({0})", str.upper, a, kind=TEXT)
    return made("({0} || '!')", lambda x: x + "!", a, kind=TEXT)


# -- conditions -------------------------------------------------------------------

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">": lambda x, y: x > y, ">=": lambda x, y: x >= y, "<": lambda x, y: x < y, "<=": lambda x, y: x <= y,
    "=": lambda x, y: x == y, "<>": lambda x, y: x != y,
}  # fmt: skip


@st.composite
def comparison(draw: st.DrawFn, scope: list[Expression]) -> Expression:
    a = draw(st.sampled_from(of_kind(scope, NUMBER, WHOLE, TEXT)))
    if draw(st.sampled_from([True] + [False] * 5)):
        if draw(st.booleans()):
            return made("{0} IS NULL", lambda x: x is None, a, kind=FLAG, is_strict=False)
        return made("{0} IS NOT NULL", lambda x: x is not None, a, kind=FLAG, is_strict=False)
    sign = draw(st.sampled_from(sorted(COMPARISONS)))
    compare = COMPARISONS[sign]
    if a.kind == TEXT:
        word = draw(st.sampled_from(["bus", "cab", "b"]))
        if draw(st.booleans()):
            return made(f"{{0}} IN ('{word}', 'boat')", lambda x: x in (word, "boat"), a, kind=FLAG)
        return made(f"{{0}} {sign} '{word}'", lambda x: compare(x, word), a, kind=FLAG)
    if draw(st.sampled_from([True, False, False])):
        b = draw(st.sampled_from(of_kind(scope, NUMBER, WHOLE)))
        return made(f"{{0}} {sign} {{1}}", compare, a, b, kind=FLAG)
    limit = draw(st.sampled_from([0, 1, 1.5, 2, 3]))
    return made(f"{{0}} {sign} {limit}", lambda x: compare(x, limit), a, kind=FLAG)


@st.composite
def condition(draw: st.DrawFn, scope: list[Expression]) -> Expression:
    a = draw(comparison(scope))
    match draw(st.sampled_from(["one", "one", "and", "or", "not"])):
        case "and":
            return made("({0} AND {1})", both, a, draw(comparison(scope)), kind=FLAG, is_strict=False)
        case "or":
            return made("({0} OR {1})", either, a, draw(comparison(scope)), kind=FLAG, is_strict=False)
        case "not":
            return made("NOT ({0})", lambda x: not x, a, kind=FLAG)
    return a


def both(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def either(a: bool | None, b: bool | None) -> bool | None:
    if a or b:
        return True
    return None if a is None or b is None else False
