"""The distance of a trajectory join that changes with time: its largest, and rows that are within it.

pairs within the largest it ever is, with how far apart they are ──► those within it as it is at each tick
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.language.grammar.space.swelling import Swelling
from sanderling.plan.names.sides import Derived, Side
from sanderling.plans import nodes

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block

# What is within it to the last bit is decided by `nodes.Swelling`; this finds all candidates.
ROUNDING = 1e-9
APART = "how far apart"


def refuse_odd(block: Block, swelling: Swelling) -> None:
    """What changes is a number as it is written."""
    if not isinstance(swelling.this, exp.Literal):
        message, hint = "a distance that changes is written as a number", "write 100 SCALE BY (0.1, 1 MINUTE)"
        raise block.scope.refuse(swelling, "query.wrong_type", message, hint)


def largest(swelling: Swelling) -> exp.Expr:
    growth, steps = swelling.args["growth"], 0
    if growth > 0:
        steps = (swelling.args["until_us"] - swelling.args["begin_us"]) // swelling.args["every_us"]
    return exp.Literal.number(f"{_radius(swelling) * (1 + steps * growth) * (1 + ROUNDING):.17e}")


def apart(sides: tuple[Side, Side], distance: exp.Expr) -> exp.Expr:
    """How far apart two are: on a plane the square of it, as joins compare it."""
    if not sides[0].is_globe:
        squares = (_square(*(_coordinate(side, axis) for side in sides)) for axis in (0, 1))
        return exp.alias_(exp.Add(this=next(squares), expression=next(squares)), APART, quoted=True)
    return exp.alias_(distance.copy(), APART, quoted=True)


def within(pairs: Derived, swelling: Swelling, stream: Stream) -> Derived:
    """The pairs, as long as they are within the distance."""
    last, asked = len(pairs.columns) - 1, swelling.args
    node = nodes.Swelling(
        pairs.node, last, not stream.is_globe, _radius(swelling), asked["growth"], asked["every_us"],
        asked["begin_us"], asked["until_us"], stream.tick_us,
    )  # fmt: skip
    return replace(pairs, node=node)


def _radius(swelling: Swelling) -> float:
    return float(swelling.this.name)


def _square(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    gap = exp.Paren(this=exp.Sub(this=one, expression=other))
    return exp.Mul(this=gap, expression=gap.copy())


def _coordinate(side: Side, axis: int) -> exp.Expr:
    assert side.place is not None
    name = exp.to_identifier(side.place[axis], quoted=True)
    column = exp.column(name, table=exp.to_identifier(side.alias, quoted=True))
    return exp.Cast(this=column, to=exp.DataType.build("DOUBLE"))
