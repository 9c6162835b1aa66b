"""Random expressions: as SQL, and as functions of a row. DuckDB has a text of its own where it differs."""

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
    pattern: str,
    function: Callable[..., Any],
    *parts: Expression,
    kind: str,
    is_strict: bool = True,
    for_duck: str = "",
) -> Expression:
    """`pattern` with {0}, {1}, … for the parts; strict: NULL if any part is."""
    values = [part.value for part in parts]

    def value(row: Row) -> Any:
        given = [of(row) for of in values]
        return None if is_strict and any(v is None for v in given) else function(*given)

    sql = pattern.format(*(part.sql for part in parts))
    duck = (for_duck or pattern).format(*(part.for_duck for part in parts))
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
    kinds = [
        "+",
        "-",
        "double",
        "coalesce",
        "abs",
        "half",
        "floor",
        "case",
        "div",
        "mod",
        "ceil",
        "sign",
        "nullif",
    ]
    match chance.choice(kinds):
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
            return made("floor({0} / 2)", lambda x: math.floor(x / 2), a, kind=WHOLE)
        case "ceil":
            return made("ceil({0} * 1.5)", lambda x: math.ceil(x * 1.5), a, kind=WHOLE)
        case "div":
            return divided(a, chance.choice([b, CONSTANTS[chance.constant([0, 1, 2, 3])]]))
        case "mod":
            return made("({0} % 3)", left_over, a, kind=a.kind)
        case "sign":
            return made("sign({0})", lambda x: float((x > 0) - (x < 0)), a, kind=NUMBER)
        case "nullif":
            return made("nullif({0}, {1})", lambda x, y: None if x == y else x, a, b, kind=a.kind,
                        is_strict=False)  # fmt: skip
    condition = comparison(chance, scope)
    return made("CASE WHEN {0} THEN {1} ELSE 0 END", lambda c, x: x if c else 0, condition, a, kind=a.kind,
                is_strict=False)  # fmt: skip


CONSTANTS = [
    Expression(sql, lambda row, n=n: n, kind=NUMBER)
    for sql, n in (("0", 0), ("2", 2), ("-3", -3), ("2.5", 2.5))
]


def divided(a: Expression, b: Expression) -> Expression:
    """DIV: whole, towards zero."""
    return made("({0} DIV {1})", whole_part, a, b, kind=WHOLE,
                for_duck="trunc({0}::DOUBLE / nullif({1}, 0))::BIGINT")  # fmt: skip


def whole_part(x: Any, y: Any) -> int | None:
    if y == 0:
        return None
    if isinstance(x, float) or isinstance(y, float):
        return math.trunc(x / y)
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def left_over(x: Any) -> Any:
    """With the sign of what is divided."""
    return math.fmod(x, 3) if isinstance(x, float) else int(math.fmod(x, 3))


def text(chance: Chance, scope: list[Expression], a: Expression) -> Expression:
    n = chance.constant([0, 1, -1, 2, -2, 5])
    match chance.choice(
        ["join", "coalesce", "upper", "left", "right", "substring", "repeat", "lpad", "replace"]
    ):
        case "coalesce":
            return made("coalesce({0}, 'none')", lambda x: "none" if x is None else x, a, kind=TEXT,
                        is_strict=False)  # fmt: skip
        case "upper":
            return made("upper({0})", str.upper, a, kind=TEXT)
        case "left":
            return made(f"left({{0}}, {n})", lambda x: x[: max(n, 0)], a, kind=TEXT,
                        for_duck=f"left({{0}}, {max(n, 0)})")  # fmt: skip
        case "right":
            return made(f"right({{0}}, {n})", lambda x: x[max(len(x) - n, 0) :] if n > 0 else "", a,
                        kind=TEXT, for_duck=f"right({{0}}, {max(n, 0)})")  # fmt: skip
        case "substring":
            return made(f"substring({{0}}, {n}, 2)", lambda x: part_of(x, n, 2), a, kind=TEXT,
                        for_duck=f"substring({{0}}, {n or 1}, 2)")  # fmt: skip
        case "repeat":
            return made(f"repeat({{0}}, {n})", lambda x: x * n, a, kind=TEXT)
        case "lpad":
            return made(f"lpad({{0}}, {n}, 'xy')", lambda x: padded(x, n), a, kind=TEXT)
        case "replace":
            return made("replace({0}, 'b', 'xx')", lambda x: x.replace("b", "xx"), a, kind=TEXT)
    return made("({0} || '!')", lambda x: x + "!", a, kind=TEXT)


def part_of(x: str, start: int, length: int) -> str:
    """From the first on, or from the end if it is below zero; what would stand before the text counts too."""
    begin = start - 1 if start > 0 else len(x) + start if start < 0 else 0
    return x[max(begin, 0) : max(begin + length, 0)]


def padded(x: str, n: int) -> str:
    missing = n - len(x)
    return x[: max(n, 0)] if missing <= 0 else ("xy" * missing)[:missing] + x


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
