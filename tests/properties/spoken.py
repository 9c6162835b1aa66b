"""A query of the oracle in the language of Sanderling."""

from __future__ import annotations

from tests.oracle import Nearest
from tests.oracle.brackets import Refresh
from tests.oracle.select import (
    Derived,
    Join,
    Near,
    Nn,
    Order,
    Persistent,
    Query,
    Readings,
    Select,
    SetOperation,
    Source,
    TableRows,
    Union,
    With,
)
from tests.oracle.shapes import Changing
from tests.oracle.windows import (
    Extent,
    Lasting,
    Nearby,
    Now,
    Rows,
    RowsPerKey,
    Tessellated,
    Until,
    UntilNext,
    Window,
)
from tests.properties.scenes import literal
from tests.properties.worlds import SECOND


def spoken(query: Query) -> str:
    if isinstance(query, Union):
        word = " UNION " if query.is_distinct else " UNION ALL "
        parts = [in_brackets(s, n > 0 and not is_intersect(s)) for n, s in enumerate(query.selects)]
        return " ".join([word.join(parts), *limited(query)])
    if isinstance(query, With):
        given = ", ".join(f"{name} AS ({spoken(part)})" for name, part in query.given)
        looked = "" if query.synchronized is None else synchronize(query)
        return f"WITH {given} {looked}{spoken(query.query)}"
    if isinstance(query, Persistent):
        return " ".join([spoken(query.query), *persistency(query)])
    if isinstance(query, SetOperation):
        return " ".join([of_two(query), *limited(query)])
    items = ", ".join(item.sql if item.sql.endswith(f".{name}") else f"{item.sql} AS {name}"
                      for name, item in query.items)  # fmt: skip
    stream = the_stream(query.source)
    conditions = [query.where.sql] if query.where is not None else []
    if stream is not None and stream.fences is not None:
        inside = f"{stream.alias}.location INSIDE {stream.fences.alias}.region"
        conditions = [*(f"({condition})" for condition in conditions), inside]
    clauses = [
        f"SELECT {'DISTINCT ' if query.is_distinct else ''}{items}",
        f"FROM {source(query.source)}",
        f"WHERE {' AND '.join(conditions)}" if conditions else "",
        stream.inside_sql if stream is not None else "",
        neighbours(query.nearest) if query.nearest is not None else "",
        f"WINDOW {window(stream.window)}" if stream is not None and has_clause(stream) else "",
        f"GROUP BY {', '.join(group.sql for group in query.groups)}" if query.groups else "",
        f"HAVING {query.having.sql}" if query.having is not None else "",
        *limited(query),
    ]
    return " ".join(clause for clause in clauses if clause)


def synchronize(query: With) -> str:
    assert query.synchronized is not None
    every_us = query.synchronized.every_us
    when = "ON EVENT" if every_us is None else f"EVERY {every_us // SECOND} SECONDS"
    return f"SYNCHRONIZE {query.given[-1][0]} {when} AS "


def of_two(query: SetOperation) -> str:
    """INTERSECT binds stronger; of the same strength the left comes first."""
    is_strong = query.word == "INTERSECT"
    left = in_brackets(query.left, is_strong and not is_intersect(query.left))
    right = in_brackets(query.right, is_strong or not is_intersect(query.right))
    return f"{left} {query.word}{' ALL' if query.is_all else ''} {right}"


def is_intersect(query: Query) -> bool:
    return isinstance(query, SetOperation) and query.word == "INTERSECT"


def in_brackets(query: Query, is_weak: bool) -> str:
    """Brackets where they are needed: around a LIMIT, and around what would be taken apart."""
    is_bound = is_weak and not isinstance(query, Select)
    has_end = isinstance(query, With | Persistent) or query.first is not None
    return f"({spoken(query)})" if is_bound or has_end else spoken(query)


def limited(query: Select | Union | SetOperation) -> list[str]:
    orders = [f"ORDER BY {', '.join(order(by) for by in query.orders)}"] if query.orders else []
    return [*orders, *([f"LIMIT {query.first}"] if query.first is not None else [])]


def persistency(query: Persistent) -> list[str]:
    return [
        f"PERSISTENCY {query.stay_us // SECOND} SECONDS",
        *([f"PER ({', '.join(query.per)})"] if query.is_per else []),
        *([f"WHILE {query.goes_on.sql}"] if query.goes_on is not None else []),
        *([f"GRACE {query.grace_us // SECOND} SECONDS"] if query.grace_us else []),
    ]


def the_stream(part: Source) -> Readings | None:
    """The stream that WINDOW and INSIDE speak of: there is one, or what others have stands in brackets."""
    match part:
        case Readings():
            return part
        case Join(left, right):
            found = [s for s in (the_stream(left), the_stream(right)) if s is not None]
            clauses = [s for s in found if has_clause(s) or s.inside_sql]
            assert len(found) < 2 or not clauses
            return found[0] if found else None
    return None


def source(part: Source) -> str:
    match part:
        case Readings(stream, alias):
            fences = f", {part.fences.table} {part.fences.alias}" if part.fences is not None else ""
            bracket = (
                f" [{bracketed_window(part.window)}{refresh(part.refresh, part.window)}]"
                if part.is_bracketed
                else ""
            )
            return f"{stream}{bracket} {alias}{fences}"
        case TableRows(table, alias):
            return f"{table} {alias}"
        case Derived(query, alias, name):
            return f"({spoken(query)}) {alias}" if name is None else f"{name} {alias}"
        case Join():
            word = "LEFT JOIN" if part.is_left else "JOIN"
            return f"{source(part.left)} {word} {source(part.right)} {joined_on(part)}"
    raise TypeError(part)


def joined_on(part: Join) -> str:
    if part.is_using:
        return f"USING ({', '.join(a.sql.rpartition('.')[2] for a, _ in part.on)})"
    on = [f"{a.sql} = {b.sql}" for a, b in part.on]
    if part.nn is not None:
        on.append(nearest_of(part.nn))
    return f"ON {' AND '.join([*on, *([near(part.near)] if part.near is not None else [])])}"


def near(part: Near) -> str:
    return f"DISTANCE({part.a}, {part.b}) {'<' if part.is_open else '<='} {part.r}"


def nearest_of(part: Nn) -> str:
    if part.is_other:
        return f"NN({part.a}.location, {part.b}.location, 'k={part.k}, other')"
    return f"NN({part.a}, {part.b}, {part.k})"


def neighbours(ask: Nearest) -> str:
    if ask.focal is None:
        return f"kNN ({ask.k}, {ask.x}, {ask.y})"
    return f"kNN ('M', {ask.k}, {literal(ask.focal)})"


def has_clause(part: Readings) -> bool:
    """Whether its window is said by WINDOW."""
    return not part.is_bracketed and not isinstance(part.window, Now)


def bracketed_window(part: Window) -> str:
    match part:
        case Now():
            return "NOW"
        case Lasting():
            return f"RANGE {window(part)}"
        case Extent(scope=scope, sql=sql):
            return f"EXTENT {sql} {bracketed_window(scope)}"
        case Tessellated(n, sql):
            return f"TESSELLATE BY {sql} ROWS {n}"
        case Nearby(focal, k, None):
            return f"NEARBY {focal.sql} ROWS {k}"
        case Nearby(focal, None, d, scope):
            return f"NEARBY {focal.sql} WITHIN {d} {bracketed_window(scope)}"
    return window(part)


def refresh(part: Refresh | None, of: Window) -> str:
    if part is None:
        return ""
    every, start = part.every_us // SECOND, part.from_us // SECOND
    if isinstance(of, Extent) and isinstance(of.shape, Changing) and of.shape.shift is not None:
        dx, dy, _ = of.shape.shift
        return f" SHIFT BY ({dx}, {dy}, {every} SECONDS) FROM {start}"
    return f" SHIFT BY (0, 0, {every} SECONDS) FROM {start}" if start else f" EVERY {every} SECONDS"


def window(part: Window) -> str:
    match part:
        case Lasting(size_us):
            return f"{size_us // SECOND} SECONDS"
        case Rows(n):
            return f"{n} ROWS"
        case RowsPerKey(n):
            return f"{n} ROWS PER KEY"
        case UntilNext():
            return "UNTIL NEXT"
        case Until():
            return f"UNTIL {part.sql}"
    raise TypeError(part)


def order(by: Order) -> str:
    down = " DESC" if by.is_descending else ""
    # As in Spark, NULL is the smallest unless it is said otherwise.
    if by.is_null_first != by.is_descending:
        return f"{by.name}{down}"
    return f"{by.name}{down} NULLS {'FIRST' if by.is_null_first else 'LAST'}"
