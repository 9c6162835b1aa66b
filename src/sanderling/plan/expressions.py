"""Scalar expressions: checked against the scope, and written for the engine that evaluates them.

A pair is a reading and a region. Its columns are named `r:<column>` for the reading and
`q:<column>` for the query's constants and the joined table's columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

import duckdb
from sqlglot import exp

from sanderling import relational
from sanderling.catalog import Stream, Table
from sanderling.errors import Place, QueryError, did_you_mean
from sanderling.language.statements import Span
from sanderling.plan import functions
from sanderling.types import TYPES, SqlType

TYPE_OF_DUCKDB = {t.duckdb: t for t in TYPES.values()}


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal lifted out of the text: queries that differ only in it share a template."""

    name: str
    type: SqlType
    value: object


class Scope:
    """The names an expression may use: a stream's columns and, in a join, a table's."""

    def __init__(self, text: str, stream: Stream, stream_alias: str, table: Table | None, table_alias: str):
        self.text = text
        self.stream = stream
        self.table = table
        self.sides = {stream_alias.casefold(): stream}
        self.aliases = [stream_alias]
        if table is not None:
            self.sides[table_alias.casefold()] = table  # type: ignore[assignment]
            self.aliases.append(table_alias)

    def resolve(self, column: exp.Column) -> tuple[str, SqlType]:
        """The pair column that `column` means, and its type."""
        if column.args.get("db"):
            raise self.refuse(column, "query.unknown_column", "a column has at most one qualifier", "")
        found = [(side, c) for side in self._sides_of(column) if (c := side.column(column.name))]
        if len(found) == 1:
            side, c = found[0]
            return f"{'r' if side is self.stream else 'q'}:{c.name}", c.type
        if found:
            hint = "write " + " or ".join(f"{a}.{column.name}" for a in self.aliases)
            raise self.refuse(column, "query.ambiguous_column", f'"{column.name}" is in both', hint)
        raise self._unknown(column)

    def _sides_of(self, column: exp.Column) -> Iterable[Stream | Table]:
        if not column.table:
            return self.sides.values()
        side = self.sides.get(column.table.casefold())
        if side is None:
            hint = did_you_mean(column.table, self.aliases)
            node = column.args["table"]
            raise self.refuse(node, "query.unknown_name", f'nothing in FROM is named "{column.table}"', hint)
        return (side,)

    def _unknown(self, column: exp.Column) -> QueryError:
        known = [c.name for side in self.sides.values() for c in side.columns]
        name = column.name
        if name.casefold() == "location":
            hint = "location is used with INSIDE: o.location INSIDE t.region"
        elif name.casefold() == "region" and self.table is not None:
            hint = "a region is used with INSIDE: o.location INSIDE t.region"
        else:
            hint = did_you_mean(name, known)
        return self.refuse(column, "query.unknown_column", f'no column is named "{name}"', hint)

    def refuse(self, node: exp.Expr, code: str, message: str, hint: str) -> QueryError:
        span = span_of(node)
        place = Place.in_text(self.text, span.start, span.end) if span else None
        return QueryError(code, message, hint, place)


def span_of(node: exp.Expr) -> Span | None:
    """Where a node stands: from its first to its last token that has a position."""
    spots = [n.meta for n in node.walk() if n._meta and "start" in n.meta]
    if not spots:
        return None
    return Span(min(m["start"] for m in spots), max(m["end"] for m in spots) + 1)


def check(node: exp.Expr, scope: Scope) -> None:
    """Refuses whatever is not a pure function of one row."""
    for n in node.walk():
        kind = type(n)
        if kind in functions.ALLOWED:
            continue
        name = n.name if isinstance(n, exp.Anonymous) else n.sql_name() if isinstance(n, exp.Func) else n.key
        if isinstance(n, functions.OF_MANY_ROWS):
            raise scope.refuse(n, "query.unsupported", f"{name.upper()} is not supported yet", "")
        if isinstance(n, functions.NOT_PURE):
            hint = "an answer is a function of the readings alone; use the reading's own time"
            raise scope.refuse(n, "query.not_deterministic", f"{name.upper()} changes by itself", hint)
        if isinstance(n, exp.Func):
            hint = did_you_mean(name, functions.FUNCTIONS)
            raise scope.refuse(n, "query.unknown_function", f'no function is named "{name}"', hint)
        raise scope.refuse(n, "query.unsupported", f"{name.upper()} is not supported here", "")


def lift(node: exp.Expr, scope: Scope, constants: list[Constant]) -> exp.Expr:
    """The same condition with the literals it compares columns with taken out as constants."""
    for n in list(node.walk()):
        if isinstance(n, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            _lift_operands(n.this, [n.expression], scope, constants)
            _lift_operands(n.expression, [n.this], scope, constants)
        elif isinstance(n, exp.Between):
            _lift_operands(n.this, [n.args["low"], n.args["high"]], scope, constants)
        elif isinstance(n, exp.In) and n.expressions:
            _lift_operands(n.this, n.expressions, scope, constants)
    return node


def _lift_operands(column: exp.Expr, others: list[exp.Expr], scope: Scope, constants: list[Constant]) -> None:
    if not isinstance(column, exp.Column) or column.meta.get("pair"):
        return
    type_ = scope.resolve(column)[1]
    for other in others:
        constant = constant_of(other, f"q:p{len(constants)}")
        # Only where the literal has the column's own kind: '2024-01-01' beside a timestamp is
        # read as a timestamp by SQL, which a text constant would not be.
        if constant and (constant.type.is_number, constant.type.name == "STRING") == (
            type_.is_number, type_.name == "STRING"
        ):  # fmt: skip
            constants.append(constant)
            other.replace(pair_column(constant.name))


def constant_of(node: exp.Expr, name: str) -> Constant | None:
    """A literal, or a number with its sign, as a constant; None for anything else."""
    sign, literal = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    if not isinstance(literal, exp.Literal):
        return None
    if literal.is_string:
        return Constant(name, TYPES["STRING"], literal.this) if sign == 1 else None
    if literal.this.isdigit():
        number = sign * int(literal.this)
        return Constant(name, TYPES["BIGINT"], number) if abs(number) < 2**63 else None
    return Constant(name, TYPES["DOUBLE"], sign * float(literal.this))


def pair_column(name: str) -> exp.Column:
    column = exp.column(exp.to_identifier(name, quoted=True))
    column.meta["pair"] = True
    return column


def engine_sql(node: exp.Expr, scope: Scope) -> tuple[str, frozenset[str]]:
    """The expression in the evaluating engine's SQL, and the pair columns it reads."""
    copy = node.copy()
    holder = exp.Paren(this=copy)
    for n in list(holder.walk()):
        if isinstance(n, exp.Column):
            if not n.meta.get("pair"):
                n.replace(pair_column(scope.resolve(n)[0]))
        elif isinstance(n, exp.Literal) and not n.is_string and not n.this.isdigit():
            if not isinstance(n.parent, (exp.DataTypeParam, exp.Interval)):
                n.replace(exp.cast(exp.Literal.number(n.this), "DOUBLE"))
        elif isinstance(n, exp.Mod):
            n.set("expression", exp.Nullif(this=n.expression, expression=exp.Literal.number(0)))
        elif isinstance(n, exp.DataType) and n.this == exp.DataType.Type.TIMESTAMPTZ:
            n.set("this", exp.DataType.Type.TIMESTAMP)
    reads = {n.name for n in holder.walk() if isinstance(n, exp.Column)}
    return holder.this.sql(dialect="duckdb"), frozenset(reads)


def type_of(sql: str, columns: dict[str, SqlType]) -> str:
    """DuckDB's type of an expression over the named pair columns; raises what DuckDB raises."""
    nulls = ", ".join(f"NULL::{t.duckdb} AS {relational.quoted(n)}" for n, t in columns.items()) or "1 AS one"
    answer = relational.run(f"DESCRIBE SELECT {sql} AS e FROM (SELECT {nulls})")
    return str(answer.column("column_type")[0].as_py())


def bind(node: exp.Expr, scope: Scope, columns: dict[str, SqlType]) -> str:
    """The type of a checked expression; a misfit is pointed at where it stands."""
    try:
        return type_of(engine_sql(node, scope)[0], columns)
    except duckdb.Error as e:
        # The smallest part that does not bind is the one to point at.
        for part in reversed(list(node.bfs())):
            if isinstance(part, (exp.Identifier, exp.Var, exp.DataType, exp.DataTypeParam, exp.Literal)):
                continue
            try:
                type_of(engine_sql(part, scope)[0], columns)
            except duckdb.Error as smaller:
                raise scope.refuse(part, "query.wrong_type", _first_line(smaller), "CAST one side") from e
        raise scope.refuse(node, "query.wrong_type", _first_line(e), "") from e


def _first_line(error: duckdb.Error) -> str:
    line = str(error).split("\n")[0].split("Error: ", 1)[-1]
    for inner, ours in (("VARCHAR", "STRING"), ("INTEGER_LITERAL", "a number"), (" - an explicit cast is required", "")):
        line = line.replace(inner, ours)
    return line[:200]
