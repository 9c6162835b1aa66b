"""One SELECT of a composed query: FROM to sides, WHERE to who can judge what."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Stream, Table
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.statements import Bracket, InsideTarget, NearestTarget, Span, WindowClause
from sanderling.plan.expressions.check import span_of
from sanderling.plan.expressions.distances import is_distance, nearness, taken_apart, uses_of, written_out
from sanderling.plan.expressions.lengths import settle_lengths
from sanderling.plan.expressions.moments import has_tick
from sanderling.plan.expressions.neighbours import is_nn, ranking_of
from sanderling.plan.logical import Query, Scan, nodes_of
from sanderling.plan.names.sides import Derived, RowScope, Side, Uses, different_spaces, in_another_space
from sanderling.plan.query.grouping import Grouping, has_aggregates, is_of_rows
from sanderling.plan.query.joining import Joining, Link
from sanderling.plan.query.relations import Relations
from sanderling.plan.query.selects import BESIDE_AND
from sanderling.plan.query.since import growing, later_than, refuse_endless
from sanderling.plan.query.tessellate import Tiles
from sanderling.plan.query.trajectories import by_trajectory
from sanderling.plans import nodes
from sanderling.plans.window import Lasting

if TYPE_CHECKING:
    from sanderling.plan.query.compose import Work


@dataclass(slots=True)
class Block:
    """One SELECT."""

    work: Work
    select: exp.Select
    text: str
    inside: InsideTarget | None
    nearest: NearestTarget | None
    window: WindowClause | None
    is_whole: bool  # the statement itself
    scope: RowScope = field(init=False)
    sides: list[Side] = field(init=False)
    matches: list[Side] = field(default_factory=list)  # those that are windows of patterns

    @property
    def relations(self) -> Relations:
        return self.work.reader.selects.relations

    @property
    def span(self) -> Span:
        return self.work.statement.name.span

    def planned(self) -> Derived:
        self.relations.refuse_other_clauses(self.select, self.text, self.work.statement)
        on = self._read_from()
        self.scope = RowScope(self.text, self.span, self.sides)
        self._refuse_same_names()
        if (other := in_another_space(self.sides)) is not None:
            raise self.refuse_at(other.span, *different_spaces(other))
        for tree in (self.select, *(condition for side in self.sides for condition in side.on)):
            settle_lengths(tree, self.scope)
        whole = self.relations.conjuncts(self.select, on)
        parts = by_trajectory(self, [*(part for c in whole for part in taken_apart(c)), *later_than(self)])
        self.scope = RowScope(self.text, self.span, self.sides)
        conjuncts = self._bind_regions(parts)
        refuse_endless(self)
        below, links, above = self._sorted(conjuncts)
        items = self.work.reader.selects.expanded(self.select, self.scope)
        self.select.set("expressions", items)
        needed = self._needed(links, above)
        node = Joining(self, below, links, needed, above).joined()
        if nodes.is_table(node):
            self._refuse_of_one_query()
        grouping = Grouping(self.work.reader.selects, self.work.constants)
        where = [written_out(c, self.scope) for c in above]
        return growing(grouping.planned(self.select, node, where, self.scope))

    def _refuse_of_one_query(self) -> None:
        """Rows of tables alone are for all queries: grouped they can be, but not chosen by constants."""
        first = self.sides[0].relation
        if self.is_whole and len(self.sides) == 1 and isinstance(first, Table):
            message = "a continuous query reads a stream; FROM names only a table"
            hint = did_you_mean(first.name, self.relations.streams) or "CREATE STREAM first"
            raise self.refuse_at(self.sides[0].span, "query.missing_stream", message, hint)
        clauses = ("where", "having", "order", "limit")
        is_chosen = any(self.select.args.get(clause) for clause in clauses)
        is_total = has_aggregates(self.select) and not self.select.args.get("group")
        has_constants = any(isinstance(i.unalias().unnest(), exp.Literal) for i in self.select.expressions)
        if is_chosen or is_total or has_constants:
            message = "a query in FROM that reads tables only takes columns, DISTINCT and GROUP BY"
            hint = "name the table itself, and say the rest outside"
            raise self.refuse_at(self.sides[0].span, "query.unsupported", message, hint)

    # ----- FROM

    def _read_from(self) -> list[exp.Expr]:
        """The sides; what inner joins say ON comes back."""
        self.sides, on = [], []
        self._add(self.select.args["from_"].this)
        for join in self.select.args.get("joins") or []:
            is_left = (join.side or "").upper() == "LEFT" and join.kind in ("", "OUTER")
            is_inner = not join.side and join.kind in ("", "INNER", "CROSS")
            odd = [p for p, v in join.args.items() if v and p not in ("this", "on", "using", "kind", "side")]
            if odd or not (is_left or is_inner):
                raise self._refuse(
                    join, "query.unsupported", "only JOIN and LEFT JOIN with ON or USING are supported",
                    "write JOIN t ON a.x = t.x",
                )  # fmt: skip
            side = self._add(join.this)
            condition = (
                self._using(side, join.args["using"]) if join.args.get("using") else join.args.get("on")
            )
            if not is_left:
                on += [condition] if condition else []
                continue
            if condition is None:
                raise self._refuse(join, "query.missing_join", "LEFT JOIN needs ON", "add ON a.x = t.x")
            if isinstance(side.relation, Stream):
                raise self._refuse(
                    join, "query.unsupported", "LEFT JOIN takes a table or a query on its right",
                    "write LEFT JOIN (SELECT …) AS name, or swap the sides",
                )  # fmt: skip
            side.is_outer = True
            side.on = taken_apart(condition)
        return on

    def _using(self, side: Side, names: list[exp.Expr]) -> exp.Expr:
        """That columns of these names are equal; from then on such a name means the left one."""
        equalities = []
        for identifier in names:
            name = identifier.name
            before = [s for s in self.sides[:-1] if s.column(name) and name.casefold() not in s.merged]
            if not isinstance(identifier, exp.Identifier) or len(before) != 1 or not side.column(name):
                code, message = (
                    "query.unknown_column",
                    f'USING takes a column of both sides, "{name}" is none',
                )
                if len(before) > 1:
                    code, message = "query.ambiguous_column", f'"{name}" is in several on the left'
                raise self._refuse(identifier, code, message, "write ON a.x = b.x")
            columns = (
                exp.Column(this=identifier.copy(), table=exp.to_identifier(s.alias, quoted=True))
                for s in (before[0], side)
            )
            equalities.append(exp.EQ(this=next(columns), expression=next(columns)))
            side.merged.append(name.casefold())
        return exp.and_(*equalities, copy=False)

    def _add(self, relation: exp.Expr) -> Side:
        span = span_of(relation) or self.span
        if isinstance(relation, exp.Subquery):
            if not isinstance(relation.this, exp.Query):
                message, hint = (
                    "brackets in FROM are around a SELECT",
                    "leave them out, or write (SELECT …) AS name",
                )
                raise self._refuse(relation, "query.unsupported", message, hint)
            if not relation.alias:
                raise self._refuse(
                    relation, "query.syntax", "a query in FROM needs a name", "write (SELECT …) AS name"
                )
            side = Side(relation.alias, self.work.query(relation.this, self.text), span)
        else:
            side = Side(relation.alias_or_name, self.named(relation), span)
            if self._is_pattern(relation):
                self.matches.append(side)
            side.bracket = self._bracket(relation, side)
            if isinstance(side.relation, Stream):
                side.window = self.window if side.bracket is None else side.bracket.window
            if side.bracket is not None and side.bracket.tiles is not None:
                side.tiles = Tiles.of(self, side, side.bracket.tiles)
        self.sides.append(side)
        return side

    def _bracket(self, relation: exp.Expr, side: Side) -> Bracket | None:
        """Its window in brackets, which only a stream has."""
        bracket: Bracket | None = relation.args.get("our_window")
        if side in self.matches:
            return None
        if bracket is not None and not isinstance(side.relation, Stream):
            kind = "table" if isinstance(side.relation, Table) else "query"
            message = f'"{relation.name}" is a {kind}: only a stream has a window'
            hint = "write the brackets behind a stream's name; those of a query stand in the query"
            raise self.refuse_at(bracket.span, "query.unsupported", message, hint)
        return bracket

    def named(self, relation: exp.Expr) -> Stream | Table | Derived:
        names = self.work.names
        given = names.get(relation.name) if isinstance(relation, exp.Table) else None
        if given is not None:
            self.relations.refuse_odd_relation(relation, self.text, self.span)
            return given
        if names.is_all and self.relations.kind_of(relation.name) != "table":
            message = f'SYNCHRONIZE does not name "{relation.name}"'
            hint = f"write SYNCHRONIZE {relation.name}, …"
            raise self._refuse(relation, "query.bad_synchronize", message, hint)
        query = self.work.reader.query_of(relation.name) if isinstance(relation, exp.Table) else None
        if query is not None and self._is_pattern(relation):
            return self._recent(relation, query)
        if query is None or self.relations.kind_of(relation.name) != "query":
            self._refuse_to_come(relation)
            return self.relations.relation(
                relation, self.text, self.span, [g.name.name for g in names.ready.values()]
            )
        self.relations.refuse_odd_relation(relation, self.text, self.span)
        return self.work.beside(relation.name, query)

    def _is_pattern(self, relation: exp.Expr) -> bool:
        return (
            self.work.names.get(relation.name) is None and self.relations.kind_of(relation.name) == "pattern"
        )

    def _recent(self, relation: exp.Expr, query: Query) -> Derived:
        """What a pattern has told lately: its window says for how long a match counts."""
        bracket: Bracket | None = relation.args.get("our_window")
        clause = self.window if bracket is None else bracket.window
        odd = bracket is not None and (bracket.extent or bracket.refresh or bracket.nearby or bracket.tiles)
        if odd or clause is None or not isinstance(clause.window, Lasting) or clause.refresh:
            message = f'"{relation.name}" is a pattern: its matches are told, and hold for no time'
            hint = f"say how long each counts: FROM {relation.name} WINDOW 1 HOUR"
            raise self._refuse(relation, "query.bad_window", message, hint)
        derived = self.work.beside(relation.name, query)
        tick_us = next(node.stream.tick_us for node in nodes_of(derived.node) if isinstance(node, Scan))
        return replace(derived, node=nodes.Recent(derived.node, clause.window.size_us, tick_us), place=None)

    def _refuse_to_come(self, relation: exp.Expr) -> None:
        """A query of WITH reads those before it, and what is outside: not itself."""
        why = self.work.names.why_not(relation.name)
        if why is not None and self.relations.kind_of(relation.name) not in ("stream", "table"):
            raise self._refuse(relation, "query.unsupported", *why)

    def _refuse_same_names(self) -> None:
        seen: set[str] = set()
        for side in self.sides:
            if side.alias.casefold() in seen:
                message = f'two things in FROM are named "{side.alias}"'
                raise self.refuse_at(side.span, "query.duplicate_name", message, "give one an alias")
            seen.add(side.alias.casefold())

    def _refuse(self, node: exp.Expr, code: str, message: str, hint: str) -> QueryError:
        return self.refuse_at(span_of(node) or self.span, code, message, hint)

    def refuse_at(self, span: Span, code: str, message: str, hint: str) -> QueryError:
        return QueryError(code, message, hint, span.place_in(self.text))

    # ----- WHERE

    def _bind_regions(self, conjuncts: list[exp.Expr]) -> list[exp.Expr]:
        """A table whose regions a stream is joined with belongs to the stream."""
        for operator in (c for c in conjuncts if isinstance(c, LocationInside)):
            target = operator.args["expression"]
            if not isinstance(target, exp.Column):
                continue
            tables = [s for s in self.sides if _is_of(target, s)]
            if tables:
                stream = self._stream_of(operator)
                if stream.regions is not None and stream.regions is not tables[0]:
                    raise self.scope.refuse(
                        operator, "query.unsupported", "a stream takes one INSIDE", "split the query"
                    )
                stream.regions, tables[0].is_regions = tables[0], True
        return conjuncts

    def _stream_of(self, operator: LocationInside) -> Side:
        """Whose location it is about."""
        place = operator.this
        streams = [s for s in self.sides if isinstance(s.relation, Stream)]
        if place.table and len(streams) > 1:
            streams = [s for s in streams if s.alias.casefold() == place.table.casefold()]
        if len(streams) != 1:
            what = "is not a stream" if place.table else "could be of several streams"
            hint = "write a.location, with a stream's name"
            message = f'"{place.table}" {what}' if place.table else f"this location {what}"
            raise self.scope.refuse(place, "query.unknown_name", message, hint)
        return streams[0]

    def uses(self, node: exp.Expr) -> Uses:
        """The columns that an expression reads: by side and name."""
        return uses_of(node, self.scope)

    def _owners(self, node: exp.Expr) -> set[int]:
        """The sides that an expression is about; a table of regions is about its stream's branch."""
        return {self._home(number) for number, _ in self.uses(node)}

    def _home(self, number: int) -> int:
        side = self.sides[number]
        if not side.is_regions:
            return number
        return next(i for i, s in enumerate(self.sides) if s.regions is side)

    def _sorted(
        self, conjuncts: list[exp.Expr]
    ) -> tuple[dict[int, list[exp.Expr]], list[Link], list[exp.Expr]]:
        """Conditions that belong to one side, that link two, and the rest."""
        below: dict[int, list[exp.Expr]] = {}
        links: list[Link] = []
        above: list[exp.Expr] = []
        first = next((i for i, s in enumerate(self.sides) if not s.is_outer and not s.is_regions), 0)
        for condition in conjuncts:
            if isinstance(condition, LocationInside):
                below.setdefault(self.sides.index(self._stream_of(condition)), []).append(condition)
                continue
            for part in condition.find_all(LocationInside):
                message, hint = "INSIDE stands alone or beside AND", BESIDE_AND
                raise self.scope.refuse(part, "query.unsupported", message, hint)
            self._refuse_nn_within(condition)
            owners = self._owners(condition)
            one = min(owners, default=first)
            is_outer = any(self.sides[o].is_outer for o in owners)
            link = self._link(condition) if len(owners) > 1 and not is_outer else None
            if link is not None:
                links.append(link)
            elif self.nearest and has_tick(condition):
                message = "kNN beside TICK() is not supported"
                hint = "put one of them into a query in FROM: (SELECT …) AS name"
                raise self.scope.refuse(condition, "query.unsupported", message, hint)
            elif self.nearest and len(owners) <= 1 and isinstance(self.sides[one].relation, Stream):
                below.setdefault(one, []).append(written_out(condition, self.scope))  # the nearest of those
            else:
                above.append(condition)
        for number, side in enumerate(self.sides):
            for condition in side.on:
                if any(map(is_nn, condition.walk())):
                    message, hint = "LEFT JOIN does not take NN", "write JOIN, or NN in WHERE"
                    raise self.scope.refuse(condition, "query.unsupported", message, hint)
                owners = self._owners(condition)
                link = self._link(condition) if len(owners) == 2 and number in owners else None
                if link is not None and not (link.near and _is_near(number, links)):
                    links.append(link)
                elif owners == {number}:
                    below.setdefault(number, []).append(written_out(condition, self.scope))
                else:
                    raise self.scope.refuse(
                        condition, "query.unsupported",
                        "LEFT JOIN takes equalities with its left side, and one DISTANCE",
                        "move other conditions to WHERE",
                    )  # fmt: skip
        return below, links, above

    def _refuse_nn_within(self, condition: exp.Expr) -> None:
        for part in filter(is_nn, condition.walk()):
            if part is not condition.unnest():
                message, hint = "NN stands alone or beside AND", "it cannot be under OR or NOT"
                raise self.scope.refuse(part, "query.unsupported", message, hint)

    def _link(self, condition: exp.Expr) -> Link | None:
        if is_nn(condition.unnest()):
            found = ranking_of(condition.unnest(), self.scope)
            left, right = self.sides.index(found.seeker), self.sides.index(found.ranked)
            return Link(left, right, condition, ranking=found)
        near = nearness(condition, self.scope)
        if near is not None:
            left, right = self.sides.index(near.left), self.sides.index(near.right)
            return Link(left, right, condition, near=near)
        bare = condition.unnest()
        if not isinstance(bare, exp.EQ) or any(is_distance(n) for n in bare.walk()):
            return None
        one, other = self._owners(bare.this), self._owners(bare.expression)
        if len(one) != 1 or len(other) != 1 or one == other:
            return None
        return Link(one.pop(), other.pop(), condition, bare.this, bare.expression)

    # ----- what the tree needs of each side

    def _needed(self, links: list[Link], above: list[exp.Expr]) -> Uses:
        needed: Uses = set()
        for link in links:
            needed |= self.uses(link.condition)
        rest = [*above, *self.select.expressions]
        names = {i.alias_or_name.casefold() for i in self.select.expressions}
        for clause in ("group", "having", "order"):
            if self.select.args.get(clause):
                rest.append(self.select.args[clause])
        for node in rest:
            needed |= self.uses(_without_aliases(node, names, self.scope))
        return needed


def _is_of(target: exp.Column, side: Side) -> bool:
    """Whether INSIDE asks about a table's regions, by the table's name or by their own."""
    if target.table:
        return isinstance(side.relation, Table) and side.alias.casefold() == target.table.casefold()
    region = side.relation.region if isinstance(side.relation, Table) else None
    return region is not None and target.name.casefold() == region.casefold()


def _is_near(number: int, links: list[Link]) -> bool:
    """Whether a side is joined by its place already."""
    return any(link.near is not None and number in (link.left, link.right) for link in links)


def _without_aliases(node: exp.Expr, names: set[str], scope: RowScope) -> exp.Expr:
    """The same without names that the select list gave: what they mean is looked at there."""
    if not isinstance(node, (exp.Group, exp.Order, exp.Having)):
        return node
    copy = node.copy()
    for column in list(copy.find_all(exp.Column)):
        is_output = not column.table and column.name.casefold() in names and not is_of_rows(column)
        if is_output and not (isinstance(node, exp.Group) and _is_column(column, scope)):
            column.replace(exp.Null())
    return copy


def _is_column(column: exp.Column, scope: RowScope) -> bool:
    return any(side.column(column.name) for side in scope.all)
