"""SPEED() and HEADING(): how an object has moved from its reading before to this one, from PREVIOUS."""

from __future__ import annotations

from sqlglot import exp, parse_one

from sanderling.catalog import Stream
from sanderling.language.grammar.window.window import WITHIN, is_within, word_of_two
from sanderling.plan.expressions.globe_distances import chord, metres_between
from sanderling.plan.names.sides import RowScope, Side, Uses
from sanderling.plans.columns import previous_of, within_of
from sanderling.space.sphere import DEGREE

PLANE_SPEED = "(SQRT((x - u) * (x - u) + (y - v) * (y - v)) / t)"
# Clockwise from north, which is where y grows, from 0 up to 360; NULL for who has not moved.
PLANE_HEADING = "(CASE WHEN x <> u OR y <> v THEN (DEGREES(ATAN2(x - u, y - v)) + 360e0) % 360e0 END)"
GLOBE_SPEED = "(d / t)"
TURN = f"((x - u) * {DEGREE!r})"
HERE, THERE = f"(v * {DEGREE!r})", f"(y * {DEGREE!r})"
NORTH = f"(COS({HERE}) * SIN({THERE}) - SIN({HERE}) * COS({THERE}) * COS({TURN}))"
GLOBE_HEADING = (
    f"(CASE WHEN c <> 0 THEN (DEGREES(ATAN2(SIN({TURN}) * COS({THERE}), {NORTH})) + 360e0) % 360e0 END)"
)


def is_movement(node: object) -> bool:
    return word_of_two(node) in ("SPEED", "HEADING")


def moving_side(node: exp.Expr, scope: RowScope) -> Side:
    """The stream whose objects are meant: by its name, or the one that there is."""
    word, parts = word_of_two(node), node.expressions
    streams = [side for side in scope.all if isinstance(side.relation, Stream)]
    if len(parts) > 1:
        raise scope.refuse(node, "query.wrong_argument_count", f"{word} is of one", f"write {word}(a)")
    if parts:
        name = parts[0].name if isinstance(parts[0], exp.Column) and not parts[0].table else ""
        streams = [side for side in streams if side.alias.casefold() == name.casefold()]
    if len(streams) != 1:
        hint = f"write {word}(a), with a stream's name in FROM; of a query, compute it in there"
        raise scope.refuse(node, "query.wrong_type", f"{word} is of the readings of one stream", hint)
    return streams[0]


def uses_of_movement(node: exp.Expr, scope: RowScope) -> Uses:
    side = moving_side(node, scope)
    before = within_of if is_within(node) else previous_of
    if is_within(node):
        scope.find_previous(_column(side, _names(side)[0]), is_within=True)  # which may be refused
    return {(scope.all.index(side), n) for name in _names(side) for n in (name, before(name))}


def movement_written(node: exp.Expr, scope: RowScope) -> exp.Expr:
    """The same by columns, and PREVIOUS of them. Of seconds there are none where nothing was before."""
    side = moving_side(node, scope)
    columns = [_column(side, name) for name in _names(side)]
    before = [_previous(column, is_within(node)) for column in columns]
    x, y, u, v = (exp.cast(part, "DOUBLE") for part in (*columns[:2], *before[:2]))
    parts = {"x": x, "y": y, "u": u, "v": v, "t": _seconds(side, columns[2], before[2])}
    is_speed = word_of_two(node) == "SPEED"
    if not side.is_globe:
        return _filled(PLANE_SPEED if is_speed else PLANE_HEADING, parts)
    parts |= {"d": metres_between(u, v, x, y), "c": chord(u, v, x, y)}
    return _filled(GLOBE_SPEED if is_speed else GLOBE_HEADING, parts)


def _names(side: Side) -> tuple[str, str, str]:
    assert isinstance(side.relation, Stream)
    return side.relation.x, side.relation.y, side.relation.time


def _column(side: Side, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(side.alias, quoted=True))


def _previous(column: exp.Expr, is_within: bool) -> exp.Expr:
    return exp.Anonymous(this="PREVIOUS" + (WITHIN if is_within else ""), expressions=[column.copy()])


def _seconds(side: Side, time: exp.Expr, before: exp.Expr) -> exp.Expr:
    assert isinstance(side.relation, Stream)
    found = side.relation.column(side.relation.time)
    passed = exp.paren(exp.Sub(this=time.copy(), expression=before))
    if found is not None and found.type.is_number:
        return exp.cast(passed, "DOUBLE")
    return exp.Extract(this=exp.var("EPOCH"), expression=passed)


def _filled(text: str, parts: dict[str, exp.Expr]) -> exp.Expr:
    formula = exp.Paren(this=parse_one(text, read="spark"))
    for column in list(formula.find_all(exp.Column)):
        column.replace(parts[column.name].copy())
    found: exp.Expr = formula.this
    return found
