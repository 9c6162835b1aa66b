"""Lengths with a unit beside DISTANCE: on the globe they are numbers of metres, on a plane nothing."""

from __future__ import annotations

from sqlglot import exp

from sanderling.language.grammar.space.swelling import Swelling
from sanderling.language.grammar.space.units import Length
from sanderling.plan.declarations import unit_on_plane
from sanderling.plan.expressions.check import not_allowed
from sanderling.plan.expressions.comparisons import COMPARISONS
from sanderling.plan.expressions.distances import is_distance
from sanderling.plan.names.sides import RowScope

SUMS = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, Swelling)
TRAJECTORIES = ("STAY_WITHIN", "PASS_WITHIN")


def settle_lengths(tree: exp.Expr, scope: RowScope) -> None:
    """Writes metres for all lengths of a tree; those that stand elsewhere are refused."""
    for length in list(tree.find_all(Length)):
        if not _is_beside_distance(length):
            raise not_allowed(length, scope)
        if not any(side.is_globe for side in scope.all):
            code, message, hint = unit_on_plane()
            raise scope.refuse(length, code, message, hint)
        length.replace(_number(length))


def _is_beside_distance(length: exp.Expr) -> bool:
    above = length.parent
    while isinstance(above, SUMS):
        above = above.parent
    if isinstance(above, exp.Anonymous):
        return above.name.upper() in TRAJECTORIES
    if above is None or not isinstance(above, (*COMPARISONS, exp.Between)):
        return False
    return any(map(is_distance, above.walk()))


def _number(length: exp.Expr) -> exp.Expr:
    metres: float = length.args["metres"]
    # With an exponent it is a double: all digits count.
    number = exp.Literal.number(int(metres) if metres.is_integer() else f"{metres:.17e}")
    place = length.this.meta
    number.update_positions(start=place["start"], end=place["end"])
    return number
