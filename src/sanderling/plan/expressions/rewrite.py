"""A checked expression in the evaluating engine's SQL, with the meaning it has in ours.

A part that fails is NULL by itself, and not with all that stands around it. Functions that the two understand
differently are in meanings.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from sanderling.language.parse import deep_recursion, too_deep
from sanderling.plan.expressions import functions
from sanderling.plan.expressions.meanings import MEANINGS
from sanderling.plans.columns import quoted

if TYPE_CHECKING:
    from sanderling.plan.expressions.check import Scope

# Longer SQL than this is refused: no author wrote it by hand, and binding it takes long.
LONGEST = 2_000_000
LARGEST_INTEGER = 2**63 - 1


def pair_column(name: str, like: exp.Expr | None = None) -> exp.Column:
    """A column of a pair; it stands where `like` stood."""
    column = exp.column(exp.to_identifier(name, quoted=True))
    if like is not None and like._meta:
        column.meta.update({k: v for k, v in like.meta.items() if k in ("line", "col", "start", "end")})
    column.meta["pair"] = True
    return column


class ForEngine(NamedTuple):
    """An expression as the evaluating engine is given it."""

    sql: str
    reads: frozenset[str]
    tree: exp.Expr


def for_engine(node: exp.Expr, scope: Scope) -> ForEngine:
    """The expression in the evaluating engine's SQL, and the pair columns it reads. Linear in its size."""
    if isinstance(node, exp.Column):
        column = _rewritten(node, scope)
        return ForEngine(quoted(column.name), frozenset((column.name,)), column)
    holder = exp.Paren(this=node.copy())
    at_top = _at_top(holder.this)
    reads = set()
    for n in reversed(list(holder.walk())):
        if n is holder:
            continue
        above, key, index = n.parent, n.arg_key, n.index
        assert above is not None and key is not None
        can_fail = isinstance(n, FAILING) or any(_fails(part) for part in n.iter_expressions())
        if isinstance(n, functions.LENIENT) and id(n) not in at_top:
            can_fail = isinstance(n, FAILING)
            _guard_parts(n)
        new = _rewritten(n, scope)
        if isinstance(new, exp.Column):
            reads.add(new.name)
        new.meta["fails"] = can_fail
        if new is not n:
            above.set(key, new, index)
    return ForEngine(_text(holder.this, node, scope), frozenset(reads), holder.this)


def _at_top(node: exp.Expr) -> set[int]:
    """The ANDs that a condition begins with: what is not true there is as good as false."""
    found, open_ = set(), [node]
    while open_:
        n = open_.pop()
        if isinstance(n, exp.And):
            found.add(id(n))
            open_ += [n.this, n.expression]
        elif isinstance(n, exp.Paren):
            open_.append(n.this)
    return found


def _text(rewritten: exp.Expr, node: exp.Expr, scope: Scope) -> str:
    try:
        with deep_recursion():
            sql = rewritten.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as e:
        raise scope.refuse(
            node, "query.unsupported", f"this is not supported: {e}", "write it in another way"
        ) from e
    except RecursionError as e:
        raise too_deep(scope.text, scope.span.start, scope.span.end) from e
    if len(sql) > LONGEST:
        raise too_deep(scope.text, scope.span.start, scope.span.end)
    return sql


def _rewritten(n: exp.Expr, scope: Scope) -> exp.Expr:
    """One node, its parts being done already; itself where nothing is to be changed."""
    if isinstance(n, exp.Column):
        return n if n.meta.get("pair") else pair_column(scope.resolve(n)[0])
    if isinstance(n, exp.Literal):
        return _literal(n)
    if isinstance(n, exp.DataType) and n.this == exp.DataType.Type.TIMESTAMPTZ:
        n.set("this", exp.DataType.Type.TIMESTAMP)
    meaning = MEANINGS.get(type(n))
    return n if meaning is None else meaning(n)


def _literal(n: exp.Literal) -> exp.Expr:
    if n.is_string or isinstance(n.parent, (exp.DataTypeParam, exp.Interval)):
        return n
    if n.this.isdigit() and int(n.this) <= LARGEST_INTEGER:
        return n
    return exp.cast(exp.Literal.number(n.this), "DOUBLE")


def _guard_parts(n: exp.Expr) -> None:
    """Each part that can fail is tried by itself."""
    for part in list(n.iter_expressions()):
        if _fails(part) and not isinstance(part, (exp.Connector, exp.If, exp.DataType)):
            key, index = part.arg_key, part.index
            assert key is not None
            n.set(key, exp.Anonymous(this="TRY", expressions=[part]), index)


def _fails(part: exp.Expr) -> bool:
    """Whether something in it can fail, as was found when it was rewritten."""
    return bool(part._meta and part.meta.get("fails"))


# Arithmetic overflows, and functions refuse what they cannot take; a TRY_CAST gives NULL by itself.
FAILING = (
    exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.IntDiv, exp.Abs, exp.Repeat, exp.Pad, exp.Round, exp.Ascii,
    exp.TimestampTrunc, exp.SplitPart, exp.Substring, exp.Left, exp.Right, exp.Ceil, exp.Floor, exp.Translate,
    exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Log, exp.Pow, exp.Trunc,
)  # fmt: skip
