"""Composed queries: joins, aggregates, DISTINCT, the first n, set operations, and queries of queries.

FROM ──► sides: a stream is a branch, the rest are leaves of the tree
WHERE ─► what one side can judge goes down to it; what links two is a join; the rest stands above
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sanderling.catalog import Column
from sanderling.errors import QueryError
from sanderling.language.parse import deep_recursion, too_deep
from sanderling.language.statements import Name, RegisterQuery
from sanderling.plan.build.asked import Asked
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.written import identity, union_type
from sanderling.plan.logical import Query, Rule, Scan, finished, moved
from sanderling.plan.names.sides import Derived, RowScope
from sanderling.plan.query.blocks import Block
from sanderling.plan.query.grouping import Grouping
from sanderling.plan.query.persistency import persisting
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plan.query.synchronize import synchronized
from sanderling.plan.query.with_clause import GivenNames, given_names, refuse_too_large
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name


@dataclass(frozen=True, slots=True)
class QueryReader:
    """Reads queries; `query_of` gives a registered one by its name."""

    selects: SelectPlanner
    query_of: Callable[[str], Query | None]
    rules: Sequence[Rule]

    def read(self, statement: RegisterQuery, text: str) -> Query:
        """A registered SELECT, checked."""
        work = Work(self, statement)
        try:
            answer = work.query(statement.select, text, statement)
            refuse_too_large(answer.node, statement.name.span, text)
            if nodes.is_table(answer.node):
                raise QueryError(
                    "query.missing_stream", "a continuous query reads a stream; FROM names only tables",
                    "CREATE STREAM first", statement.name.span.place_in(text),
                )  # fmt: skip
            with deep_recursion():
                found = finished(answer, self.rules, work.constants, work.asked, work.tables, work.queries)
        except RecursionError as e:
            raise too_deep(text, statement.name.span.start, statement.name.span.end) from e
        refuse_other_ticks(found.scans, statement.name, text)
        return found


def refuse_other_ticks(scans: Sequence[Scan], name: Name, text: str) -> None:
    """Streams that are read together close their ticks together."""
    ticks = {scan.stream.tick_us: scan.stream.name for scan in scans}
    if len(ticks) > 1:
        first, second = list(ticks.values())[:2]
        raise QueryError(
            "query.different_ticks", f'"{first}" and "{second}" have different ticks',
            "declare the same tick for both", name.span.place_in(text),
        )  # fmt: skip


@dataclass(slots=True)
class Work:
    """What is gathered while one statement is planned."""

    reader: QueryReader
    statement: RegisterQuery
    constants: list[Constant] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)  # by scan
    tables: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    names: GivenNames = field(default_factory=GivenNames)

    def beside(self, name: str, query: Query) -> Derived:
        """What a registered query gives, as it was read; what is its own stands beside what is ours."""
        new = {c.name: constant_name(len(self.constants) + i) for i, c in enumerate(query.constants)}
        node = moved(query.answer.node, new, len(self.asked))
        self.constants += [replace(c, name=new[c.name]) for c in query.constants]
        self.asked += query.asked_by_answer
        self.tables += query.tables
        self.queries += [name, *query.queries]
        return replace(query.answer, node=node)

    def query(self, query: exp.Expr, text: str, statement: RegisterQuery | None = None) -> Derived:
        """What a SELECT gives; the clauses of ours are the statement's, if it is the whole of one."""
        derived = self._read(query, text, statement)
        clause = query.args.get("persistency")
        return derived if clause is None else persisting(self, derived, clause, text)

    def _read(self, query: exp.Expr, text: str, statement: RegisterQuery | None) -> Derived:
        if isinstance(query, exp.SetOperation):
            return self._set_operation(query, text)
        if isinstance(query, exp.Subquery):
            return self._bracketed(query, text)
        assert isinstance(query, exp.Select)
        if statement is not None:
            clauses = (statement.inside, statement.nearest, statement.window)
        else:
            clauses = tuple(query.args.get(c) for c in ("inside", "nearest", "our_window"))  # type: ignore[assignment]
        return Block(self, query, text, *clauses, statement is not None).planned()

    def _bracketed(self, query: exp.Subquery, text: str) -> Derived:
        """In brackets, or behind WITH or SYNCHRONIZE."""
        if query.args.get("synchronize"):
            with synchronized(self, query.args["synchronize"], text):
                return self.query(query.this, text)
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
        derived = Derived(node, columns, left.place if is_placed else None, left.is_globe)
        return self._first_of(operation, derived, scope)

    def _first_of(self, query: exp.Expr, derived: Derived, scope: RowScope) -> Derived:
        """With ORDER BY and LIMIT behind a set operation or behind brackets."""
        if query.args.get("order") or query.args.get("limit"):
            return Grouping(self.reader.selects, self.constants).first_of(query, derived, scope)
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
    if left.place is None or right.place is None or left.is_globe != right.is_globe:
        return False
    one, other = [c.name for c in left.columns], [c.name for c in right.columns]
    return [one.index(n) for n in left.place] == [other.index(n) for n in right.place]
