"""A query of the oracle in the language of Sanderling."""

from __future__ import annotations

from tests.oracle import Nearest
from tests.oracle.select import (
    Derived,
    Join,
    Near,
    Order,
    Query,
    Readings,
    Select,
    SetOperation,
    Source,
    TableRows,
    Union,
    With,
)
from tests.oracle.windows import Lasting, Now, Rows, RowsPerKey, Until, UntilNext, Window
from tests.properties.scenes import literal
from tests.properties.worlds import SECOND


def spoken(query: Query) -> str:
    if isinstance(query, Union):
        word = " UNION " if query.is_distinct else " UNION ALL "
        parts = [bracketed(s, n > 0 and not is_intersect(s)) for n, s in enumerate(query.selects)]
        return " ".join([word.join(parts), *limited(query)])
    if isinstance(query, With):
        given = ", ".join(f"{name} AS ({spoken(part)})" for name, part in query.given)
        return f"WITH {given} {spoken(query.query)}"
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
        window(stream.window) if stream is not None else "",
        f"GROUP BY {', '.join(group.sql for group in query.groups)}" if query.groups else "",
        f"HAVING {query.having.sql}" if query.having is not None else "",
        *limited(query),
    ]
    return " ".join(clause for clause in clauses if clause)


def of_two(query: SetOperation) -> str:
    """INTERSECT binds stronger; of the same strength the left comes first."""
    is_strong = query.word == "INTERSECT"
    left = bracketed(query.left, is_strong and not is_intersect(query.left))
    right = bracketed(query.right, is_strong or not is_intersect(query.right))
    return f"{left} {query.word}{' ALL' if query.is_all else ''} {right}"


def is_intersect(query: Query) -> bool:
    return isinstance(query, SetOperation) and query.word == "INTERSECT"


def bracketed(query: Query, is_weak: bool) -> str:
    """Brackets where they are needed: around a LIMIT, and around what would be taken apart."""
    is_bound = is_weak and not isinstance(query, Select)
    has_end = isinstance(query, With) or query.first is not None
    return f"({spoken(query)})" if is_bound or has_end else spoken(query)


def limited(query: Select | Union | SetOperation) -> list[str]:
    orders = [f"ORDER BY {', '.join(order(by) for by in query.orders)}"] if query.orders else []
    return [*orders, *([f"LIMIT {query.first}"] if query.first is not None else [])]


def the_stream(part: Source) -> Readings | None:
    """The stream that WINDOW and INSIDE speak of: there is one, or none has any."""
    match part:
        case Readings():
            return part
        case Join(left, right):
            found = [s for s in (the_stream(left), the_stream(right)) if s is not None]
            assert len(found) < 2 or all(isinstance(s.window, Now) and not s.inside_sql for s in found)
            return found[0] if found else None
    return None


def source(part: Source) -> str:
    match part:
        case Readings(stream, alias):
            fences = f", {part.fences.table} {part.fences.alias}" if part.fences is not None else ""
            return f"{stream} {alias}{fences}"
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
    return f"ON {' AND '.join([*on, *([near(part.near)] if part.near is not None else [])])}"


def near(part: Near) -> str:
    return f"DISTANCE({part.a}, {part.b}) {'<' if part.is_open else '<='} {part.r}"


def neighbours(ask: Nearest) -> str:
    if ask.focal is None:
        return f"kNN ({ask.k}, {ask.x}, {ask.y})"
    return f"kNN ('M', {ask.k}, {literal(ask.focal)})"


def window(part: Window) -> str:
    match part:
        case Lasting(size_us):
            return f"WINDOW {size_us // SECOND} SECONDS"
        case Rows(n):
            return f"WINDOW {n} ROWS"
        case RowsPerKey(n):
            return f"WINDOW {n} ROWS PER KEY"
        case UntilNext():
            return "WINDOW UNTIL NEXT"
        case Until():
            return f"WINDOW UNTIL {part.sql}"
    return ""


def order(by: Order) -> str:
    down = " DESC" if by.is_descending else ""
    # As in Spark, NULL is the smallest unless it is said otherwise.
    if by.is_null_first != by.is_descending:
        return f"{by.name}{down}"
    return f"{by.name}{down} NULLS {'FIRST' if by.is_null_first else 'LAST'}"
