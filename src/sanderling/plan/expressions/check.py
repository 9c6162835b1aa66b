"""Scalar expressions: checked against the scope, and written for the engine that evaluates them.

A pair is a reading and a region. Its columns are those of the reading, the query's constants and the joined
table's columns, as plans/columns.py names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime

import pyarrow as pa
from sqlglot import exp

from sanderling import relational
from sanderling.catalog import Column, Stream, Table
from sanderling.clock import time_of
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.dialect import LocationInside, unknown_type
from sanderling.language.grammar.space.swelling import Swelling
from sanderling.language.grammar.space.units import Length
from sanderling.language.grammar.trigger import Duration
from sanderling.language.grammar.window.window import is_within, word_of_two
from sanderling.language.statements import Span, Spot
from sanderling.macros import BACKSLASH
from sanderling.plan.expressions import functions
from sanderling.plan.expressions.patterns import is_whole_pattern
from sanderling.plan.expressions.rewrite import for_engine, pair_column
from sanderling.plans.columns import (
    constant_name,
    is_of_reading,
    name_of,
    of_reading,
    of_table,
    previous_of,
    quoted,
)
from sanderling.types import ALIASES, TYPES, SqlType

TYPE_OF_DUCKDB = {t.duckdb: t for t in TYPES.values()}
# What others call the time, and what there is.
CLOCKS = ("NOW", "CURRENT_TIMESTAMP", "CURRENT_TIME", "SYSTIMESTAMP", "ROWTIME", "PROCTIME")
NOW = "write the name of the TIME column, or TICK(), the tick's time: WHERE TICK() - ts > INTERVAL '5' MINUTE"
# What is beyond these stays in the text: a column for each value would cost more than it shares.
LONGEST_LIFTED_LIST = 16
MOST_CONSTANTS = 64
# Parts tried one by one, to point at the one that does not bind.
MOST_PARTS_TRIED = 300


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal lifted out of the text: queries that differ only in it share a template."""

    name: str
    type: SqlType
    value: object
    spot: Spot | None = field(default=None, compare=False)


class Scope:
    """The names an expression may use: a stream's columns and, in a join, a table's."""

    def __init__(
        self, text: str, span: Span, stream: Stream, stream_alias: str, table: Table | None, table_alias: str
    ):
        self.text = text
        self.span = span  # where to point when nothing nearer has a place
        self.stream = stream
        self.table = table
        self.sides = {stream_alias.casefold(): stream}
        self.aliases = [stream_alias]
        if table is not None:
            self.sides[table_alias.casefold()] = table  # type: ignore[assignment]
            self.aliases.append(table_alias)

    def types(self) -> dict[str, SqlType]:
        """All pair columns that there are, with their types."""
        types = {of_reading(c.name): c.type for c in self.stream.columns}
        types |= {of_reading(previous_of(c.name)): c.type for c in self.stream.columns}
        if self.table is not None:
            types |= {of_table(c.name): c.type for c in self.table.columns}
        return types

    def resolve(self, column: exp.Column) -> tuple[str, SqlType]:
        """The pair column that `column` means, and its type."""
        if column.args.get("db"):
            hint = f"write {column.table}.{column.name}, or {column.name} alone"
            raise self.refuse(column, "query.unknown_column", "a column has at most one qualifier", hint)
        found = [(side, c) for side in self._sides_of(column) if (c := side.column(column.name))]
        if len(found) == 1:
            side, c = found[0]
            return (of_reading if side is self.stream else of_table)(c.name), c.type
        if found:
            hint = "write " + " or ".join(f"{a}.{column.name}" for a in self.aliases)
            raise self.refuse(column, "query.ambiguous_column", f'"{column.name}" is in both', hint)
        raise self._unknown(column)

    def previous(self, column: exp.Column, is_within: bool = False) -> str:
        """The pair column that PREVIOUS of a column means."""
        read = self.resolve(column)[0]
        if is_within:
            raise self._no_window(column)
        if not is_of_reading(read):
            raise self._no_previous(column)
        return of_reading(self._previous_in(self.stream, name_of(read), column))

    def _previous_in(self, stream: Stream, name: str, column: exp.Column) -> str:
        found = previous_of(name)
        if stream.column(found) is not None:
            message = f'a column of the stream is itself named "{found}"'
            raise self.refuse(column, "query.unsupported", message, "name that column in another way")
        return found

    def _no_window(self, column: exp.Column) -> QueryError:
        message = "WITHIN WINDOW is about a window of time, and none is here"
        hint = "write WINDOW 1 HOUR, TUMBLE 1 HOUR, HOP 1 HOUR EVERY 10 MINUTES, or stream [RANGE 1 HOUR]"
        return self.refuse(column, "query.bad_window", message, hint)

    def _no_previous(self, column: exp.Column) -> QueryError:
        hint = "only readings come one after the other"
        return self.refuse(column, "query.unsupported", "PREVIOUS takes a column of the stream", hint)

    def name_of(self, column: exp.Column) -> str:
        """A column's name as it was declared."""
        return name_of(self.resolve(column)[0])

    def meaning(self) -> tuple[object, ...]:
        """What the same expression means the same under."""
        return (self.stream.name, self.table.name if self.table else None, *self.aliases)

    def columns_of(self, alias: str) -> tuple[Column, ...]:
        return self.sides[alias.casefold()].columns

    def starred(self) -> list[tuple[str, Column]]:
        """What * means: all columns, with the names of those in FROM that they are of."""
        return [(alias, column) for alias in self.aliases for column in self.columns_of(alias)]

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
            hint = (
                hint_of_no_column(name)
                or did_you_mean(name, known)
                or f"{self.stream.name} has {len(self.stream.columns)} columns, none of this name"
            )
        return self.refuse(column, "query.unknown_column", f'no column is named "{name}"', hint)

    def refuse(self, node: exp.Expr, code: str, message: str, hint: str) -> QueryError:
        span = None
        near: exp.Expr | None = node
        while span is None and near is not None:
            span = span_of(near)
            near = near.parent
        span = span or self.span
        return QueryError(code, message, hint, span.place_in(self.text))

    def word_of(self, node: exp.Expr) -> str:
        """The first word of a node as its author wrote it."""
        span = span_of(node)
        if span and isinstance(node, exp.Func) and not (node._meta and "start" in node.meta):
            # Only its arguments have a place: the name stands before their bracket.
            before = re.search(r"([^\W\d]\w*)\s*\(\s*$", self.text[: span.start])
            if before:
                return before[1]
        word = re.match(r"[^\W\d]\w*", self.text[span.start :]) if span else None
        return word[0] if word else node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


def hint_of_no_column(name: str) -> str:
    """Where what is taken for a column is something that others write so."""
    glued = re.fullmatch(r"([0-9]+)([A-Za-z]+)", name)
    if glued is not None:
        return f"write {glued[1]} {glued[2]}, with a blank between"
    return NOW if name.upper() in CLOCKS else ""


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
        if is_previous(n):
            _check_previous(n, scope)
            continue
        if kind not in functions.ALLOWED or not _is_listed(n):
            raise not_allowed(n, scope)
        if kind is exp.In and n.args.get("query"):
            raise not_allowed(n.args["query"], scope)
        if any(n.args.get(part) for part in functions.MEANINGLESS.get(kind, ())):
            raise scope.refuse(
                n, "query.unsupported", "this is not supported in this form", "write it plainly"
            )
        if kind is exp.In and not n.expressions:
            raise scope.refuse(
                n, "query.wrong_argument_count", "IN needs at least one value", "write IN (1, 2)"
            )
        if kind is exp.DataType:
            _check_type(n, scope)
        if kind is exp.Interval and isinstance(n.this, exp.Literal):
            _check_interval(n, scope)
        if kind in (exp.RegexpLike, exp.RegexpExtract, exp.Escape):
            _check_pattern(n, scope)
        if kind in (exp.Like, exp.ILike) and isinstance(n.expression, exp.Literal):
            _check_like(n, scope)


def _is_listed(n: exp.Expr) -> bool:
    """Whether a function was called by a name that it has here; sqlglot knows some by many."""
    called = n.meta.get("called") if n._meta else None
    return called is None or called.lower() in functions.NAMES


def is_previous(n: exp.Expr) -> bool:
    """Whether this is PREVIOUS(…): a column's value in the same object's reading before."""
    return word_of_two(n) == "PREVIOUS"


def _check_previous(n: exp.Expr, scope: Scope) -> None:
    if len(n.expressions) != 1:
        hint = "write PREVIOUS(ts)"
        raise scope.refuse(n, "query.wrong_argument_count", "PREVIOUS takes one column", hint)
    column = n.expressions[0]
    if not isinstance(column, exp.Column):
        hint = "take PREVIOUS of each column, and compute outside"
        raise scope.refuse(n, "query.unsupported", "PREVIOUS takes a column of the stream", hint)
    scope.previous(column, is_within(n))


def resolve_previous(holder: exp.Expr, scope: Scope) -> None:
    """Each PREVIOUS(…) becomes the pair column that it reads."""
    for n in [n for n in holder.walk() if is_previous(n)]:
        found = scope.previous(n.expressions[0], is_within(n))
        n.replace(pair_column(found, n.expressions[0].this))


def not_allowed(n: exp.Expr, scope: Scope) -> QueryError:
    called = n.meta.get("called", "") if n._meta else ""
    name = n.name if isinstance(n, exp.Anonymous) else called or scope.word_of(n)
    if isinstance(n, LocationInside):
        return scope.refuse(
            n, "query.unsupported", "INSIDE stands in WHERE only", "write WHERE location INSIDE …"
        )
    if name.upper() == "TICK" and isinstance(n, exp.Anonymous):
        message = "TICK() is compared in WHERE or HAVING, by itself or beside AND, and is no column"
        hint = "write WHERE TICK() - ts > INTERVAL '5' MINUTE; each update has its tick beside it"
        return scope.refuse(n, "query.bad_tick", message, hint)
    if isinstance(n, Length):
        hint = "write DISTANCE(a, b) <= 5 KM; a column gets a name by AS"
        return scope.refuse(n, "query.bad_unit", "a length is compared with a DISTANCE", hint)
    if isinstance(n, Swelling):
        hint = "write STAY_WITHIN(a, b, 100 SCALE BY …)"
        message = "SCALE BY is of the distance of a trajectory, or of a coverage"
        return scope.refuse(n, "query.bad_motion", message, hint)
    if isinstance(n, exp.AggFunc):
        hint = "conditions on groups stand in HAVING"
        return scope.refuse(n, "query.not_grouped", f"{name.upper()} is of many rows, this is of one", hint)
    if isinstance(n, functions.OF_MANY_ROWS):
        hint = "GROUP BY, or ORDER BY … LIMIT, may do it"
        return scope.refuse(n, "query.unsupported", f"{name.upper()} is not supported", hint)
    if isinstance(n, functions.NOT_PURE) or name.lower() in functions.NOT_PURE_NAMES:
        hint = "an answer is a function of the readings alone; use the reading's time, or TICK(), the tick's"
        return scope.refuse(n, "query.not_deterministic", f"{name.upper()} changes by itself", hint)
    if isinstance(n, exp.Query) or n.find(exp.Query):
        hint = "join it: JOIN (SELECT DISTINCT …) AS name ON …, or LEFT JOIN … WHERE its key IS NULL for NOT"
        return scope.refuse(n, "query.unsupported", "a query stands in FROM only", hint)
    if isinstance(n, exp.Func) or called:
        hint = did_you_mean(name, functions.NAMES) or "see the list of functions in the documentation"
        return scope.refuse(n, "query.unknown_function", f'no function is named "{name}"', hint)
    what = READABLE.get(type(n), type(n).__name__)
    return scope.refuse(n, "query.unsupported", f"{what} is not supported here", "write it in plain SQL")


READABLE: dict[type[exp.Expr], str] = {
    exp.Star: "*", exp.Placeholder: "a parameter", exp.Parameter: "a parameter",
    exp.Tuple: "a list of values", exp.Bracket: "an index in brackets", exp.Dot: "a path of names",
    exp.HexString: "a hexadecimal number", exp.RawString: "a raw text", exp.AtTimeZone: "AT TIME ZONE",
    exp.SimilarTo: "SIMILAR TO", exp.Any: "ANY", exp.All: "ALL", exp.Aliases: "a list of aliases",
    exp.Rollup: "ROLLUP", exp.Cube: "CUBE", exp.GroupingSets: "GROUPING SETS",
    Duration: "a duration",
}  # fmt: skip


def _check_type(n: exp.Expr, scope: Scope) -> None:
    """A type that a column can have; DECIMAL is taken too, and given as DOUBLE."""
    name = n.this.value if isinstance(n.this, exp.DataType.Type) else str(n.this)
    known = {t.duckdb for t in TYPES.values()} | {*TYPES, *ALIASES, "TIMESTAMPTZ", "TIMESTAMPNTZ", "DECIMAL"}
    at = n.parent or n
    if name not in known:
        raise scope.refuse(at, "query.unknown_type", *unknown_type(n.sql("spark")))
    if n.expressions and name != "DECIMAL":
        hint = f"CAST to {'STRING, and take LEFT of it' if 'CHAR' in name else name}"
        raise scope.refuse(at, "query.unsupported", f"{n.sql('spark')}: a length is not supported here", hint)


def _check_interval(n: exp.Expr, scope: Scope) -> None:
    text, hint = n.this.this, "write INTERVAL 5 MINUTES"
    if not n.args.get("unit"):
        if not any(c.isalpha() for c in text):
            raise scope.refuse(n, "query.wrong_type", "this INTERVAL has no unit", hint)
    elif not re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", text):
        raise scope.refuse(n, "query.wrong_type", f"'{text}' is no number of units", hint)


def _check_pattern(n: exp.Expr, scope: Scope) -> None:
    """Patterns are constants: one that is wrong in some row would end the run."""
    like = n.this if isinstance(n, exp.Escape) else n
    parts = [like.expression, n.expression, n.args.get("group")]
    if any(p is not None and not isinstance(p, exp.Literal) for p in parts):
        hint = "write the pattern in quotes"
        raise scope.refuse(n, "query.wrong_type", "a pattern has to be a constant", hint)


def _check_like(n: exp.Expr, scope: Scope) -> None:
    escape = n.parent.expression.this if isinstance(n.parent, exp.Escape) else BACKSLASH
    if len(escape) != 1:
        raise scope.refuse(n, "query.wrong_type", "ESCAPE takes one character", "write ESCAPE '/'")
    if not is_whole_pattern(n.expression.this, escape):
        hint = f"write {escape}{escape} for the sign itself"
        raise scope.refuse(n, "query.wrong_type", f"nothing stands behind the last {escape}", hint)


def lift(node: exp.Expr, scope: Scope, constants: list[Constant]) -> exp.Expr:
    """The same condition with the literals it compares columns with taken out as constants."""
    most = len(constants) + MOST_CONSTANTS
    for n in list(node.walk()):
        if len(constants) >= most:
            break
        if isinstance(n, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            _lift_operands(n.this, [n.expression], scope, constants)
            _lift_operands(n.expression, [n.this], scope, constants)
        elif isinstance(n, exp.Between):
            _lift_operands(n.this, [n.args["low"], n.args["high"]], scope, constants)
        elif isinstance(n, exp.In) and len(n.expressions) <= LONGEST_LIFTED_LIST:
            _lift_operands(n.this, n.expressions, scope, constants)
    return node


def _lift_operands(column: exp.Expr, others: list[exp.Expr], scope: Scope, constants: list[Constant]) -> None:
    if not isinstance(column, exp.Column) or column.meta.get("pair"):
        return
    type_ = scope.resolve(column)[1]
    for other in others:
        name = constant_name(len(constants))
        if type_.name in ("TIMESTAMP", "DATE"):
            constant = time_constant(other, name)
        else:
            constant = constant_of(other, name)
        # Only where the literal has the column's own kind; what does not is refused later.
        if constant and _kind(constant.type) == _kind(type_):
            constants.append(constant)
            other.replace(pair_column(constant.name, other))


def _kind(type_: SqlType) -> str:
    return "number" if type_.is_number else "time" if type_.name in ("TIMESTAMP", "DATE") else type_.name


def time_constant(node: exp.Expr, name: str) -> Constant | None:
    """A text that says a time, as SQL reads it beside one."""
    if not isinstance(node, exp.Literal) or not node.is_string:
        return None
    time = time_of(node.this)
    return None if time is None else Constant(name, TYPES["TIMESTAMP"], time, _spot(node, 1))


def constant_of(node: exp.Expr, name: str) -> Constant | None:
    """A literal, or a number with its sign, as a constant; None for anything else."""
    sign, literal = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    if not isinstance(literal, exp.Literal):
        return None
    spot = _spot(literal, sign)
    if literal.is_string:
        return Constant(name, TYPES["STRING"], literal.this, spot) if sign == 1 else None
    if literal.this.isdigit():
        number = sign * int(literal.this)
        return Constant(name, TYPES["BIGINT"], number, spot) if -(2**63) <= number < 2**63 else None
    return Constant(name, TYPES["DOUBLE"], sign * float(literal.this), spot)


def _spot(literal: exp.Expr, sign: int) -> Spot | None:
    end = literal.meta.get("end") if literal._meta else None
    return None if end is None else Spot(end + 1, sign)


def types_of(expressions: Iterable[str], columns: dict[str, SqlType]) -> tuple[str, ...]:
    """DuckDB's types of expressions over the named pair columns; raises what DuckDB raises."""
    nulls = ", ".join(f"NULL::{t.duckdb} AS {quoted(n)}" for n, t in columns.items()) or "1 AS one"
    items = ", ".join(f"{sql} AS e{i}" for i, sql in enumerate(expressions))
    answer = relational.run(f"DESCRIBE SELECT {items} FROM (SELECT {nulls})")
    return tuple(str(t) for t in answer.column("column_type").to_pylist())


# A row of ordinary values: patterns and parts of dates are judged only where there is something to judge.
ORDINARY = {"STRING": "a", "TIMESTAMP": datetime(2008, 5, 23), "DATE": date(2008, 5, 23), "BOOLEAN": True}


def try_out(sql: str, columns: dict[str, SqlType]) -> None:
    """Evaluates an expression once over NULLs and once over ordinary values; raises what would end a run."""
    table = pa.table({n: pa.array([None, ORDINARY.get(t.name, 1)], t.arrow) for n, t in columns.items()})
    relational.tried([sql], table if columns else pa.table({"one": [0]}))


def bind(node: exp.Expr, scope: Scope, columns: dict[str, SqlType]) -> str:
    """The type of a checked expression; a misfit is pointed at where it stands."""
    sql = for_engine(node, scope).sql
    try:
        (type_,) = types_of([sql], columns)
        try_out(sql, columns)
        return type_
    except relational.Refused as e:
        raise _misfit(node, scope, columns, e) from e


def _misfit(
    node: exp.Expr, scope: Scope, columns: dict[str, SqlType], error: relational.Refused
) -> QueryError:
    if "expression depth" in str(error):
        return scope.refuse(
            node, "query.too_deep", "this expression nests too deeply", "split it into several queries"
        )
    parts = [
        p for p in node.bfs() if not isinstance(p, WITHOUT_TYPE) and not isinstance(p.parent, exp.Interval)
    ]
    # The smallest part that does not bind is the one to point at.
    for part in reversed(parts if len(parts) <= MOST_PARTS_TRIED else []):
        try:
            sql = for_engine(part, scope).sql
            types_of([sql], columns)
            try_out(sql, columns)
        except relational.Refused as smaller:
            return scope.refuse(part, "query.wrong_type", *in_our_words(smaller))
    return scope.refuse(node, "query.wrong_type", *in_our_words(error))


WITHOUT_TYPE = (exp.Identifier, exp.Var, exp.DataType, exp.DataTypeParam, exp.Literal, exp.If)


def in_our_words(error: relational.Refused) -> tuple[str, str]:
    """DuckDB's complaint, and a hint."""
    line = str(error).split("\n")[0].split("Error: ", 1)[-1].replace(" - an explicit cast is required", "")
    call = re.search(r"No function matches the given name and argument types '(.*?)\((.*)\)'", line)
    if call:
        return (
            f"{OPERATOR_NAMES.get(call[1], call[1])} does not take ({duckdb_words(call[2])})",
            "CAST what does not fit",
        )
    return duckdb_words(line)[:200], "look at the types and constants here"


OPERATOR_NAMES = {
    "~~": "LIKE",
    "~~*": "ILIKE",
    "!~~": "LIKE",
    "like_escape": "LIKE",
    "regexp_matches": "RLIKE",
    "regexp_full_match": "LIKE",
}


def duckdb_words(text: str) -> str:
    """Types as we name them."""
    for theirs, ours in (
        ("STRING_LITERAL", "STRING"), ("INTEGER_LITERAL", "INT"), ("VARCHAR", "STRING"), ("INTEGER", "INT"),
        ('"NULL"', "NULL"), ("HUGEINT", "a number beyond BIGINT"),
    ):  # fmt: skip
        text = text.replace(theirs, ours)
    return text
