"""EXTENT in FROM that moves, with a RANGE of time: past readings in it as it is now, said by other nodes.

it changes by itself    readings of the range ─► Swept
it follows an object    readings of the range ─► join with where the object is now, by distance

What is looked at now and then is looked at above that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column, Stream
from sanderling.language.grammar.space.lines import outline_of, unit_in
from sanderling.language.statements import (
    Bracket,
    Coverage,
    MovingCircleShape,
    MovingRectShape,
    OutlineShape,
    RegisterQuery,
    Value,
    focal_of,
)
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.written import of_tree, plain, selected
from sanderling.plan.names.sides import Side
from sanderling.plan.query.relations import Shape, is_still
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, constant_name
from sanderling.plans.expression import Expression
from sanderling.space.moving.drift import Motion
from sanderling.space.outlines.globe import fault_of
from sanderling.space.outlines.outline import motion_of, moving
from sanderling.types import TYPES

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block
    from sanderling.plan.query.joining import Joining

DOUBLE, BOOLEAN = TYPES["DOUBLE"], TYPES["BOOLEAN"]
# A circle around a rectangle holds all of it, and a little more, since squares round.
ROUNDING = 1e-9


def shifted(block: Block, bracket: Bracket | None, shape: Shape, is_globe: bool) -> Shape:
    """The extent of a window as it goes on with each look."""
    if bracket is None or bracket.shift is None or bracket.refresh is None or shape is None:
        return shape
    outline = outline_of(shape)
    if outline is None or motion_of(outline) is not None:
        message, hint = "what moves already does not shift, too", "write EVERY dt, or SHIFT BY (0, 0, dt)"
        raise block.refuse_at(bracket.span, "query.unsupported", message, hint)
    (dx, dy), refresh = bracket.shift, bracket.refresh
    found = moving(outline, Motion(refresh.from_us, shift_us=refresh.every_us, dx=dx, dy=dy))
    if is_globe and (fault := fault_of(found)) is not None:
        raise block.refuse_at(bracket.span, *fault)
    return OutlineShape(found, unit_in(shape))


def swept(
    joining: Joining, side: Side, stream: Stream, columns: Sequence[tuple[int, Column]],
    conditions: list[exp.Expr],
) -> nodes.Node | None:  # fmt: skip
    """What a side brings whose extent moves over a range of time; None where it does not."""
    bracket = side.bracket
    if bracket is None or bracket.extent is None or bracket.window is None:
        return None
    if bracket.window.since_us is not None:
        return None
    asked = joining.asked_of(side, conditions)
    shape, used = joining.shape_of(side, stream, asked, [])
    shape = shifted(joining.block, bracket, shape, bool(stream.is_globe))
    if shape is None or is_still(shape):
        return None
    own = replace(asked, inside=None)
    return _Swept(joining, side, stream, bracket, shape, used, own).over(columns, conditions)


@dataclass(frozen=True, slots=True)
class _Swept:
    """One such window."""

    joining: Joining
    side: Side
    stream: Stream
    bracket: Bracket
    shape: Coverage
    used: tuple[str, ...]  # regions by their names
    own: RegisterQuery  # what is asked of the readings of the range

    def over(self, columns: Sequence[tuple[int, Column]], conditions: list[exp.Expr]) -> nodes.Node:
        number, stream = self.joining.sides.index(self.side), self.stream
        wide = dict.fromkeys(columns)
        own = (stream.column(name) for name in (stream.key, stream.time, stream.x, stream.y))
        wide |= dict.fromkeys((number, column) for column in own if column is not None)
        focal = focal_of(self.shape)
        others = [] if focal is None else [self._is_other(focal)]
        scan = self.joining.scan(self.side, stream, list(wide), [*conditions, *others], self.own)
        scan = replace(scan, regions_used=self.used, refresh=None)
        at = {column.name: place for place, (owner, column) in enumerate(wide) if owner == number}
        place = at[stream.x], at[stream.y]
        found = self._by_itself(scan, place) if focal is None else self._around(scan, place, focal)
        found = selected(found, None, plain(found.types)[: len(columns)], [c.name for _, c in columns])
        refresh = self.bracket.refresh
        return found if refresh is None else nodes.Sample(found, refresh, stream.tick_us)

    def _by_itself(self, rows: nodes.Node, place: tuple[int, int]) -> nodes.Node:
        assert isinstance(self.shape, OutlineShape)
        if self.stream.is_globe:
            message = "on the globe an EXTENT with a RANGE of time does not change by itself yet"
            hint = "write [RANGE …] and INSIDE for who was in it as it was then, or take its EXTENT NOW"
            raise self.joining.block.refuse_at(self.bracket.span, "query.unsupported", message, hint)
        return nodes.Swept(rows, place, (self.shape.outline,), self.stream.tick_us)

    def _around(self, rows: nodes.Node, place: tuple[int, int], focal: Value) -> nodes.Node:
        """The rows, joined with the place of the object that is followed."""
        match self.shape:
            case MovingCircleShape(radius=radius):
                return self._near(rows, place, focal, radius)
            case MovingRectShape(xdist=xdist, ydist=ydist) if not self.stream.is_globe:
                w, h = xdist / 2, ydist / 2
                near = self._near(rows, place, focal, hypot(w, h) * (1 + ROUNDING))
                return nodes.Select(near, self._is_within(place, len(rows.types), (w, h)), plain(near.types))
        message = (
            "an EXTENT with a RANGE of time stands still, changes by itself, or is a circle around an object"
        )
        hint = "for who was in the region as it was then, write [RANGE …] and INSIDE"
        raise self.joining.block.refuse_at(self.bracket.span, "query.unsupported", message, hint)

    def _near(self, rows: nodes.Node, place: tuple[int, int], focal: Value, radius: float) -> nodes.Node:
        stream, words = self.stream, f"DISTANCE({self.side.alias}, {focal.value})"
        by = nodes.Near(place, (0, 1), self._constant(radius), words=words, is_globe=stream.is_globe)
        return nodes.Join(rows, self._followed(focal), (), (), by)

    def _followed(self, focal: Value) -> nodes.Node:
        """Where the object is now."""
        stream = self.stream
        select = exp.Select(
            expressions=[_column(name) for name in (stream.x, stream.y)],
            from_=exp.From(this=exp.Table(this=exp.to_identifier(stream.name, quoted=True))),
            where=exp.Where(this=exp.EQ(this=_column(stream.key), expression=_literal(focal))),
        )
        return self.joining.work.query(select, self.joining.block.text).node

    def _is_other(self, focal: Value) -> exp.Expr:
        """Nobody is around itself."""
        key = _column(self.stream.key)
        key.set("table", exp.to_identifier(self.side.alias, quoted=True))
        return exp.NEQ(this=key, expression=_literal(focal))

    def _is_within(self, place: tuple[int, int], width: int, half: tuple[float, float]) -> Expression:
        """Of a rectangle, along both axes."""
        parts = [
            exp.LTE(this=exp.Abs(this=exp.Sub(this=_by_place(mine), expression=_by_place(width + axis))),
                    expression=exp.cast(exp.Literal.number(repr(far)), "DOUBLE"))
            for axis, (mine, far) in enumerate(zip(place, half, strict=True))
        ]  # fmt: skip
        return of_tree(exp.and_(*parts), BOOLEAN, f"in the rectangle around {self.side.alias}")

    def _constant(self, value: float) -> Expression:
        constants = self.joining.work.constants
        name = constant_name(len(constants))
        constants.append(Constant(name, DOUBLE, value))
        return Expression.of_column(name, DOUBLE, "?")


def _by_place(place: int) -> exp.Column:
    return _column(by_place(place))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _literal(focal: Value) -> exp.Expr:
    if isinstance(focal.value, str):
        return exp.Literal.string(focal.value)
    return exp.Literal.number(focal.value)
