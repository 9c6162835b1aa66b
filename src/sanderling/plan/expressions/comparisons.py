"""The plain comparisons of a condition, as data, for whoever judges it without its SQL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sanderling.plans.columns import is_constant, is_of_reading, name_of
from sanderling.plans.expression import Comparison

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="
}  # fmt: skip
TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def comparisons_in(tree: exp.Expr) -> tuple[Comparison, ...] | None:
    """A condition as such, if it is nothing but comparisons of a reading's columns with constants, and AND.

    The tree is as the evaluating engine is given it.
    """
    found: list[Comparison] = []
    for part in _conjuncts(tree):
        compared = [
            Comparison(name_of(column.name), op, constant.name)
            for column, op, constant in _compared(part)
            if _is_column(column) and is_of_reading(column.name)
            if _is_column(constant) and is_constant(constant.name)
        ]
        if len(compared) != (2 if isinstance(part, exp.Between) else 1):
            return None
        found += compared
    return tuple(found)


def _conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """From left to right; without recursion, since there may be very many."""
    left = [tree]
    while left:
        part = left.pop()
        if isinstance(part, exp.And):
            left += [part.expression, part.this]
        else:
            yield part


def _compared(part: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    """What it compares, each way round; BETWEEN compares twice."""
    if isinstance(part, exp.Between) and not part.args.get("symmetric"):
        yield part.this, ">=", part.args["low"]
        yield part.this, "<=", part.args["high"]
    op = COMPARISONS.get(type(part))
    if op is not None:
        yield part.this, op, part.expression
        yield part.expression, TURNED[op], part.this


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column)
