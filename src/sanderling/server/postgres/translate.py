"""A SELECT as PostgreSQL's clients write it, as DuckDB reads it; which tables it reads is found, not trusted.

text ──► sqlglot ──► tables by number, parameters as constants, casts and functions that DuckDB knows ──► text

Promises (tests/server/test_postgres_translate.py): nothing but a question passes; what it reads are tables
that are named here; functions that reach a file, a setting or a clock to sleep by are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError, TokenError

from sanderling.errors import Place, QueryError
from sanderling.language.parse import deep_recursion, refuse_odd_characters
from sanderling.server.postgres.parameters import array_of

# So long that reading it holds nobody up.
MOST_SQL = 64 << 10
OPERATOR = re.compile(
    r"""('(?:[^']|'')*'|"(?!pg_catalog"\.)[^"]*")"""
    r"""|(COLLATE\s+(?:pg_catalog\.)?"?(?:default|C)"?)|OPERATOR\s*\(\s*(?:pg_catalog\.)?([^\s)]+)\s*\)"""
    r"""|(\bpg_catalog\s*\.\s*|"pg_catalog"\s*\.\s*|\binformation_schema\s*\.\s*(?=_pg_))""",
    re.IGNORECASE,
)
# What gives rows without a table.
GIVES_ROWS = ("generate_series", "generateseries", "unnest", "range", "exploding_generate_series")
FORBIDDEN = re.compile(
    r"getenv|getvariable|write_log|sleep_ms|pg_sleep|current_query|current_query_id|query|query_table|glob"
    r"|sniff_csv|nextval|currval|setseed|read_\w+|parse_duckdb\w+|duckdb_\w+|pragma_\w+|\w+_scan|json_execute\w*"
)
TEXTS = frozenset((
    "NAME", '"CHAR"', "BPCHAR", "CSTRING", "UNKNOWN", "REGPROC", "REGPROCEDURE", "REGNAMESPACE", "REGROLE",
    "JSON", "JSONB", "XML", "INET", "CITEXT", "PG_NODE_TREE", "ACLITEM", "SQL_IDENTIFIER", "CHARACTER_DATA",
    "YES_OR_NO", "CARDINAL_NUMBER", "PG_LSN",
))  # fmt: skip
NUMBERS = frozenset(("OID", "XID", "CID", "TID", "REGCLASS", "XID8"))
LIST = re.compile(r"\{\d*(?:,\d+)*\}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table that is read: what it is called here, and where its name stands."""

    alias: str
    schema: str
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Question:
    tree: exp.Expr
    wanted: tuple[Wanted, ...]
    sql: str  # as it was written
    parameters: int


def read(sql: str) -> Question:
    """Reads it, and finds what it reads."""
    if len(sql) > MOST_SQL:
        raise QueryError("query.too_deep", f"a SELECT may have {MOST_SQL >> 10} KiB", "register a query")
    refuse_odd_characters(sql)
    tree = _parsed(sql)
    forbidden = (
        tree.find(exp.DML, exp.DDL, exp.Command, exp.Into)
        if isinstance(tree, exp.Query | exp.Values)
        else tree
    )
    if forbidden is not None:
        raise QueryError("query.unsupported", "this is no question to tables", "SELECT … FROM a query's name")
    wanted: list[Wanted] = []
    for node in list(tree.find_all(exp.Table)):
        _take(node, wanted, sql)
    for lateral in tree.find_all(exp.Lateral):
        if isinstance(lateral.this, exp.Func):
            _refuse_table_function(lateral.this, sql)
    for function in tree.find_all(exp.Func):
        name = _name_of(function)
        if FORBIDDEN.fullmatch(name) or isinstance(function.parent, exp.Dot):
            raise QueryError(
                "query.unknown_function", f'no function is named "{name}"', "", place_of(name, sql)
            )
    numbers = [int(p.name) for p in tree.find_all(exp.Parameter) if p.name.isdigit()]
    return Question(tree, tuple(wanted), sql, max(numbers, default=0))


def _parsed(sql: str) -> exp.Expr:
    try:
        with deep_recursion():
            return parse_one(OPERATOR.sub(_spaced, sql), read="postgres")
    except ParseError as e:
        first = e.errors[0] if e.errors else {}
        place = None
        if "line" in first:
            length = len(first["highlight"] or " ")
            at = _offset(sql, first["line"], first["col"]) - length
            place = Place.in_text(sql, at, at + length)
        hint = "INSIDE, kNN and windows stand in queries: REGISTER QUERY name AS SELECT …"
        raise QueryError("query.syntax", first.get("description", "this cannot be read"), hint, place) from e
    except TokenError as e:
        place = Place.in_text(sql, len(sql) - 1, len(sql))
        raise QueryError("query.syntax", "the text ends inside a quote", "close it", place) from e
    except RecursionError as e:
        raise QueryError("query.too_deep", "this nests too deeply", "register a query") from e
    except (ValueError, LookupError, TypeError, AttributeError) as e:
        raise QueryError("query.syntax", "this cannot be read", "", Place.in_text(sql, 0, 1)) from e


def _spaced(found: re.Match[str]) -> str:
    """As long as before, so that places stay where they are."""
    quoted, _, operator, _ = found.groups()
    return quoted if quoted else (operator or "").ljust(len(found[0]))


def _offset(sql: str, line: int, column: int) -> int:
    return sum(len(row) + 1 for row in sql.split("\n")[: line - 1]) + column


def _take(node: exp.Table, wanted: list[Wanted], sql: str) -> None:
    if isinstance(node.this, exp.Func):
        return _refuse_table_function(node.this, sql)
    name, schema = node.name, node.db
    if not schema and _is_named_here(node, name):
        return
    alias = f"r{len(wanted)}"
    meta = node.this.meta
    place = Place.in_text(sql, meta.get("start", 0), meta.get("end", 0) + 1)
    wanted.append(Wanted(alias, schema.casefold(), name, place))
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    node.set("this", exp.to_identifier(alias, quoted=True))
    node.set("db", None)
    node.set("catalog", None)


def _is_named_here(node: exp.Expr, name: str) -> bool:
    """Whether a WITH around it gives it."""
    above = node.parent
    while above is not None:
        steps = above.args.get("with_") or above.args.get("with")
        if steps is not None and any(c.alias.casefold() == name.casefold() for c in steps.expressions):
            return True
        above = above.parent
    return False


def _refuse_table_function(function: exp.Expr, sql: str) -> None:
    name = _name_of(function)
    if name not in GIVES_ROWS:
        raise QueryError(
            "query.unknown_function", f'no function "{name}" gives rows', "", place_of(name, sql)
        )


def _name_of(function: exp.Expr) -> str:
    name = (
        function.name if isinstance(function, exp.Anonymous) else getattr(function, "sql_name", lambda: "")()
    )
    return str(name).lower()


def place_of(word: str, sql: str) -> Place | None:
    """Where a word stands first, if it does."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sql, re.IGNORECASE)
    return None if found is None else Place.in_text(sql, found.start(), found.end())


# ----- as DuckDB has it


def written(
    question: Question, parameters: Sequence[exp.Expr], constants: dict[str, str], oids: dict[str, int]
) -> str:
    """`constants`: what functions give that need none of the rows; `oids`: of tables by name."""
    tree = question.tree.copy()
    if isinstance(tree, exp.Select):
        _name_columns(tree)
    with deep_recursion():
        tree = tree.transform(lambda node: _ours(node, parameters, constants, oids))
        return tree.sql(dialect="duckdb")


def _name_columns(select: exp.Select) -> None:
    """As PostgreSQL calls what has no name."""
    named = []
    for shown in select.expressions:
        inner = shown.this if isinstance(shown, exp.Cast) else shown
        if isinstance(inner, exp.Func) and not isinstance(inner, exp.Cast) and _name_of(inner):
            name = "case" if isinstance(inner, exp.Case) else _name_of(inner)
            shown = exp.alias_(shown, CALLED.get(name, name), quoted=True)
        elif isinstance(inner, exp.Literal | exp.Null | exp.Boolean | exp.Parameter | exp.Binary | exp.Unary):
            shown = exp.alias_(shown, "?column?", quoted=True)
        named.append(shown)
    select.set("expressions", named)


# Functions that the reader knows under another name.
CALLED = {
    "current_version": "version", "current_catalog": "current_database", "array_agg": "array_agg",
    "count_if": "count_if", "power": "pow",
}  # fmt: skip


def _ours(
    node: exp.Expr, parameters: Sequence[exp.Expr], constants: dict[str, str], oids: dict[str, int]
) -> exp.Expr:
    if isinstance(node, exp.Parameter):
        at = int(node.name) - 1 if node.name.isdigit() else -1
        given = parameters[at].copy() if 0 <= at < len(parameters) else exp.Null()
        is_list = node.find_ancestor(exp.Any, exp.Select) is node.find_ancestor(exp.Any)
        return array_of(given.name) if is_list and given.name.startswith("{") else given
    if isinstance(node, exp.Column) and node.args.get("db") is not None:
        node.set("db", None)
        node.set("catalog", None)
    if isinstance(node, exp.Func) and not isinstance(node, exp.Cast):
        name = CALLED.get(_name_of(node), _name_of(node))
        if name in constants:
            return exp.Literal.string(constants[name])
    if isinstance(node, exp.Column) and not node.table and not node.this.quoted:
        name = node.name.lower()
        if name in WITHOUT_BRACKETS and name in constants:
            return exp.Literal.string(constants[name])
    is_compared = isinstance(node.parent, exp.EQ | exp.NEQ)
    if isinstance(node, exp.Literal) and node.is_string and is_compared and LIST.fullmatch(node.name):
        return exp.Array(expressions=[exp.Literal.number(n) for n in node.name[1:-1].split(",") if n])
    if isinstance(node, exp.Cast):
        return _cast(node, oids)
    return node


WITHOUT_BRACKETS = (
    "current_user",
    "session_user",
    "user",
    "current_role",
    "current_catalog",
    "current_schema",
)


def _cast(node: exp.Cast, oids: dict[str, int]) -> exp.Expr:
    kind = node.to.sql(dialect="postgres").upper().rpartition(".")[2].strip()
    if kind in TEXTS:
        return exp.cast(node.this, "text")
    if kind in NUMBERS:
        if isinstance(node.this, exp.Literal) and node.this.is_string and not node.this.name.isdigit():
            name = node.this.name.rpartition(".")[2].strip('"')
            return exp.Literal.number(oids.get(name.casefold(), 0))
        return exp.cast(node.this, "bigint")
    if kind == "REGTYPE":
        return exp.func("format_type", node.this, exp.Null())
    if kind == "DECIMAL":  # as many digits as there may be
        return exp.cast(node.this, exp.DataType.build("DECIMAL(38, 9)"))
    return node
