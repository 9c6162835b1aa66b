"""DISTANCE(a, b): between the locations of two in FROM, compared as squares; SPEED and HEADING beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.grammar.window.window import is_within
from sanderling.plan.expressions.check import is_previous, not_allowed
from sanderling.plan.expressions.globe_distances import chord, chord_within, metres_between
from sanderling.plan.expressions.movement import is_movement, movement_written, uses_of_movement
from sanderling.plan.expressions.neighbours import is_nn, ranking_of
from sanderling.plan.names.sides import RowScope, Side, Uses

NEARER = (exp.LT, exp.LTE)
FURTHER = (exp.GT, exp.GTE)
OPPOSITE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT
}  # fmt: skip
TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Nearness:
    """That two sides are within a radius of each other; `is_open`: the radius itself does not count."""

    left: Side
    right: Side
    radius: exp.Expr  # the same for all rows
    is_open: bool


def is_distance(node: object) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "DISTANCE"


def nearness(condition: exp.Expr, scope: RowScope) -> Nearness | None:
    """A condition as such, if it is DISTANCE(a, b) <= a constant of two different sides."""
    bare = condition.unnest()
    is_not = isinstance(bare, exp.Not)
    turned = _turned(bare.this.unnest() if is_not else bare)
    if turned is None:
        return None
    kind, distance, radius = turned
    kind = OPPOSITE[kind] if is_not else kind
    left, right = sides_of(distance, scope)
    if kind not in NEARER or left is right or not is_constant(radius):
        return None
    return Nearness(left, right, radius, kind is exp.LT)


def near_by_row(condition: exp.Expr, scope: RowScope) -> tuple[Side, Side] | None:
    """Two sides that are within a radius of each other which a row has: DISTANCE(t, p) <= p.radius."""
    bare = condition.unnest()
    is_not = isinstance(bare, exp.Not)
    turned = _turned(bare.this.unnest() if is_not else bare)
    if turned is None:
        return None
    kind, distance, _ = turned
    left, right = sides_of(distance, scope)
    is_near = (OPPOSITE[kind] if is_not else kind) in NEARER
    return (left, right) if is_near and left is not right else None


def is_constant(node: exp.Expr) -> bool:
    of_rows = (exp.Column, exp.AggFunc, exp.Query)
    return not any(isinstance(n, of_rows) or is_distance(n) or is_previous(n) for n in node.walk())


def taken_apart(condition: exp.Expr) -> list[exp.Expr]:
    """What has to hold for a condition to hold: the parts of AND, and of a distance BETWEEN two numbers."""
    bare = condition.unnest()
    if isinstance(bare, exp.And):
        return [part for side in (bare.this, bare.expression) for part in taken_apart(side)]
    if isinstance(bare, exp.Between) and not bare.args.get("symmetric") and is_distance(bare.this.unnest()):
        low = exp.GTE(this=bare.this.copy(), expression=bare.args["low"].copy())
        high = exp.LTE(this=bare.this.copy(), expression=bare.args["high"].copy())
        return [low, high]
    return [condition]


def _turned(node: exp.Expr) -> tuple[type[exp.Expr], exp.Expr, exp.Expr] | None:
    """A comparison with the distance on its left."""
    if not isinstance(node, NEARER + FURTHER):
        return None
    left, right = node.this.unnest(), node.expression.unnest()
    if is_distance(left) and not is_distance(right):
        return type(node), left, right
    if is_distance(right) and not is_distance(left):
        return TURNED[type(node)], right, left
    return None


def sides_of(distance: exp.Expr, scope: RowScope) -> tuple[Side, Side]:
    """The two that a DISTANCE is between."""
    parts = distance.expressions
    if len(parts) != 2:
        raise scope.refuse(
            distance,
            "query.wrong_argument_count",
            "DISTANCE is between two",
            "write DISTANCE(a, b), of two in FROM; near a place is INSIDE (x, y, r)",
        )
    first, second = (_side(part, scope) for part in parts)
    return first, second


def located(part: exp.Expr) -> str:
    """Whose place is meant, by `a` or by `a.location`; empty: nobody's."""
    column = part.unnest()
    if not isinstance(column, exp.Column):
        return ""
    is_location = bool(column.table) and column.name.casefold() == "location"
    return column.table if is_location else "" if column.table else column.name


def _side(part: exp.Expr, scope: RowScope) -> Side:
    name = located(part)
    found = [side for side in scope.all if name and side.alias.casefold() == name.casefold()]
    if not found or found[0].place is None:
        hint = "name two of FROM, streams or tables with LOCATION: DISTANCE(a, b)"
        raise scope.refuse(part, "query.wrong_type", "DISTANCE takes what has a location", hint)
    return found[0]


def uses_of(node: exp.Expr, scope: RowScope) -> Uses:
    """The columns that an expression reads: by side and name."""
    uses: Uses = set()
    for n in node.walk():
        if isinstance(n, LocationInside):
            raise not_allowed(n, scope)
        if is_nn(n):
            uses |= ranking_of(n, scope).uses(scope)
        elif is_distance(n):
            for side in sides_of(n, scope):
                assert side.place
                uses |= {(scope.all.index(side), name) for name in side.place}
        elif isinstance(n, (exp.First, exp.Last)):
            uses |= _times_of(n, scope)
        elif is_movement(n):
            uses |= uses_of_movement(n, scope)
        elif is_previous(n) and len(n.expressions) == 1 and isinstance(n.expressions[0], exp.Column):
            uses.add(scope.find_previous(n.expressions[0], is_within(n)))
    for column in node.find_all(exp.Column):
        if any(map(_is_of_its_own, _above(column))):
            continue
        side, found = scope.find(column)
        uses.add((scope.all.index(side), found.name))
    return uses


def _times_of(node: exp.Expr, scope: RowScope) -> Uses:
    """FIRST and LAST of a stream's column go by its time."""
    sides = {scope.all.index(side): side for c in node.find_all(exp.Column) for side in [scope.find(c)[0]]}
    return {(i, s.relation.time) for i, s in sides.items() if isinstance(s.relation, Stream)}


def _is_of_its_own(node: exp.Expr) -> bool:
    """Whether names in it are looked at by themselves."""
    return is_distance(node) or is_nn(node) or is_previous(node) or is_movement(node)


def _above(node: exp.Expr) -> Iterable[exp.Expr]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def written_out(node: exp.Expr, scope: RowScope) -> exp.Expr:
    """The same without DISTANCE, SPEED and HEADING: by the columns of the locations."""
    holder = exp.Paren(this=node.copy())
    for movement in [n for n in holder.walk() if is_movement(n)]:
        movement.replace(movement_written(movement, scope))
    for distance in [n for n in holder.walk() if is_distance(n)]:
        is_globe = bool(sides_of(distance, scope)[0].is_globe)
        above = distance.parent
        while isinstance(above, exp.Paren) and above is not holder:
            above = above.parent
        turned = _turned(above) if above is not None else None
        if above is None or turned is None:
            distance.replace(_far(distance, scope, is_globe))
        else:
            squares = _squares(distance, scope, is_globe)
            above.replace(_compared(turned[0], squares, turned[2].copy(), is_globe))
    written: exp.Expr = holder.this
    return written


def _far(distance: exp.Expr, scope: RowScope, is_globe: bool) -> exp.Expr:
    if is_globe:
        return metres_between(*_places(distance, scope))
    return exp.Sqrt(this=_squares(distance, scope, is_globe))


def _places(distance: exp.Expr, scope: RowScope) -> list[exp.Expr]:
    return [_column(side, name) for side in sides_of(distance, scope) for name in side.place or ()]


def _compared(kind: type[exp.Expr], squares: exp.Expr, radius: exp.Expr, is_globe: bool) -> exp.Expr:
    """A negative radius is nearer than everything."""
    radius = exp.cast(exp.paren(radius), "DOUBLE")
    square = chord_within(radius) if is_globe else exp.Mul(this=radius.copy(), expression=radius.copy())
    whole = exp.and_ if kind in NEARER else exp.or_
    first = kind(this=exp.Literal.number(0), expression=radius)
    return exp.paren(whole(first, kind(this=squares, expression=square)), copy=False)


def _squares(distance: exp.Expr, scope: RowScope, is_globe: bool) -> exp.Expr:
    left, right = sides_of(distance, scope)
    assert left.place and right.place
    if is_globe:
        return chord(*_places(distance, scope))
    parts = []
    for mine, other in zip(left.place, right.place, strict=True):
        step = exp.paren(exp.Sub(this=_column(left, mine), expression=_column(right, other)))
        parts.append(exp.Mul(this=step, expression=step.copy()))
    return exp.paren(exp.Add(this=parts[0], expression=parts[1]))


def _column(side: Side, name: str) -> exp.Expr:
    column = exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(side.alias, quoted=True)
    )
    return exp.cast(column, "DOUBLE")
