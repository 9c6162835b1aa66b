"""Composed queries: joins, aggregates, DISTINCT, the first n, set operations, and queries of queries.

FROM ──► sides: a stream is a branch, the rest are leaves of the tree
WHERE ─► what one side can judge goes down to it; what links two is a join; the rest stands above
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sanderling.catalog import Column
from sanderling.errors import Place, QueryError
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.parse import too_deep
from sanderling.language.statements import Name, RegisterQuery
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.distances import is_distance
from sanderling.plan.expressions.written import identity, union_type
from sanderling.plan.names.sides import Derived, RowScope
from sanderling.plan.query.blocks import Block
from sanderling.plan.query.compositions import Composition
from sanderling.plan.query.grouping import Grouping, has_aggregates
from sanderling.plan.query.selects import Draft, SelectPlanner
from sanderling.plan.query.with_clause import GivenNames, given_names, refuse_too_large
from sanderling.plans import nodes
from sanderling.plans.columns import by_place
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn


@dataclass(frozen=True, slots=True)
class Composer:
    """Plans composed queries; `sql_of` gives the SELECT of a registered query by its name."""

    selects: SelectPlanner
    sql_of: Callable[[str], str | None]

    def draft(self, statement: RegisterQuery, text: str) -> Draft | Composition:
        """A registered SELECT, checked."""
        if self.is_composed(statement):
            return self.composition(statement, text)
        return self.selects.draft(statement, text)

    def is_composed(self, statement: RegisterQuery) -> bool:
        """Whether shards alone cannot do it."""
        select = statement.select
        if not isinstance(select, exp.Select):
            return True
        clauses = ("distinct", "group", "having", "order", "limit")
        if any(select.args.get(clause) for clause in clauses) or has_aggregates(select):
            return True
        if any(is_distance(node) for node in select.walk()):
            return True
        return self._has_composed_from(select)

    def _has_composed_from(self, select: exp.Select) -> bool:
        if not select.args.get("from_"):
            return False
        joins = select.args.get("joins") or []
        relations = [select.args["from_"].this, *(join.this for join in joins)]
        found = self.selects.relations
        names = [r.name for r in relations if isinstance(r, exp.Table)]
        streams = [name for name in names if found.streams.get(name)]
        is_derived = any(isinstance(r, exp.Subquery) for r in relations)
        reads_query = any(found.kind_of(n) not in ("stream", "table") and self.sql_of(n) for n in names)
        has_outer = any(join.side or join.args.get("using") for join in joins)
        tables = len(names) - len(streams)
        is_by_region = any(
            isinstance(i.args["expression"], exp.Column) for i in select.find_all(LocationInside)
        )
        return (
            is_derived or reads_query or has_outer or len(streams) > 1 or tables > 1
            or (tables == 1 and not is_by_region and len(streams) == 1)
        )  # fmt: skip

    def composition(self, statement: RegisterQuery, text: str) -> Composition:
        work = Work(self, statement)
        try:
            answer = work.query(statement.select, text, statement)
            refuse_too_large(answer.node, statement.name.span, text)
        except RecursionError as e:
            raise too_deep(text, statement.name.span.start, statement.name.span.end) from e
        if not work.branches:
            place = Place.in_text(text, statement.name.span.start, statement.name.span.end)
            raise QueryError(
                "query.missing_stream", "a continuous query reads a stream; FROM names only tables",
                "CREATE STREAM first", place,
            )  # fmt: skip
        refuse_other_ticks(work.branches, statement.name, text)
        return Composition(
            tuple(work.branches), answer.node, outputs_of(answer.columns), tuple(work.constants),
            tuple(dict.fromkeys(work.tables)), tuple(dict.fromkeys(work.queries)),
        )  # fmt: skip


def refuse_other_ticks(branches: Sequence[Draft], name: Name, text: str) -> None:
    """Streams that are read together close their ticks together."""
    ticks = {b.stream.tick_us: b.stream.name for b in branches}
    if len(ticks) > 1:
        first, second = list(ticks.values())[:2]
        place = Place.in_text(text, name.span.start, name.span.end)
        raise QueryError(
            "query.different_ticks", f'"{first}" and "{second}" have different ticks',
            "declare the same tick for both", place,
        )  # fmt: skip


def outputs_of(columns: Sequence[Column]) -> tuple[OutputColumn, ...]:
    """What comes out of a tree's root."""
    return tuple(
        OutputColumn(c.name, Expression.of_column(by_place(i), c.type, c.name)) for i, c in enumerate(columns)
    )


@dataclass(slots=True)
class Work:
    """What is gathered while one statement is planned."""

    composer: Composer
    statement: RegisterQuery
    branches: list[Draft] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    names: GivenNames = field(default_factory=GivenNames)

    def query(self, query: exp.Expr, text: str, statement: RegisterQuery | None = None) -> Derived:
        """What a SELECT gives; the clauses of ours are the statement's, if it is the whole of one."""
        if isinstance(query, exp.SetOperation):
            return self._set_operation(query, text)
        if isinstance(query, exp.Subquery):
            return self._bracketed(query, text)
        assert isinstance(query, exp.Select)
        if statement is not None:
            clauses = (statement.inside, statement.nearest, statement.window)
        else:
            clauses = tuple(query.args.get(c) for c in ("inside", "nearest", "our_window"))  # type: ignore[assignment]
        return Block(self, query, text, *clauses).planned()

    def _bracketed(self, query: exp.Subquery, text: str) -> Derived:
        """In brackets, or behind WITH."""
        if query.args.get("with_"):
            with given_names(self, query.args["with_"], text):
                return self.query(query.this, text)
        scope = RowScope(text, self.statement.name.span, [])
        return self._first_of(query, self.query(query.this, text), scope)

    def _set_operation(self, operation: exp.SetOperation, text: str) -> Derived:
        left, right = self.query(operation.this, text), self.query(operation.expression, text)
        scope = RowScope(text, self.statement.name.span, [])
        there, word = operation.expression, _word(operation)
        if len(left.columns) != len(right.columns):
            message = f"{word} of {len(left.columns)} columns and of {len(right.columns)}"
            raise scope.refuse(there, "query.wrong_type", message, "let both list as many columns")
        if nodes.is_table(left.node) != nodes.is_table(right.node):
            message, hint = f"{word} of a stream and of tables alone", "join the table with a stream"
            raise scope.refuse(there, "query.unsupported", message, hint)
        types = []
        for one, other in zip(left.columns, right.columns, strict=True):
            common = union_type(one.type, other.type)
            if common is None:
                message = f'"{one.name}" is {one.type.name} in one, {other.type.name} in the other'
                raise scope.refuse(there, "query.wrong_type", message, "CAST one of them")
            types.append(common)
        node = _node_of(operation, identity(left.node, types), identity(right.node, types))
        columns = tuple(Column(c.name, t) for c, t in zip(left.columns, types, strict=True))
        is_placed = not isinstance(operation, exp.Union) or _is_same(left, right)
        derived = Derived(node, columns, left.place if is_placed else None)
        return self._first_of(operation, derived, scope)

    def _first_of(self, query: exp.Expr, derived: Derived, scope: RowScope) -> Derived:
        """With ORDER BY and LIMIT behind a set operation or behind brackets."""
        if query.args.get("order") or query.args.get("limit"):
            return Grouping(self.composer.selects, self.constants).first_of(query, derived, scope)
        return derived


def _word(operation: exp.SetOperation) -> str:
    return operation.key.upper() + ("" if operation.args.get("distinct") else " ALL")


def _node_of(operation: exp.SetOperation, left: nodes.Node, right: nodes.Node) -> nodes.Node:
    is_all = not operation.args.get("distinct")
    if isinstance(operation, exp.Union):
        both = nodes.Union((left, right))
        return both if is_all else nodes.Distinct(both)
    kind = nodes.INTERSECT if isinstance(operation, exp.Intersect) else nodes.EXCEPT
    return nodes.SetOperation(kind, is_all, left, right)


def _is_same(left: Derived, right: Derived) -> bool:
    """Whether both show a location in the same columns."""
    if left.place is None or right.place is None:
        return False
    one, other = [c.name for c in left.columns], [c.name for c in right.columns]
    return [one.index(n) for n in left.place] == [other.index(n) for n in right.place]
