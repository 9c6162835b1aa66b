"""The ticks at which an answer can be another than before."""

from __future__ import annotations

from .brackets import Refresh
from .oracle import stale_tick, tick_end
from .past import Past
from .select import (
    TICK,
    Derived,
    Join,
    Looked,
    Persistent,
    Query,
    Readings,
    Registered,
    Select,
    SetOperation,
    Source,
    Union,
    With,
    streams_of,
)
from .windows import Extent, Lasting, Nearby, Tessellated


def closed_to(past: Past, query: Query, end: int | None = None) -> int | None:
    """The last tick that closes in all streams of a query; a stream that has ended holds nobody up."""
    closed = [past.streams[name].closed_to for name in streams_of(query)]
    last = max((tick for tick in closed if tick is not None), default=None)
    return last if last is None or end is None else max(last, end)


def first_tick(past: Past, query: Query) -> int | None:
    """Before any of its streams has said anything, a query has no ticks."""
    ticks = [past.streams[name].first_tick for name in streams_of(query)]
    return min((tick for tick in ticks if tick is not None), default=None)


def ticks_that_matter(past: Past, query: Registered, end: int | None = None) -> list[int]:
    """Where something is said, falls silent, leaves a window, or begins.

    Promises (test_against_duckdb.py): no other tick changes anything.
    """
    first, last = first_tick(past, query.query), closed_to(past, query.query, end)
    if first is None or last is None:
        return []
    if is_of_time(query.query):
        return every_tick(past, query, end)
    ticks = {first}
    tick_us = 1
    for name in streams_of(query.query):
        stream = past.streams[name]
        tick_us = stream.tick_us
        for reading in stream.accepted:
            ticks.add(stream.tick_of(reading))
            if stream.stale_after_us is not None:
                ticks.add(stale_tick(reading, tick_us, stream.stale_after_us))
            ticks |= {tick_end(reading.ts + size, tick_us) for size in sizes(query.query)}
    times = [since for table in past.tables.values() for since, _ in table.changes] + [query.begin]
    ticks |= {tick_end(at, tick_us) for at in times if at is not None}
    for refresh in refreshes(query.query):
        ticks |= refresh.between(first, last, tick_us)
    return sorted(tick for tick in ticks if first <= tick <= last and query.exists(tick))


def every_tick(past: Past, query: Registered, end: int | None = None) -> list[int]:
    """All of them, for short stories."""
    first, last = first_tick(past, query.query), closed_to(past, query.query, end)
    if first is None or last is None:
        return []
    tick_us = max(past.streams[name].tick_us for name in streams_of(query.query))
    return [tick for tick in range(first, last + 1, tick_us) if query.exists(tick)]


def sizes(query: Query) -> set[int]:
    """How long the windows of a query last."""
    found = set()
    for part in readings_of(query):
        match part.window:
            case Lasting(size) | Extent(scope=Lasting(size)) | Nearby(scope=Lasting(size)):
                found.add(size)
    return found


def refreshes(query: Query) -> set[Refresh]:
    return {part.refresh for part in readings_of(query) if part.refresh is not None}


def looks_around(query: Query) -> bool:
    """Whether some window is of places that are none of its stream's."""
    return any(isinstance(part.window, Nearby) for part in readings_of(query))


def has_coming(query: Query) -> bool:
    """Whether some window is of what has come since the query began."""
    return any(isinstance(part.window, Tessellated) for part in readings_of(query))


def has_nn(part: Query | Source) -> bool:
    match part:
        case Union(selects):
            return any(map(has_nn, selects))
        case With(query=query) | Derived(query=query) | Looked(query):
            return has_nn(query)
        case Join():
            return part.nn is not None or has_nn(part.left) or has_nn(part.right)
        case SetOperation():
            return has_nn(part.left) or has_nn(part.right)
        case Select():
            return has_nn(part.source)
    return False


def readings_of(part: Query | Source) -> list[Readings]:
    """All that it reads of streams, however deep."""
    match part:
        case Union(selects):
            return [found for select in selects for found in readings_of(select)]
        case With(query=query) | Derived(query=query) | Persistent(query=query) | Looked(query):
            return readings_of(query)
        case SetOperation() | Join():
            return [*readings_of(part.left), *readings_of(part.right)]
        case Select():
            return readings_of(part.source)
        case Readings():
            return [part]
    return []


def is_of_time(part: Query | Source) -> bool:
    """Whether something in it is told because time passes."""
    match part:
        case Persistent():
            return True
        case Looked(query, every_us):
            return every_us is not None or is_of_time(query)
        case Union(selects):
            return any(map(is_of_time, selects))
        case With(query=query) | Derived(query):
            return is_of_time(query)
        case SetOperation() | Join():
            return is_of_time(part.left) or is_of_time(part.right)
        case Select(where=where, having=having):
            asked = (condition.sql for condition in (where, having) if condition is not None)
            return any(TICK in sql for sql in asked) or is_of_time(part.source)
    return False
