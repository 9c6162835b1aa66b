"""NEARBY in FROM: readings near some places, said in terms of other nodes.

NEARBY F ROWS k       rows of F ─► Neighbours ◄─ last readings       then each reading once: DISTINCT
NEARBY F WITHIN d     readings in circles around the rows of a table: shards do it, as with regions of a table
                      rows of F ─► join by DISTANCE ◄─ readings, where F moves or is written
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sanderling.catalog import Column, Stream, Table
from sanderling.errors import QueryError
from sanderling.language.statements import Bracket, FocalPoints, NearbyWindow, Span, Value
from sanderling.plan.declarations import unit_on_plane
from sanderling.plan.expressions.check import Constant, span_of
from sanderling.plan.expressions.distances import uses_of
from sanderling.plan.expressions.written import plain, renamed, selected
from sanderling.plan.logical import Scan, filtered
from sanderling.plan.names.sides import Derived, RowScope, Side, different_spaces
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, constant_name, of_table
from sanderling.plans.expression import Expression
from sanderling.space.outlines.globe import fault_of_place
from sanderling.types import TYPES

if TYPE_CHECKING:
    from sanderling.plan.query.joining import Joining

DOUBLE = TYPES["DOUBLE"]
HINT = "write NEARBY (SELECT location FROM sites WHERE …)"


def nearby(
    joining: Joining, side: Side, bracket: Bracket, columns: Sequence[tuple[int, Column]],
    conditions: list[exp.Expr],
) -> nodes.Node:  # fmt: skip
    """What a side brings whose window looks around places."""
    assert bracket.nearby is not None and isinstance(side.relation, Stream)
    return _Nearby(joining, side, side.relation, bracket, bracket.nearby).over(columns, conditions)


@dataclass(frozen=True, slots=True)
class _Nearby:
    """One such window."""

    joining: Joining
    side: Side
    stream: Stream
    bracket: Bracket
    asked: NearbyWindow

    def over(self, columns: Sequence[tuple[int, Column]], conditions: list[exp.Expr]) -> nodes.Node:
        self._refuse_beside(conditions)
        number = self.joining.sides.index(self.side)
        stream, wide = self.stream, dict.fromkeys(columns)
        own = (stream.column(name) for name in (stream.key, stream.time, stream.x, stream.y))
        wide |= dict.fromkeys((number, column) for column in own if column is not None)
        scan = self.joining.scan(self.side, stream, list(wide), [])
        at = {column.name: place for place, (owner, column) in enumerate(wide) if owner == number}
        found = nodes.Distinct(self._near(scan, at))
        return selected(found, None, plain(found.types)[: len(columns)], [c.name for _, c in columns])

    def _near(self, scan: Scan, at: dict[str, int]) -> nodes.Node:
        """Readings as often as there are places that they are near."""
        relation = self._relation()
        place, distance = (at[self.stream.x], at[self.stream.y]), self.asked.distance
        if distance is not None and isinstance(relation, Table):
            return self._in_circles(scan, relation, distance)
        points = self._points(relation)
        near: nodes.Node
        if distance is None:
            assert self.asked.k is not None and isinstance(self.asked.k.value, int)
            ties = (at[self.stream.key], at[self.stream.time])
            words = f"nearby {self._words(relation)}"
            k, is_globe = self.asked.k.value, self.stream.is_globe
            near = nodes.Neighbours(points, scan, (0, 1), place, k, ties, None, words, is_globe)
        else:
            words = f"DISTANCE({self._words(relation)}, {self.side.alias})"
            radius = self._constant(float(distance.value))
            by = nodes.Near((0, 1), place, radius, words=words, is_globe=self.stream.is_globe)
            near = nodes.Join(points, scan, (), (), by)
        return nodes.Select(near, None, plain(near.types)[len(points.types) :])

    def _in_circles(self, scan: Scan, table: Table, distance: Value) -> Scan:
        """Circles around rows of a table are regions of a table."""
        select = self.asked.points.select
        assert select is not None
        side, constants = self._side_of(select, table), self.joining.work.constants
        scope = RowScope(self.joining.block.text, self.asked.points.span, [side])
        scope.places = {(0, column.name): place for place, column in enumerate(table.columns)}
        names = {by_place(place): of_table(column.name) for place, column in enumerate(table.columns)}
        chosen = self.joining.selects.conditions(_conjuncts(select), scope, constants)
        where = (*scan.where, *(renamed(condition, names) for condition in chosen))
        return replace(scan, table=table, within=float(distance.value), where=where)

    # ----- the places

    def _relation(self) -> Stream | Table | Derived | None:
        """What the places are of, None where they are written; in the same space."""
        points = self.asked.points
        if points.select is None:
            self._refuse_off(points)
            return None
        self._refuse_odd(points.select)
        relation = self.joining.block.named(points.select.args["from_"].this)
        place = relation.place if not isinstance(relation, Stream) else (relation.x, relation.y)
        if place is None:
            message = f'"{points.select.args["from_"].this.name}" has no LOCATION'
            raise self._refuse(points.span, "query.wrong_type", message, "declare it with LOCATION (x, y)")
        if relation.is_globe != self.stream.is_globe:
            raise self._refuse(points.span, *different_spaces(self._side_of(points.select, relation)))
        return relation

    def _points(self, relation: Stream | Table | Derived | None) -> nodes.Node:
        """The places as rows of each query: x, y; as they were when the window was looked at."""
        found = self._places(relation)
        refresh = self.bracket.refresh
        return found if refresh is None else nodes.Sample(found, refresh, self.stream.tick_us)

    def _places(self, relation: Stream | Table | Derived | None) -> nodes.Node:
        points = self.asked.points
        if relation is None:
            return nodes.FocalPoints(None, points.places, (DOUBLE, DOUBLE))
        assert points.select is not None
        match relation:
            case Table():
                return self._of_table(points.select, relation)
            case Stream():
                return self._of_stream(points.select, relation)
        return self._chosen(points.select, relation, relation.node, relation.columns)

    def _of_stream(self, select: exp.Select, stream: Stream) -> nodes.Node:
        asked = select.copy()
        asked.set("expressions", [_column(name) for name in (stream.x, stream.y)])
        return self.joining.work.query(asked, self.joining.block.text).node

    def _of_table(self, select: exp.Select, table: Table) -> nodes.Node:
        side = self._side_of(select, table)
        self.joining.work.tables.append(table.name)
        scope = RowScope(self.joining.block.text, self.asked.points.span, [side])
        used = {name for c in _conjuncts(select) for _, name in uses_of(c, scope)}
        assert table.place is not None
        there = tuple(c for c in table.columns if c.name in used or c.name in table.place)
        names, types = tuple(c.name for c in there), tuple(c.type for c in there)
        return self._chosen(select, table, nodes.TableRows(table.name, names, types, side.alias), there)

    def _chosen(
        self, select: exp.Select, relation: Table | Derived, rows: nodes.Node, columns: Sequence[Column]
    ) -> nodes.Node:
        """Those that satisfy the condition; of tables for each query, whose constants are known there."""
        assert relation.place is not None
        if nodes.is_table(rows):
            rows = nodes.FocalPoints(rows, (), rows.types)
        scope = RowScope(self.joining.block.text, self.asked.points.span, [self._side_of(select, relation)])
        scope.places = {(0, column.name): place for place, column in enumerate(columns)}
        chosen = self.joining.selects.conditions(_conjuncts(select), scope, self.joining.work.constants)
        whole = plain(rows.types)
        shown = [whole[scope.places[0, name]] for name in relation.place]
        return selected(filtered(rows, chosen), None, shown, relation.place)

    def _side_of(self, select: exp.Select, relation: Any) -> Side:
        return Side(select.args["from_"].this.alias_or_name, relation, self.asked.points.span)

    def _words(self, relation: Stream | Table | Derived | None) -> str:
        points = self.asked.points
        if relation is None or points.select is None:
            return f"{len(points.places)} spot{'' if len(points.places) == 1 else 's'}"
        return str(points.select.args["from_"].this.name)

    def _constant(self, value: float) -> Expression:
        constants = self.joining.work.constants
        name = constant_name(len(constants))
        constants.append(Constant(name, DOUBLE, value))
        return Expression.of_column(name, DOUBLE, "?")

    # ----- refusals

    def _refuse(self, span: Span, code: str, message: str, hint: str) -> QueryError:
        return self.joining.block.refuse_at(span, code, message, hint)

    def _refuse_beside(self, conditions: Sequence[exp.Expr]) -> None:
        """What a shard would do before the window does."""
        block, alias = self.joining.block, self.side.alias
        message = hint = ""
        if block.nearest is not None:
            message, hint = f'kNN beside NEARBY: "{alias}" has one window', "keep one of them"
        elif block.inside is not None or conditions or self.side.regions is not None:
            message = f'"{alias}" has NEARBY, and takes no INSIDE'
            hint = "ask for INSIDE in a query of its own, and join the two by key"
        if message:
            raise self._refuse(self.bracket.span, "query.unsupported", message, hint)
        distance = self.asked.distance
        if distance is not None and distance.unit is not None and not self.stream.is_globe:
            raise self._refuse(distance.unit, *unit_on_plane())

    def _refuse_odd(self, select: exp.Select) -> None:
        """The places are those of one table or stream, and all of them, or some by WHERE."""
        span = self.asked.points.span
        items = select.expressions
        is_place = len(items) == 1 and isinstance(items[0], exp.Column)
        if not is_place or items[0].name.casefold() != "location":
            here = (span_of(items[0]) if items else None) or span
            raise self._refuse(here, "query.wrong_type", "NEARBY needs places: a location", HINT)
        known = ("expressions", "from_", "where", "inside")
        odd = [word for word, value in select.args.items() if value and word not in known]
        if odd or "from_" not in select.args or not isinstance(select.args["from_"].this, exp.Table):
            message = "NEARBY takes places from one table or stream, with WHERE if you like"
            raise self._refuse(span, "query.unsupported", message, HINT)

    def _refuse_off(self, points: FocalPoints) -> None:
        for x, y in points.places if self.stream.is_globe else ():
            if (fault := fault_of_place(x, y)) is not None:
                raise self._refuse(points.span, *fault)


def _conjuncts(select: exp.Select) -> list[exp.Expr]:
    where = select.args.get("where")
    return [where.this] if where else []


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
