"""A checked expression in the evaluating engine's SQL, with the meaning it has in ours.

Where the two differ: what has no finite value is NULL; a part that fails is NULL by itself and not
with all that stands around it; a CAST to an integer cuts off, and one to a timestamp minds the zone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from sanderling.language.parse import deep_recursion, too_deep
from sanderling.plan.expressions import functions

if TYPE_CHECKING:
    from sanderling.plan.expressions.check import Scope

# Longer SQL than this is refused: no author wrote it by hand, and binding it takes long.
LONGEST = 2_000_000
LARGEST_INTEGER = 2**63 - 1
NOT_FINITE = ("nan", "inf", "-inf")
HAS_ZONE = r"[T ]\d{1,2}(:\d{2}){0,2}(\.\d+)?\s*([Zz]|UTC|[+-]\d{1,2}(:?\d{2})?)\s*$"
DAYS_OF_WEEK = ("DOW", "DAYOFWEEK", "DAY_OF_WEEK", "WEEKDAY")


def pair_column(name: str, like: exp.Expr | None = None) -> exp.Column:
    """A column of a pair; it stands where `like` stood."""
    column = exp.column(exp.to_identifier(name, quoted=True))
    if like is not None and like._meta:
        column.meta.update({k: v for k, v in like.meta.items() if k in ("line", "col", "start", "end")})
    column.meta["pair"] = True
    return column


def engine_sql(node: exp.Expr, scope: Scope) -> tuple[str, frozenset[str]]:
    """The expression in the evaluating engine's SQL, and the pair columns it reads."""
    holder = exp.Paren(this=node.copy())
    reads = set()
    for n in reversed(list(holder.walk())):
        if n is holder:
            continue
        new = _rewritten(n, scope)
        if isinstance(new, exp.Column):
            reads.add(new.name)
        if new is not n:
            n.replace(new)
    return _text(holder.this, node, scope), frozenset(reads)


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
    elif isinstance(n, exp.Mod):
        n.set("expression", exp.Nullif(this=n.expression, expression=exp.Literal.number(0)))
    elif isinstance(n, (exp.Like, exp.ILike)) and not isinstance(n.parent, exp.Escape):
        return _with_escape(n)
    elif isinstance(n, exp.Cast):
        return _cast(n)
    elif isinstance(n, functions.PARTIAL):
        return _finite(n)
    elif isinstance(n, exp.DayOfWeek) or (isinstance(n, exp.Extract) and n.this.name.upper() in DAYS_OF_WEEK):
        # Sunday is 1, as in Spark.
        return exp.paren(exp.Add(this=n.copy(), expression=exp.Literal.number(1)), copy=False)
    elif isinstance(n, functions.LENIENT):
        _guard_parts(n)
    return n


def _literal(n: exp.Literal) -> exp.Expr:
    if n.is_string or isinstance(n.parent, (exp.DataTypeParam, exp.Interval)):
        return n
    if n.this.isdigit() and int(n.this) <= LARGEST_INTEGER:
        return n
    return exp.cast(exp.Literal.number(n.this), "DOUBLE")


def _with_escape(n: exp.Expr) -> exp.Expr:
    """A backslash takes the meaning from % and _, as in Spark; the engine below has to be told."""
    pattern = n.expression
    if isinstance(pattern, exp.Literal) and "\\" in pattern.this:
        return exp.Escape(this=n.copy(), expression=exp.Literal.string("\\"))
    return n


def _cast(n: exp.Cast) -> exp.Expr:
    source, target = n.meta.get("source", ""), n.to.this
    this: exp.Expr = n.this
    if target in exp.DataType.INTEGER_TYPES and (
        source in ("DOUBLE", "FLOAT") or source.startswith("DECIMAL")
    ):
        this = exp.Anonymous(this="TRUNC", expressions=[this])
    cast = exp.TryCast(this=this, to=n.to)
    if source == "VARCHAR" and target in (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ):
        return _zoned(this, cast)
    is_float = target in (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
    return _finite(cast) if source == "VARCHAR" and is_float else cast


def _zoned(text: exp.Expr, cast: exp.Expr) -> exp.Expr:
    """A text as a time; its zone counts, where it names one."""
    has_zone = exp.Anonymous(this="REGEXP_MATCHES", expressions=[text.copy(), exp.Literal.string(HAS_ZONE)])
    instant = exp.Anonymous(
        this="EPOCH_US", expressions=[exp.TryCast(this=text.copy(), to=exp.DataType.build("timestamptz"))]
    )
    time = exp.Anonymous(this="MAKE_TIMESTAMP", expressions=[instant])
    return exp.Case(ifs=[exp.If(this=has_zone, true=time)], default=cast)


def _finite(n: exp.Expr) -> exp.Expr:
    finite: exp.Expr = n.copy()
    for text in NOT_FINITE:
        finite = exp.Nullif(this=finite, expression=exp.cast(exp.Literal.string(text), "DOUBLE"))
    return finite


def _guard_parts(n: exp.Expr) -> None:
    """Each part that can fail is tried by itself."""
    if isinstance(n, exp.And) and _is_of_top(n):
        return  # what is not true there is as good as false
    for part in list(n.iter_expressions()):
        if not isinstance(part, exp.Connector) and _can_fail(part):
            part.replace(exp.Anonymous(this="TRY", expressions=[part.copy()]))


def _is_of_top(n: exp.Expr) -> bool:
    above = n.parent
    while isinstance(above, (exp.And, exp.Paren)):
        above = above.parent
    return above is None


def _can_fail(part: exp.Expr) -> bool:
    if isinstance(part, (exp.If, exp.DataType)) or (isinstance(part, exp.Anonymous) and part.this == "TRY"):
        return False
    return any(isinstance(n, FAILING) for n in part.walk())


# Arithmetic overflows, and functions refuse what they cannot take; a TRY_CAST gives NULL by itself.
FAILING = (
    exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.IntDiv, exp.Abs, exp.Repeat, exp.Pad, exp.Round, exp.Ascii,
    exp.TimestampTrunc, exp.SplitPart, exp.Substring, exp.Left, exp.Right, exp.Ceil, exp.Floor, exp.Translate,
    exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Log, exp.Pow, exp.Trunc,
)  # fmt: skip
