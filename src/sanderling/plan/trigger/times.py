"""Conditions on the times of a trigger's events: what two of them are apart, at least and at most.

A difference may be written in any way that adds and subtracts: `b.ts - a.ts < 5 MINUTES`, `b.ts <= a.ts + 5`,
`a BEFORE b`, `ABS(b.ts - a.ts) <= 5`, `b.ts - a.ts IN [0, 5]`, `b.ts BETWEEN a.ts AND a.ts + 5`. Plain
numbers are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.clock import UNITS_US
from sanderling.errors import did_you_mean
from sanderling.language.grammar.trigger import Before, Duration
from sanderling.language.grammar.window.window import LONGEST_US
from sanderling.plan.expressions.comparisons import COMPARISONS, TURNED
from sanderling.plan.names.sides import RowScope


@dataclass(frozen=True, slots=True)
class Sum:
    """How often each variable's time is in it, by number, and so many microseconds."""

    times: dict[int, int]
    us: Fraction

    def plus(self, other: Sum, sign: int = 1) -> Sum:
        times = {i: self.times.get(i, 0) + sign * other.times.get(i, 0) for i in {*self.times, *other.times}}
        return Sum({i: n for i, n in times.items() if n}, self.us + sign * other.us)

    def pair(self) -> tuple[int, int] | None:
        """(i, j) if it is t_j - t_i and a constant."""
        by_count = {n: i for i, n in self.times.items()}
        return (by_count[-1], by_count[1]) if len(self.times) == 2 and set(by_count) == {-1, 1} else None


@dataclass(frozen=True, slots=True)
class Apart:
    """t_j - t_i is in [least, most], in microseconds."""

    i: int
    j: int
    least: int | None
    most: int | None


def aparts(condition: exp.Expr, scope: RowScope) -> list[Apart]:
    """A condition as such, if it is about the times of two variables and nothing else; nothing otherwise."""
    node = condition.unnest()
    if isinstance(node, Before):
        i, j = (_event(part, scope) for part in (node.this, node.expression))
        return [Apart(i, j, 1, None)]
    if isinstance(node, exp.Between):
        if node.args.get("symmetric"):
            return []
        low, high = (
            _apart(node.this, op, node.args[part], scope) for op, part in ((">=", "low"), ("<=", "high"))
        )
        return [low, high] if low is not None and high is not None else []
    op = COMPARISONS.get(type(node))
    if op is None or op == "<>":
        return []
    left, right = node.this.unnest(), node.expression.unnest()
    for one, other, way in ((left, right, op), (right, left, TURNED[op])):
        if isinstance(one, exp.Abs):
            return _within(one.this, other, way, scope)
    found = _apart(left, op, right, scope)
    return [] if found is None else [found]


def _apart(left: exp.Expr, op: str, right: exp.Expr, scope: RowScope) -> Apart | None:
    first, second = _sum(left, scope), _sum(right, scope)
    if first is None or second is None:
        return None
    difference = first.plus(second, -1)
    pair = difference.pair()
    return pair and Apart(*pair, *_bounds(op, _checked(-difference.us, right, scope)))


def _within(difference: exp.Expr, radius: exp.Expr, op: str, scope: RowScope) -> list[Apart]:
    """ABS of a difference, below something."""
    what, most = _sum(difference, scope), _sum(radius, scope)
    if what is None or most is None or most.times or what.us or op not in ("<", "<="):
        return []
    pair, (_, us) = what.pair(), _bounds(op, _checked(most.us, radius, scope))
    return [] if pair is None or us is None else [Apart(*pair, -us, us)]


def _bounds(op: str, us: Fraction) -> tuple[int | None, int | None]:
    """Times are whole microseconds: below one is at most the one before."""
    least = {"=": ceil(us), ">=": ceil(us), ">": floor(us) + 1}.get(op)
    most = {"=": floor(us), "<=": floor(us), "<": ceil(us) - 1}.get(op)
    return least, most


def duration(node: exp.Expr, scope: RowScope) -> int | None:
    """A constant length of time in microseconds."""
    found = _sum(node, scope)
    return None if found is None or found.times else floor(_checked(found.us, node, scope))


def _checked(us: Fraction, node: exp.Expr, scope: RowScope) -> Fraction:
    if abs(us) > LONGEST_US:
        raise scope.refuse(node, "query.bad_trigger", "this is too long", "up to 1000 years")
    return us


def _event(node: exp.Expr, scope: RowScope) -> int:
    """The variable that BEFORE is about: by its name, or by its time."""
    column = node.unnest()
    if isinstance(column, exp.Column):
        names = [alias.casefold() for alias in scope.aliases]
        if not column.table and column.name.casefold() in names:
            return names.index(column.name.casefold())
        if not column.table and not any(side.column(column.name) for side in scope.all):
            hint = did_you_mean(column.name, scope.aliases)
            raise scope.refuse(column, "query.unknown_name", f'no variable is named "{column.name}"', hint)
        found = _sum(column, scope)
        if found is not None:
            return next(iter(found.times))
    raise scope.refuse(
        node, "query.bad_trigger", "BEFORE and AFTER stand between two events", "write V1 BEFORE V2"
    )


def _sum(node: exp.Expr, scope: RowScope) -> Sum | None:
    """Times and constants, added and subtracted; None for anything else."""
    bare = node.unnest()
    match bare:
        case exp.Column():
            side, column = scope.find(bare)
            assert isinstance(side.relation, Stream)
            is_time = column.name == side.relation.time
            return Sum({scope.all.index(side): 1}, Fraction(0)) if is_time else None
        case Duration():
            return Sum({}, Fraction(bare.args["us"]))
        case exp.Interval():
            return _interval(bare)
        case exp.Literal():
            seconds = None if bare.is_string else exact(bare.this)
            return None if seconds is None else Sum({}, seconds * UNITS_US["second"])
        case exp.Neg():
            inner = _sum(bare.this, scope)
            return inner and Sum({}, Fraction(0)).plus(inner, -1)
        case exp.Add() | exp.Sub():
            left, right = _sum(bare.this, scope), _sum(bare.expression, scope)
            if left is None or right is None:
                return None
            return left.plus(right, 1 if isinstance(bare, exp.Add) else -1)
    return None


def _interval(node: exp.Interval) -> Sum | None:
    unit = node.args.get("unit")
    name = unit.name.lower() if unit is not None else ""
    scale = UNITS_US.get(name) or UNITS_US.get(name.removesuffix("s"))
    count = exact(node.this.name)
    return Sum({}, count * scale) if scale and count is not None else None


def exact(text: str) -> Fraction | None:
    """What a literal says, to its last digit; None if it is no number."""
    try:
        # With an exponent it is a double, and may have more digits than anybody wants to count.
        return Fraction(float(text)) if "e" in text.lower() else Fraction(Decimal(text))
    except (ArithmeticError, ValueError):
        return None
