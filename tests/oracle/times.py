"""The ticks at which an answer can be another than before."""

from __future__ import annotations

from .oracle import stale_tick, tick_end
from .past import Past
from .select import (
    Derived,
    Join,
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
from .windows import Lasting


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
    return sorted(tick for tick in ticks if first <= tick <= last and query.exists(tick))


def every_tick(past: Past, query: Registered, end: int | None = None) -> list[int]:
    """All of them, for short stories."""
    first, last = first_tick(past, query.query), closed_to(past, query.query, end)
    if first is None or last is None:
        return []
    tick_us = max(past.streams[name].tick_us for name in streams_of(query.query))
    return [tick for tick in range(first, last + 1, tick_us) if query.exists(tick)]


def sizes(part: Query | Source) -> set[int]:
    """How long the windows of a query last."""
    match part:
        case Union(selects):
            return set().union(*(sizes(select) for select in selects))
        case With(query=query):
            return sizes(query)
        case SetOperation():
            return sizes(part.left) | sizes(part.right)
        case Select():
            return sizes(part.source)
        case Derived():
            return sizes(part.query)
        case Join():
            return sizes(part.left) | sizes(part.right)
        case Readings(window=Lasting(size)):
            return {size}
    return set()
