"""Random expressions: as SQL, and as functions of a row. The texts mean the same to DuckDB."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.oracle.select import Expression
from tests.properties.chance import Chance

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


def expression(chance: Chance, scope: list[Expression], *kinds: str) -> Expression:
    """Of one of these kinds, or of any; mostly a plain column."""
    fitting = of_kind(scope, *(kinds or (NUMBER, WHOLE, TEXT)))
    plain = chance.choice(fitting)
    if chance.choice([True, True, False]):
        return plain
    if plain.kind == TEXT:
        return text(chance, scope, plain)
    return number(chance, scope, plain) if plain.kind in (NUMBER, WHOLE) else plain


def number(chance: Chance, scope: list[Expression], a: Expression) -> Expression:
    b = chance.choice(of_kind(scope, NUMBER, WHOLE))
    both = WHOLE if a.kind == b.kind == WHOLE else NUMBER
    match chance.choice(["+", "-", "double", "coalesce", "abs", "half", "floor", "case"]):
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
    condition = comparison(chance, scope)
    return made("CASE WHEN {0} THEN {1} ELSE 0 END", lambda c, x: x if c else 0, condition, a, kind=a.kind,
                is_strict=False)  # fmt: skip


def text(chance: Chance, scope: list[Expression], a: Expression) -> Expression:
    match chance.choice(["coalesce", "upper", "join"]):
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


def comparison(chance: Chance, scope: list[Expression]) -> Expression:
    a = chance.choice(of_kind(scope, NUMBER, WHOLE, TEXT))
    if chance.choice([True] + [False] * 5):
        if chance.flip():
            return made("{0} IS NULL", lambda x: x is None, a, kind=FLAG, is_strict=False)
        return made("{0} IS NOT NULL", lambda x: x is not None, a, kind=FLAG, is_strict=False)
    sign = chance.choice(sorted(COMPARISONS))
    compare = COMPARISONS[sign]
    if a.kind == TEXT:
        words = ["a", "c"] if ".id" in a.sql else ["s1", "s3"] if ".name" in a.sql else ["bus", "cab", "b"]
        word = chance.constant(words)
        if chance.flip():
            return made(f"{{0}} IN ('{word}', 'boat')", lambda x: x in (word, "boat"), a, kind=FLAG)
        return made(f"{{0}} {sign} '{word}'", lambda x: compare(x, word), a, kind=FLAG)
    if chance.choice([True, False, False]):
        b = chance.choice(of_kind(scope, NUMBER, WHOLE))
        return made(f"{{0}} {sign} {{1}}", compare, a, b, kind=FLAG)
    limit = chance.constant([0, 1, 1.5, 2, 3])
    return made(f"{{0}} {sign} {limit}", lambda x: compare(x, limit), a, kind=FLAG)


def condition(chance: Chance, scope: list[Expression]) -> Expression:
    a = comparison(chance, scope)
    match chance.choice(["one", "one", "and", "or", "not"]):
        case "and":
            return made("({0} AND {1})", both, a, comparison(chance, scope), kind=FLAG, is_strict=False)
        case "or":
            return made("({0} OR {1})", either, a, comparison(chance, scope), kind=FLAG, is_strict=False)
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
