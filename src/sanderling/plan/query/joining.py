"""Sides of a SELECT joined: what each brings, by which keys they meet, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column, Stream, Table
from sanderling.clock import show_duration
from sanderling.errors import QueryError
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.statements import RegisterQuery
from sanderling.plan.build.asked import asked_of
from sanderling.plan.explain.words import shortened, words_of
from sanderling.plan.expressions.check import Scope, constant_of
from sanderling.plan.expressions.distances import Nearness, near_by_row, written_out
from sanderling.plan.expressions.neighbours import Ranking
from sanderling.plan.expressions.written import cast, identity, plain, selected, union_type
from sanderling.plan.logical import Scan
from sanderling.plan.names.sides import Derived, RowScope, Side, Uses
from sanderling.plan.query.around import around
from sanderling.plan.query.nearby import nearby
from sanderling.plan.query.relations import Shape, is_still
from sanderling.plan.query.swept import shifted, swept
from sanderling.plan.query.tessellate import tessellated
from sanderling.plan.query.within import within_window
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name, of_reading, of_table, place_of, without_within
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn
from sanderling.plans.window import Lasting, Refresh
from sanderling.types import TYPES, SqlType

EACH = "each with each"

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block


@dataclass(slots=True)
class Link:
    """A condition that two sides are joined by: an equality, that they are near, or NN."""

    left: int
    right: int
    condition: exp.Expr
    left_key: exp.Expr = field(default_factory=exp.Null)
    right_key: exp.Expr = field(default_factory=exp.Null)
    near: Nearness | None = None
    ranking: Ranking | None = None  # of the right side, by NN
    type: SqlType = TYPES["DOUBLE"]
    places: dict[int, int] = field(default_factory=dict)  # of its keys, by side

    @property
    def is_equality(self) -> bool:
        return self.near is None and self.ranking is None

    def key_of(self, number: int) -> exp.Expr:
        return self.left_key if self.left == number else self.right_key

    def other(self, number: int) -> int:
        return self.right if self.left == number else self.left


class Joining:
    """Joins the sides of a block."""

    def __init__(
        self, block: Block, below: dict[int, list[exp.Expr]], links: list[Link], needed: Uses,
        above: Sequence[exp.Expr] = (),
    ):  # fmt: skip
        """`below` are conditions by side, `above` the others; `needed` are the columns that those read."""
        self.above = above
        self.block, self.below, self.links, self.needed = block, below, links, needed
        self.work, self.sides, self.scope = block.work, block.sides, block.scope
        self.selects = block.work.reader.selects

    def joined(self) -> nodes.Node:
        """From the first side on, each time the next that something links; the row's columns get places."""
        self._refuse_unclear()
        for link in self.links:
            if link.ranking is not None:
                self._refuse_chosen(link)
        self._settle_types()
        left = [i for i, s in enumerate(self.sides) if not s.is_regions]
        if all(map(self._rankings, left)):
            self._refuse_unranked(left)
        first = next(i for i in left if not self._rankings(i))
        left.remove(first)
        node, width = self._leaf(first, 0)
        joined = {first}
        while left:
            number = next((i for i in left if self._may_come(i, joined)), None)
            if number is None:
                number = next((i for i in left if self._may_cross(i, joined, node)), None)
            if number is None:
                self._refuse_unranked(left)
                raise self._not_joined(self.sides[left[0]], self.sides[first])
            left.remove(number)
            right, wider = self._leaf(number, width)
            node = self._join(node, right, number, self._linking(number, joined), width)
            width += wider
            joined.add(number)
        return node

    def _linking(self, number: int, joined: set[int]) -> list[Link]:
        return [k for k in self.links if number in (k.left, k.right) and k.other(number) in joined]

    def _rankings(self, number: int) -> list[Link]:
        """Those that rank a side."""
        return [k for k in self.links if k.ranking is not None and k.right == number]

    def _may_come(self, number: int, joined: set[int]) -> bool:
        """Who is ranked comes as it is, to whom it is ranked for."""
        is_linked = bool(self._linking(number, joined))
        return is_linked and all(k.left in joined for k in self._rankings(number))

    def _may_cross(self, number: int, joined: set[int], before: nodes.Node) -> bool:
        """Each with each: one side has few rows, or a radius that a row has says who is near."""
        if self.sides[number].is_outer or self._rankings(number) or any(map(self._rankings, joined)):
            return False
        relation = self.sides[number].relation
        if isinstance(relation, Derived) and _is_bounded(relation.node):
            return True
        near = [pair for c in self.above if (pair := near_by_row(c, self.scope)) is not None]
        others = {id(self.sides[i]) for i in joined}
        mine = id(self.sides[number])
        is_near = any({id(a), id(b)} - others == {mine} and {id(a), id(b)} != {mine} for a, b in near)
        return is_near or _is_bounded(before)

    # ----- refusals

    def _refuse_unranked(self, left: list[int]) -> None:
        """Windows are ranked before anything else is asked of them."""
        for link in (k for number in left for k in self._rankings(number)):
            message = f'"{self.sides[link.right].alias}" cannot be ranked here'
            hint = "rank it in a query in FROM: (SELECT … WHERE NN(…)) AS name"
            raise self.scope.refuse(link.condition, "query.unsupported", message, hint)

    def _refuse_chosen(self, link: Link) -> None:
        """What NN ranks is a window, and no part of it."""
        ranked = self.sides[link.right]
        if len(self._rankings(link.right)) > 1:
            message, hint = f'NN ranks "{ranked.alias}" twice', "put one into a query in FROM"
            raise self.scope.refuse(link.condition, "query.unsupported", message, hint)
        inside = [c for c in self.below.get(link.right, []) if _is_inside(c)]
        if inside:
            message = f'INSIDE chooses from "{ranked.alias}", which NN ranks as a whole'
            hint = "put the region into its window: [EXTENT region NOW]"
            raise self.scope.refuse(inside[0], "query.unsupported", message, hint)

    def _refuse_unclear(self) -> None:
        """With several streams a clause does not say which one it means."""
        streams = [s for s in self.sides if isinstance(s.relation, Stream)]
        self._refuse_both_windows(streams)
        clauses: dict[str, object] = {"INSIDE": self.block.inside, "kNN": self.block.nearest}
        if not streams and not self.block.matches:
            clauses["WINDOW"] = self.block.window
        clause = next((word for word, written in clauses.items() if written is not None), "")
        if not clause or len(streams) == 1:
            return
        hint = "put it into a query in FROM: (SELECT …) AS name"
        if streams and clause == "INSIDE":
            hint = f"write {streams[0].alias}.location INSIDE …"
        what = "several streams" if streams else "no stream"
        raise self.block.refuse_at(
            self.block.span, "query.unsupported", f"FROM has {what}: {clause} is about one", hint
        )

    def _refuse_both_windows(self, streams: list[Side]) -> None:
        """WINDOW is about the streams that have no brackets."""
        clause = self.block.window
        if clause is not None and streams and all(side.bracket is not None for side in streams):
            message, hint = f'"{streams[0].alias}" has its window in brackets', "keep one of them"
            raise self.block.refuse_at(clause.span, "query.duplicate_clause", message, hint)

    def _not_joined(self, side: Side, first: Side) -> QueryError:
        hint = f"add an equality: ON {first.alias}.… = {side.alias}.…"
        if isinstance(side.relation, Table) and side.relation.region and isinstance(first.relation, Stream):
            hint = f"add WHERE {first.alias}.location INSIDE {side.alias}.region, or an equality"
        elif side.place and first.place:
            hint += f", or DISTANCE({first.alias}, {side.alias}) <= a number"
        message = f'nothing joins "{side.alias}" with "{first.alias}"'
        return self.block.refuse_at(side.span, "query.missing_join", message, hint)

    def _settle_types(self) -> None:
        """Both keys of an equality get one type."""
        for link in (k for k in self.links if k.is_equality):
            types = []
            for node in (link.left_key, link.right_key):
                here = self._scope_of(sorted(self.block.uses(node)))
                types.append(self.selects.output(node, here, []).type)
            common = union_type(*types)
            if common is None:
                message = f"{types[0].name} and {types[1].name} do not go together here"
                raise self.scope.refuse(link.condition, "query.wrong_type", message, "CAST one side")
            link.type = common

    def _scope_of(self, columns: list[tuple[int, str]]) -> RowScope:
        """A row of these columns alone."""
        here = RowScope(self.block.text, self.block.span, self.sides)
        here.places = {use: i for i, use in enumerate(columns)}
        return here

    # ----- what one side brings

    def _leaf(self, number: int, offset: int) -> tuple[nodes.Node, int]:
        """Its node, and how many columns: its own, then keys that have to be computed."""
        columns = self._columns(number)
        here = self._scope_of([(owner, c.name) for owner, c in columns])
        node = self._source(number, columns)
        keys: list[Expression] = []
        for link in self.links:
            if number not in (link.left, link.right) or not link.is_equality:
                continue
            key = cast(self.selects.output(link.key_of(number), here, []).expression, link.type)
            place = place_of(key.column) if key.is_plain else len(columns) + len(keys)
            if not key.is_plain:
                keys.append(key)
            link.places[number] = offset + place
        if keys:
            node = nodes.Select(node, None, (*plain([c.type for _, c in columns]), *keys))
        self.scope.places |= {use: offset + place for use, place in here.places.items()}
        return node, len(columns) + len(keys)

    def _columns(self, number: int) -> list[tuple[int, Column]]:
        """What it brings: of streams and tables what is needed, with those of a stream's regions."""
        side = self.sides[number]
        if isinstance(side.relation, Derived):
            return [(number, c) for c in side.columns]
        owners = [number, *([self.sides.index(side.regions)] if side.regions else [])]
        return [(o, c) for o in owners for c in self.sides[o].all_columns if (o, c.name) in self.needed]

    def _source(self, number: int, columns: list[tuple[int, Column]]) -> nodes.Node:
        side, conditions = self.sides[number], self.below.get(number, [])
        if isinstance(side.relation, Stream):
            if side.bracket is not None and side.bracket.nearby is not None:
                return nearby(self, side, side.bracket, columns, conditions)
            if side.bracket is not None and side.bracket.tiles is not None:
                return tessellated(self, side, side.bracket, columns, conditions)
            found = around(self, side, side.relation, columns, conditions)
            found = found or swept(self, side, side.relation, columns, conditions)
            if found is not None:
                return found
            if any(without_within(c.name) is not None for _, c in columns):
                return within_window(self, side, side.relation, columns, conditions)
            return self.scan(side, side.relation, columns, conditions)
        if isinstance(side.relation, Table):
            self.work.tables.append(side.relation.name)
            read = {name for c in conditions for _, name in self.block.uses(c)} | {c.name for _, c in columns}
            there = [c for c in side.columns if c.name in read]
            node: nodes.Node = nodes.TableRows(
                side.relation.name, tuple(c.name for c in there), tuple(c.type for c in there), side.alias
            )
        else:
            node, there = side.relation.node, list(side.columns)
        here = self._scope_of([(number, c.name) for c in there])
        whole = plain([c.type for c in there])
        shown = [whole[here.places[number, c.name]] for _, c in columns]
        return selected(node, self._judged(side, conditions, here), shown, [c.name for _, c in columns])

    def _judged(self, side: Side, conditions: list[exp.Expr], scope: RowScope) -> Expression | None:
        """What is judged below a join; for rows of tables with its literals as they stand."""
        if not conditions or not side.is_of_tables:
            return self.selects.where(conditions, scope, self.work.constants)
        return self.selects.output(exp.and_(*conditions, copy=True), scope, []).expression

    def scan(
        self, side: Side, stream: Stream, columns: list[tuple[int, Column]], conditions: list[exp.Expr],
        asked: RegisterQuery | None = None,
    ) -> Scan:  # fmt: skip
        """What shards do for one stream; of conditions those that say which are the nearest.

        `asked`: its clauses, if they are others than those that are written.
        """
        block, scope = self.block, self._scope_of_stream(side, stream)
        asked = asked or self.asked_of(side, conditions)
        shape, used = block.relations.inside(asked, conditions, scope)
        shape = shifted(block, side.bracket, shape, bool(stream.is_globe))
        self._refuse_moving_past(side, shape)
        self._refuse_refreshed(side, shape)
        self._refuse_between_ticks(side, stream)
        nearest = block.relations.nearest(asked, scope)
        window, named = self.selects.window(asked, scope)
        judged = [c for c in conditions if not _is_inside(c)]
        where = self.selects.conditions(judged, scope, self.work.constants)
        self.work.asked.append(asked_of(shape, nearest, stream))
        outputs = []
        for owner, c in columns:
            name = (of_reading if self.sides[owner] is side else of_table)(c.name)
            outputs.append(OutputColumn(c.name, Expression.of_column(name, c.type, c.name)))
        return Scan(
            len(self.work.asked) - 1, tuple(o.type for o in outputs), side.alias, stream=stream,
            table=scope.table, outputs=tuple(outputs), where=where, is_nearest=nearest is not None,
            window=window, regions_used=(*used, *named), is_everywhere=shape is None,
            refresh=self._refresh(side),
        )  # fmt: skip

    def _scope_of_stream(self, side: Side, stream: Stream) -> Scope:
        """Its columns, and those of the table whose regions it is joined with."""
        table = side.regions.relation if side.regions is not None else None
        assert table is None or isinstance(table, Table)
        alias = side.regions.alias if side.regions is not None else ""
        return Scope(self.block.text, self.block.span, stream, side.alias, table, alias)

    def shape_of(
        self, side: Side, stream: Stream, asked: RegisterQuery, conditions: list[exp.Expr]
    ) -> tuple[Shape, tuple[str, ...]]:
        """Where it is asked, around an object of any stream, and the regions named for it; all checked, as is
        what it is nearest to.
        """
        scope = self._scope_of_stream(side, stream)
        self.block.relations.nearest(asked, scope, of_any=True)
        return self.block.relations.inside(asked, conditions, scope, of_any=True)

    def asked_of(self, side: Side, conditions: list[exp.Expr]) -> RegisterQuery:
        """What is asked of a stream: what stands in its brackets, or else in the clauses of the SELECT."""
        block, bracket = self.block, side.bracket
        if bracket is None:
            return replace(
                self.work.statement, inside=block.inside, nearest=block.nearest, window=block.window
            )
        if bracket.extent is not None and (block.inside or any(map(_is_inside, conditions))):
            message, hint = f'"{side.alias}" has an EXTENT, and takes no INSIDE', "keep one of them"
            raise block.refuse_at(bracket.span, "query.unsupported", message, hint)
        inside = bracket.extent or block.inside
        return replace(self.work.statement, inside=inside, nearest=block.nearest, window=bracket.window)

    def _refuse_moving_past(self, side: Side, shape: Shape) -> None:
        """What came is not kept: it cannot be judged anew."""
        bracket = side.bracket
        if bracket is None or not bracket.extent or not bracket.window or shape is None:
            return
        if not is_still(shape):
            message = "an EXTENT with SINCE stands still"
            hint = "for who was in the region as it was then, write [RANGE …] and INSIDE"
            raise self.block.refuse_at(bracket.span, "query.unsupported", message, hint)

    def _refresh(self, side: Side) -> Refresh | None:
        """How often its window is looked at: as its brackets say, or else as the SELECT does."""
        said = side.bracket or self.block.window
        return said.refresh if said is not None else None

    def _refuse_between_ticks(self, side: Side, stream: Stream) -> None:
        """Windows that follow each other would have gaps, or overlap."""
        clause = side.bracket.window if side.bracket is not None else self.block.window
        if clause is None or not clause.is_of_ticks or clause.refresh is None:
            return
        assert isinstance(clause.window, Lasting)
        if clause.refresh.every_us % stream.tick_us or clause.window.size_us % stream.tick_us:
            tick = show_duration(stream.tick_us)
            message = f'the ticks of "{stream.name}" are {tick} long: this window would end within one'
            hint = f"write a multiple of {tick}, or another tick: WITH (tick = '…')"
            raise self.block.refuse_at(clause.span, "query.bad_window", message, hint)

    def _refuse_refreshed(self, side: Side, shape: Shape) -> None:
        """What is looked at now and then is the window: what it is compared with goes on."""
        bracket, block = side.bracket, self.block
        said = bracket or block.window
        if said is None or said.refresh is None:
            return
        message, hint = "", "put the region into the window: [EXTENT region NOW EVERY …]"
        if block.nearest is not None:
            message, hint = "kNN beside a window with EVERY", "kNN is told at every tick; leave out EVERY"
        elif side.regions is not None:
            message, hint = "a table's regions beside a window with EVERY", "leave out EVERY"
        elif (bracket is None or bracket.extent is None) and shape is not None and not is_still(shape):
            message = "INSIDE a region that moves, beside a window with EVERY"
        if message:
            raise block.refuse_at(said.span, "query.unsupported", f"{message} is not supported", hint)

    # ----- where two meet

    def _join(
        self, left: nodes.Node, right: nodes.Node, number: int, links: list[Link], width: int
    ) -> nodes.Node:
        ranking = next((k for k in links if k.ranking is not None), None)
        if ranking is not None:
            return self._ranked(left, right, ranking, [k for k in links if k is not ranking], width)
        equal, near = [k for k in links if k.near is None], [k for k in links if k.near is not None]
        left_keys = tuple(k.places[k.other(number)] for k in equal)
        right_keys = tuple(k.places[number] - width for k in equal)
        found = self._near(near[0], number, width) if near else None
        is_outer = self.sides[number].is_outer
        if near and nodes.is_table(left) and nodes.is_table(right):
            message, hint = "DISTANCE of tables alone", "let FROM begin with the stream"
            raise self.scope.refuse(near[0].condition, "query.unsupported", message, hint)
        if is_outer and nodes.is_table(left) and not nodes.is_table(right):
            message, hint = "the left side of LEFT JOIN reads tables only", "begin with the stream"
            raise self.block.refuse_at(self.sides[number].span, "query.unsupported", message, hint)
        words = shortened(" AND ".join(words_of(k.condition.unnest()) for k in equal)) or EACH
        words = "" if near and not equal else words
        node: nodes.Node = nodes.Join(left, right, left_keys, right_keys, found, is_outer, words)
        # One nearness finds the pairs, others are conditions on them.
        rest = [written_out(link.condition, self.scope) for link in near[1:]]
        return identity(node, node.types, self.selects.where(rest, self.scope, self.work.constants))

    def _ranked(
        self, left: nodes.Node, right: nodes.Node, link: Link, others: list[Link], width: int
    ) -> nodes.Node:
        """NN; what else links the two are conditions on pairs."""
        found = link.ranking
        assert found is not None and found.ranked.place is not None
        places, right_number = self.scope.places, link.right
        x, y, *ties = (places[right_number, n] - width for n in (*found.ranked.place, *found.ties))
        other = None
        if found.keys is not None:
            one, its = found.keys
            other = (places[link.left, one], places[right_number, its] - width)
        node = nodes.Neighbours(
            left, right, self._place(link.left), (x, y), found.k, tuple(ties), other, found.words,
            bool(found.seeker.is_globe),
        )  # fmt: skip
        rest = [written_out(k.condition, self.scope) for k in others]
        return identity(node, node.types, self.selects.where(rest, self.scope, self.work.constants))

    def _near(self, link: Link, number: int, width: int) -> nodes.Near:
        assert link.near is not None
        (left, right), constants = (self._place(n) for n in (link.other(number), number)), self.work.constants
        constant = constant_of(link.near.radius, constant_name(len(constants)))
        if constant is not None and isinstance(constant.value, (int, float)):
            constants.append(replace(constant, type=TYPES["DOUBLE"], value=float(constant.value)))
            radius = Expression.of_column(constant.name, TYPES["DOUBLE"], "?")
        else:
            radius = self._worked_out(link.near.radius)
        words = f"DISTANCE({self.sides[link.left].alias}, {self.sides[link.right].alias})"
        is_globe = bool(self.sides[number].is_globe)
        return nodes.Near(
            left, (right[0] - width, right[1] - width), radius, link.near.is_open, words, is_globe
        )

    def _worked_out(self, node: exp.Expr) -> Expression:
        """A radius that is written as an expression."""
        found = self.selects.output(node, self.scope, []).expression
        if not found.type.is_number:
            message = f"DISTANCE is a number, this is {found.type.name}"
            raise self.scope.refuse(node, "query.wrong_type", message, "compare it with a number")
        return cast(found, TYPES["DOUBLE"])

    def _place(self, number: int) -> tuple[int, int]:
        """Where the columns of a side's location stand."""
        place = self.sides[number].place
        assert place is not None
        return self.scope.places[number, place[0]], self.scope.places[number, place[1]]


def _is_bounded(node: nodes.Node) -> bool:
    """Whether it has few rows, whatever comes: a total, or the first of an order."""
    match node:
        case nodes.First():
            return True
        case nodes.Aggregate():
            return node.is_total
        case nodes.Select(child=child) | nodes.Distinct(child) | nodes.Sample(child) | nodes.Ticking(child):
            return _is_bounded(child)
        case nodes.Persisting(child) | nodes.Exchange(child):
            return _is_bounded(child)
        case nodes.Join(left=left, right=right):
            return _is_bounded(left) and _is_bounded(right)
        case _:
            return False


def _is_inside(condition: exp.Expr) -> bool:
    return isinstance(condition, LocationInside)
