"""INSIDE and kNN around an object of another stream, said in terms of other nodes.

INSIDE ('M', customers 'zoe', 50)   readings ─► join by DISTANCE ◄─ where zoe is
kNN ('M', 3, customers 'zoe')       readings ─► Neighbours ◄─ where zoe is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp, parse_one

from sanderling.catalog import Column, Stream
from sanderling.errors import QueryError
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.statements import (
    ExteriorShape,
    Following,
    InsideTarget,
    MovingCircleShape,
    MovingRectShape,
    Name,
    NearestTarget,
    RegisterQuery,
    Span,
    Spot,
    Value,
)
from sanderling.plan.build.asked import asked_of
from sanderling.plan.expressions.check import Constant, span_of
from sanderling.plan.expressions.rewrite import pair_column
from sanderling.plan.expressions.written import of_tree, plain, selected
from sanderling.plan.logical import Scan
from sanderling.plan.names.sides import Side, different_spaces
from sanderling.plan.query.relations import Shape
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, constant_name, of_reading
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn
from sanderling.space.sphere import DEGREE, METRES_A_DEGREE
from sanderling.types import TYPES, SqlType

if TYPE_CHECKING:
    from sanderling.plan.query.joining import Joining

DOUBLE, BOOLEAN = TYPES["DOUBLE"], TYPES["BOOLEAN"]
# A rectangle around u, v of lengths w and h, as space/centred.py and space/oblong.py have it; and a circle
# around it, a little wider than it need be.
ON_PLANE = "ABS(x - u) <= w / 2e0 AND ABS(y - v) <= h / 2e0"
ON_GLOBE = (
    f"ABS(y - v) * {METRES_A_DEGREE!r} <= h / 2e0 AND "
    f"LEAST(ABS(x - u), 360e0 - ABS(x - u)) * {METRES_A_DEGREE!r} * COS(v * {DEGREE!r}) <= w / 2e0"
)
REACH = "(w + h) * 0.500001e0"


def around(
    joining: Joining, side: Side, stream: Stream, columns: Sequence[tuple[int, Column]],
    conditions: list[exp.Expr],
) -> nodes.Node | None:  # fmt: skip
    """What a side brings that is asked around an object of another stream; None: it is not."""
    relations, asked = joining.block.relations, joining.asked_of(side, conditions)
    operators = {id(c): _target_of(c) for c in conditions if isinstance(c, LocationInside)}
    targets = [asked.inside, *operators.values()]
    inside = next((t for t in targets if relations.is_of_another(t, stream)), None)
    nearest = asked.nearest if relations.is_of_another(asked.nearest, stream) else None
    if inside is None and nearest is None:
        return None
    own = replace(
        asked, inside=None if inside is asked.inside else asked.inside,
        nearest=asked.nearest if nearest is None else None,
    )  # fmt: skip
    rest = [c for c in conditions if inside is None or operators.get(id(c)) is not inside]
    found = _Around(joining, side, stream, inside, nearest)
    found.refuse_beside(asked)
    return found.over(columns, rest, own, *joining.shape_of(side, stream, asked, conditions))


def _target_of(operator: LocationInside) -> InsideTarget | None:
    target = operator.args["expression"]
    if not isinstance(target, exp.Expression):
        found: InsideTarget = target
        return found
    is_name = isinstance(target, exp.Column) and not target.table
    return Name(target.name, span_of(target) or Span(0, 1)) if is_name else None


@dataclass(frozen=True, slots=True)
class _Around:
    """One such side."""

    joining: Joining
    side: Side
    stream: Stream
    inside: InsideTarget | None
    nearest: NearestTarget | None

    def over(
        self, columns: Sequence[tuple[int, Column]], rest: list[exp.Expr], own: RegisterQuery, shape: Shape,
        used: tuple[str, ...],
    ) -> nodes.Node:  # fmt: skip
        """INSIDE first, then the nearest of those. `used` are regions that were named for the shape."""
        number = self.joining.sides.index(self.side)
        names = (self.stream.x, self.stream.y, self.stream.key)
        mine = [(number, column) for name in names if (column := self.stream.column(name)) is not None]
        wide = list(dict.fromkeys([*columns, *mine]))
        scan = self.joining.scan(self.side, self.stream, wide, rest, own)
        node: nodes.Node = replace(scan, regions_used=used)
        x, y, key = (wide.index(column) for column in mine)
        if self.inside is not None:
            node = self._inside(node, shape, (x, y))
        if self.nearest is not None:
            node = self._nearest(node, self.nearest, (x, y), key)
        return selected(node, None, plain(node.types)[: len(columns)], [c.name for _, c in columns])

    def _inside(self, node: nodes.Node, shape: Shape, place: tuple[int, int]) -> nodes.Node:
        if not isinstance(shape, MovingCircleShape | MovingRectShape):
            message = "around an object of another stream there are circles and rectangles"
            raise self._refuse(
                message, "write ('M', customers 'zoe', r) or ('M', customers 'zoe', xdist, ydist)"
            )
        is_named = not isinstance(self.inside, Following)
        there, is_globe, width = self._focal(shape.focal, is_named), self.stream.is_globe, len(node.types)
        spots = (None, None) if is_named or not shape.spots else shape.spots
        if isinstance(shape, MovingCircleShape):
            sizes, condition, reach = [self._constant(shape.radius, spots[0])], None, "w"
        else:
            lengths = zip((shape.xdist, shape.ydist), spots, strict=True)
            sizes, condition = [self._constant(*one) for one in lengths], ON_GLOBE if is_globe else ON_PLANE
            reach = "" if is_globe else REACH
        letters = dict(zip("xyuv", (*place, width, width + 1), strict=True))
        names = {letter: by_place(at) for letter, at in letters.items()} | dict(
            zip("wh", sizes, strict=False)
        )
        words = f"DISTANCE({self.side.alias}, {there.alias})"
        near = None
        if reach:
            near = nodes.Near(place, (0, 1), _said(reach, names, DOUBLE), words=words, is_globe=is_globe)
        found: nodes.Node = nodes.Join(node, there, (), (), near, words="" if near else "each with each")
        where = None if condition is None else _said(condition, names, BOOLEAN)
        return nodes.Select(found, where, plain(found.types)[:width])

    def _nearest(
        self, node: nodes.Node, target: NearestTarget, place: tuple[int, int], key: int
    ) -> nodes.Node:
        assert target.focal is not None and isinstance(target.k.value, int)
        there = self._focal(target.focal, is_named=False)
        words = f"NN({there.alias}, {self.side.alias}, 'k={target.k.value}')"
        found = nodes.Neighbours(
            there, node, (0, 1), place, target.k.value, (key,), None, words, self.stream.is_globe
        )
        return nodes.Select(found, None, plain(found.types)[len(there.types) :])

    def _focal(self, focal: Value, is_named: bool) -> Scan:
        """Where the focal object is: x and y, of it alone."""
        block, work = self.joining.block, self.joining.work
        other = block.relations.stream_of(focal, self.stream, block.text, self._span)
        if other.is_globe != self.stream.is_globe:
            raise block.refuse_at(self._span, *different_spaces(Side(other.name, other, self._span)))
        name = self._constant(focal.value, None if is_named else focal.spot, other.key_type)
        is_it = exp.EQ(this=pair_column(of_reading(other.key)), expression=pair_column(name))
        shown = tuple(
            OutputColumn(c.name, Expression.of_column(of_reading(c.name), c.type, c.name))
            for c in (other.column(other.x), other.column(other.y))
            if c is not None
        )
        work.asked.append(asked_of(None, None, other))
        return Scan(
            len(work.asked) - 1, tuple(o.type for o in shown), other.name, stream=other, table=None,
            outputs=shown, where=(of_tree(is_it, BOOLEAN, f"{other.key} = ?"),), is_everywhere=True,
        )  # fmt: skip

    def _constant(self, value: object, spot: Spot | None, type_: SqlType = DOUBLE) -> str:
        constants = self.joining.work.constants
        constants.append(Constant(constant_name(len(constants)), type_, value, spot))
        return constants[-1].name

    # ----- refusals

    def refuse_beside(self, asked: RegisterQuery) -> None:
        bracket = self.side.bracket
        is_window = asked.window is not None or (
            bracket is not None and bool(bracket.refresh or bracket.extent or bracket.nearby or bracket.tiles)
        )
        if is_window:
            message = "an object of another stream is followed as it is now, and not through a window"
            raise self._refuse(message, "leave out the window, or name both in FROM")
        if self.inside is not None and asked.nearest is not None and self.nearest is None:
            message = "kNN beside INSIDE around an object of another stream"
            hint = "kNN beside it is around an object of another stream, too; else leave out one of them"
            raise self._refuse(message, hint)

    def _refuse(self, message: str, hint: str) -> QueryError:
        return self.joining.block.refuse_at(self._span, "query.unsupported", message, hint)

    @property
    def _span(self) -> Span:
        target = self.nearest if self.inside is None else self.inside
        if isinstance(target, NearestTarget):
            assert target.focal is not None
            return target.focal.span
        if isinstance(target, Following):
            return target.focal.span
        name = target.name if isinstance(target, ExteriorShape) else target
        return name.span if isinstance(name, Name) else self.side.span


def _said(text: str, names: dict[str, str], type_: SqlType) -> Expression:
    """A formula over columns and constants by these names."""
    if text in names:
        return Expression.of_column(names[text], type_, "?")
    tree = exp.Paren(this=parse_one(text, read="duckdb"))
    for column in list(tree.find_all(exp.Column)):
        column.replace(pair_column(names[column.name]))
    return of_tree(tree.this, type_)
