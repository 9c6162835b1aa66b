"""What a SELECT that is not registered is about: as at which time, and which names are rows of the past.

FROM cars, in_depot              now
FROM cars AS OF 't'              as at the tick that contains t; AT 't' SELECT … is the same
FROM cars BETWEEN 't' AND 'u'    each reading a row; of a query each update: tick, sign, and its columns
FROM LAST cars, LAST QUERIES     what is kept of the last
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sanderling.ask.ordering import Ordering, ordering_of
from sanderling.catalog import Column, Stream
from sanderling.clock import time_of
from sanderling.errors import QueryError
from sanderling.language.statements import Ask, Span, Times, Value
from sanderling.plan.logical import Query
from sanderling.plan.planner import Planner
from sanderling.types import TYPES

# Columns of rows of the past that nobody can name.
KEY, X, Y, GONE = "__key", "__x", "__y", "__gone"
LAST_QUERIES = "QUERIES"


@dataclass(frozen=True, slots=True)
class When:
    """As at `last`, in microseconds (None: now); BETWEEN: all since `first`. Or what is kept of the last."""

    first: int | None = None
    last: int | None = None
    is_between: bool = False
    is_last: bool = False
    is_snapshot: bool = False


NOW = When()


@dataclass(frozen=True, slots=True)
class RowsOf:
    """A name of FROM that means rows of the past, as a stream in which each row is an object of its own."""

    name: str
    stream: Stream
    query: Query | None  # whose updates they are; None: a stream's readings, or what is kept of the last


@dataclass(frozen=True, slots=True)
class Question:
    """A SELECT, with what it is about."""

    ask: Ask
    text: str
    when: When
    span: Span  # of the time that was written, or of the SELECT
    rows: tuple[RowsOf, ...]
    ordering: Ordering

    def refused(self, code: str, message: str, hint: str) -> QueryError:
        return QueryError(code, message, hint, self.span.place_in(self.text))


def question_of(known: Planner, ask: Ask, text: str, at: Value | None = None) -> Question:
    """`at`: the time that stands before it."""
    said = list(_times_in(ask.query.select, known))
    if at is not None:
        said.insert(0, ("AT", Times(at, at, at.span), at.span))
    found = [(name, times, span, _when(times, text)) for name, times, span in said]
    when, span = (found[0][3], found[0][2]) if found else (NOW, ask.span)
    for name, times, here, other in found:
        if other != when and not (at is not None and times is None):
            message = f'"{name}" is of another time than what stands before it'
            hint = "give all streams and queries of a SELECT the same time; a table needs none"
            raise QueryError("query.different_times", message, hint, here.place_in(text))
    if when.is_between and when.first is not None and when.last is not None and when.last < when.first:
        message, hint = "the second time is before the first", "write the earlier one first"
        raise QueryError("query.bad_time", message, hint, span.place_in(text))
    names = dict.fromkeys(name for name, times, _ in said if times is not None) if _is_rows(when) else {}
    rows = tuple(_rows_of(name, known, when, span, text) for name in names)
    return Question(ask, text, when, span, rows, ordering_of(ask.query.select, text, ask.span))


def _is_rows(when: When) -> bool:
    return when.is_between or when.is_last


def _times_in(select: exp.Expr, known: Planner) -> Iterator[tuple[str, Times | None, Span]]:
    """By relation that has a past. What WITH names, and tables without a time, are as the rest is."""
    given = {cte.alias.casefold() for cte in select.find_all(exp.CTE)}
    for table in list(select.find_all(exp.Table)):
        times: Times | None = table.args.pop("our_time", None)
        is_of_time = table.name in known.streams or table.name in known.queries
        if times is not None or (is_of_time and table.name.casefold() not in given):
            meta = table.this.meta if isinstance(table.this, exp.Expression) else {}
            span = Span(meta.get("start", 0), meta.get("end", 0) + 1)
            yield table.name, times, times.span if times is not None else span


def _when(times: Times | None, text: str) -> When:
    if times is None:
        return NOW
    first, last = (None if v is None else _time(v, text) for v in (times.first, times.last))
    first = first if times.is_between else None
    return When(first, last, times.is_between, times.is_last, times.is_snapshot)


def _time(value: Value, text: str) -> int:
    time = time_of(value.value)
    if time is None:
        hint = "'2008-05-23 19:00:00' (UTC), or a number of seconds since 1970"
        raise QueryError(
            "query.bad_time", f"this is not a time: {value.value}", hint, value.span.place_in(text)
        )
    return time


def _rows_of(name: str, known: Planner, when: When, span: Span, text: str) -> RowsOf:
    if when.is_last and name.upper() == LAST_QUERIES and name not in known.streams:
        is_globe = bool(known.streams.values()) and all(s.is_globe for s in known.streams.values())
        return RowsOf(name, rows_stream(name, LAST_COLUMNS, 1, is_globe=is_globe), None)
    stream, member = known.streams.get(name), known.queries.get(name)
    if stream is not None:
        place = stream.x, stream.y
        shown = rows_stream(stream.name, stream.columns, stream.tick_us, place, stream.is_globe)
        return RowsOf(name, shown, None)
    if member is None or member.query.kind != "query" or when.is_last:
        message, hint = f'"{name}" has no past of its own', "name a stream, or a registered query"
        raise QueryError("query.unknown_stream", message, hint, span.place_in(text))
    query = member.own
    answer, tick = query.answer, Column("tick", TYPES["TIMESTAMP"])
    columns = (tick, Column("sign", TYPES["TINYINT"]), *answer.columns)
    shown = rows_stream(name, columns, query.stream.tick_us, answer.place, answer.is_globe)
    return RowsOf(name, shown, query)


LAST_COLUMNS = tuple(
    Column(name, TYPES[kind])
    for name, kind in (
        ("name", "STRING"), ("kind", "STRING"), ("stream", "STRING"), ("begun", "TIMESTAMP"),
        ("sql", "STRING"), ("focal", "STRING"), ("k", "BIGINT"), ("x", "DOUBLE"), ("y", "DOUBLE"),
    )
)  # fmt: skip


def rows_stream(
    name: str, columns: tuple[Column, ...], tick_us: int, place: tuple[str, str] | None = None,
    is_globe: bool = False,
) -> Stream:  # fmt: skip
    """A stream whose key is the number of a row."""
    hidden = [Column(KEY, TYPES["BIGINT"]), Column(GONE, TYPES["BOOLEAN"])]
    if place is None:
        place = X, Y
        hidden += [Column(X, TYPES["DOUBLE"]), Column(Y, TYPES["DOUBLE"])]
    return Stream(
        name, (*columns, *hidden), KEY, KEY, *place, GONE, None, "", tick_us, 0, None, is_globe=is_globe
    )


__all__ = ["GONE", "KEY", "NOW", "Question", "RowsOf", "When", "X", "Y", "question_of"]
