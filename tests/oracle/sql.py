"""The whole answer of any query at a tick, from all that has been seen; slow, obvious, and a pure function.

FROM ──► WHERE ──► kNN ──► GROUP BY ──► HAVING ──► SELECT ──► DISTINCT ──► ORDER BY … LIMIT
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from .brackets import neighbours, squared
from .oracle import (
    Nearest,
    Reading,
    Result,
    Row,
    Update,
    Values,
    comparable,
    order,
    signed,
    value_order,
)
from .past import Past, Stream, is_inside
from .persistency import persistent
from .select import (
    TICK,
    Derived,
    Join,
    Looked,
    Nn,
    Order,
    Persistent,
    Query,
    Readings,
    Registered,
    Select,
    SetOperation,
    Source,
    TableRows,
    Union,
    With,
    streams_of,
)
from .sums import aggregate
from .times import closed_to, first_tick, ticks_that_matter
from .windows import Nearby, Now, Tessellated, Window

Many = list[Values]


def run(past: Past, queries: Sequence[Registered], end: int | None = None) -> Result:
    """What changes from tick to tick. `end`: time went on up to this tick, whatever the streams say."""
    updates: list[Update] = []
    for query in queries:
        before: Counter[Row] = Counter()
        ticks = ticks_that_matter(past, query, end)
        known = replace(past, begin=ticks[0] if ticks else None)
        for tick in ticks:
            now = answer(query.query, known, tick)
            change = Counter(now)
            change.subtract(before)
            updates += signed(tick, query.name, change)
            before = now
    late = [index for stream in past.streams.values() for index in stream.late]
    ends = [at for query in queries if (at := closed_to(past, query.query, end)) is not None]
    return Result(sorted(updates, key=order), late, max(ends, default=None))


def answer(query: Query, past: Past, tick: int) -> Counter[Row]:
    return Counter(rows(query, past, tick))


def rows(query: Query, past: Past, tick: int) -> list[Row]:
    if isinstance(query, Union):
        both = [row for select in query.selects for row in rows(select, past, tick)]
        both = list(dict.fromkeys(both)) if query.is_distinct else both
        return both if query.first is None else first(both, query.names, query.orders, query.first)
    if isinstance(query, With):
        return rows(query.query, past, tick)
    if isinstance(query, Persistent):
        return stayed(query, past, tick)
    if isinstance(query, Looked):
        return looked_at(query, past, tick)
    if isinstance(query, SetOperation):
        kept = set_operation(query, rows(query.left, past, tick), rows(query.right, past, tick))
        return kept if query.first is None else first(kept, query.names, query.orders, query.first)
    known = ({**line, TICK: tick} for line in lines(query.source, past, tick))
    found = [line for line in known if satisfies(query, line)]
    if query.nearest is not None:
        found = nearest(query.nearest, query.source, found, past, tick)
    if query.groups is not None:
        found = [group for group in grouped(query, found) if is_had(query, {**group, TICK: tick})]
    told = [tuple(comparable(item.value(line)) for _, item in query.items) for line in found]
    if query.is_distinct:
        told = list(dict.fromkeys(told))
    return told if query.first is None else first(told, query.names, query.orders, query.first)


def stayed(query: Persistent, past: Past, tick: int) -> list[Row]:
    """Of all ticks since the whole query began; worked out once each, since many ask."""
    tick_us = max(past.streams[name].tick_us for name in streams_of(query))
    first = first_tick(past, query) if past.begin is None else past.begin
    begin, answers = tick if first is None else first, dict[int, list[Row]]()
    for at in range(begin, tick + 1, tick_us):
        if (id(query), begin, at) not in past.answers:
            past.answers[id(query), begin, at] = query, rows(query.query, past, at)
        answers[at] = past.answers[id(query), begin, at][1]
    return persistent(query.asked, answers, tick_us)


def looked_at(query: Looked, past: Past, tick: int) -> list[Row]:
    """Before the first look at it since the whole query began there is nothing."""
    if query.every_us is None:
        return rows(query.query, past, tick)
    at = tick // query.every_us * query.every_us
    first = first_tick(past, query) if past.begin is None else past.begin
    return [] if first is None or at < first else rows(query.query, past, at)


def set_operation(query: SetOperation, left: list[Row], right: list[Row]) -> list[Row]:
    """Row by row: with ALL each of the left meets one of the right at most, which is then taken."""
    if not query.is_all:
        left = list(dict.fromkeys(left))
        return [row for row in left if (row in right) == (query.word == "INTERSECT")]
    kept, untaken = [], list(right)
    for row in left:
        is_met = row in untaken
        if is_met:
            untaken.remove(row)
        if is_met == (query.word == "INTERSECT"):
            kept.append(row)
    return kept


# -- FROM ---------------------------------------------------------------------


def lines(source: Source, past: Past, tick: int) -> Many:
    match source:
        case Readings():
            return held(source, past, tick)
        case TableRows(name, alias):
            table = past.tables[name]
            return [{f"{alias}.{c}": row[c] for c in table.columns} for row in table.rows(tick)]
        case Derived(query, alias):
            names = [f"{alias}.{name}" for name in query.names]
            return [dict(zip(names, row, strict=True)) for row in rows(query, past, tick)]
        case Join():
            return joined(source, past, tick)
    raise TypeError(source)


def held(source: Readings, past: Past, tick: int) -> Many:
    """NOW is judged by the region as it is now, any other reading by the region as it was at its tick."""
    found: Many = []
    stream = past.streams[source.stream]
    if source.refresh is not None:
        tick = source.refresh.last(tick, stream.tick_us)
        if past.begin is not None and tick < past.begin:
            return []
    for reading in holds(source.window, past, stream, tick):
        judged_at = tick if isinstance(source.window, Now) else stream.tick_of(reading)
        if not is_inside(source.inside, reading, stream, judged_at):
            continue
        line = line_of(source.alias, reading, stream)
        if source.fences is None:
            found.append(line)
            continue
        for name, area in source.fences.areas:
            if is_inside(area, reading, stream, judged_at):
                found.append({**line, f"{source.fences.alias}.name": name})
    return found


def holds(window: Window, past: Past, stream: Stream, tick: int) -> list[Reading]:
    if isinstance(window, Nearby | Tessellated):
        return window.holds_in(past, stream, tick)
    return window.holds(stream, tick)


def line_of(alias: str, reading: Reading, stream: Stream) -> Values:
    before = stream.previous(reading)
    line: Values = {}
    for name, value in reading.values.items():
        line[f"{alias}.{name}"] = value
        line[f"previous {alias}.{name}"] = None if before is None else before.values[name]
    return line


def joined(join: Join, past: Past, tick: int) -> Many:
    right = lines(join.right, past, tick)
    found: Many = []
    for line in lines(join.left, past, tick):
        met = right if join.nn is None else nearest_lines(join.nn, join.right, line, right)
        pairs = [{**line, **other} for other in met if is_pair(join, {**line, **other})]
        if not pairs and join.is_left:
            pairs = [{**line, **dict.fromkeys(columns_of(join.right, past))}]
        found += pairs
    return found


def nearest_lines(nn: Nn, source: Source, line: Values, right: Many) -> Many:
    """Those of the right side that are nearest to a line: ties by key and time, or else by all columns."""
    place = line[f"{nn.a}.x"], line[f"{nn.a}.y"]
    others = [other for other in right if None not in (other[f"{nn.b}.x"], other[f"{nn.b}.y"])]
    if nn.is_other:
        others = [other for other in others if other[f"{nn.b}.id"] != line[f"{nn.a}.id"]]
    names = [f"{nn.b}.id", f"{nn.b}.ts"] if isinstance(source, Readings) else list(right[0]) if right else []

    def order(other: Values) -> tuple[object, ...]:
        return tuple((other[name] is not None, value_order(other[name])) for name in names)

    def apart(one: Any, other: Values) -> float:
        return squared(one, (other[f"{nn.b}.x"], other[f"{nn.b}.y"]))  # type: ignore[arg-type]

    return [] if None in place else neighbours(place, others, nn.k, apart, order)


def is_pair(join: Join, pair: Values) -> bool:
    """NULL equals nothing, and is near nothing. Squares are compared in doubles."""
    for a, b in join.on:
        if a.value(pair) is None or b.value(pair) is None or a.value(pair) != b.value(pair):
            return False
    if join.near is None:
        return True
    places = [pair[f"{alias}.{axis}"] for axis in "xy" for alias in (join.near.a, join.near.b)]
    if None in places:
        return False
    ax, bx, ay, by = (float(value) for value in places)  # type: ignore[arg-type]
    apart, r = (ax - bx) * (ax - bx) + (ay - by) * (ay - by), float(join.near.r)
    return apart < r * r if join.near.is_open else apart <= r * r


def columns_of(source: Source, past: Past) -> list[str]:
    match source:
        case TableRows(name, alias):
            return [f"{alias}.{c}" for c in past.tables[name].columns]
        case Derived(query, alias):
            return [f"{alias}.{name}" for name in query.names]
    raise TypeError("only a table, or a query in brackets, can stand right of LEFT JOIN")


# -- WHERE, kNN, GROUP BY, HAVING, LIMIT -----------------------------------------


def satisfies(query: Select, line: Values) -> bool:
    return query.where is None or query.where.value(line) is True


def is_had(query: Select, group: Values) -> bool:
    return query.having is None or query.having.value(group) is True


def nearest(ask: Nearest, source: Source, found: Many, past: Past, tick: int) -> Many:
    """The k nearest, ties by the smaller key; nobody while the focal object is absent, and never itself."""
    assert isinstance(source, Readings)
    a = source.alias
    x, y = float(ask.x), float(ask.y)
    if ask.focal is not None:
        focal = past.streams[source.stream].last(ask.focal, tick)
        if focal is None:
            return []
        x, y = float(focal.x), float(focal.y)

    def by_distance(line: Values) -> tuple[object, ...]:
        dx, dy = float(line[f"{a}.x"]) - x, float(line[f"{a}.y"]) - y  # type: ignore[arg-type]
        return (dx * dx + dy * dy, line[f"{a}.id"])

    others = [line for line in found if ask.focal is None or line[f"{a}.id"] != ask.focal]
    return sorted(others, key=by_distance)[: ask.k]


def grouped(query: Select, found: Many) -> Many:
    """Of each group what it is grouped by and its aggregates, under their texts.

    Without anything to group by there is one group, also of nothing.
    """
    assert query.groups is not None
    groups: dict[Row, Many] = {} if query.groups else {(): []}
    for line in found:
        key = tuple(comparable(group.value(line)) for group in query.groups)
        groups.setdefault(key, []).append(line)
    return [
        {group.sql: value for group, value in zip(query.groups, key, strict=True)} | summed(query, members)
        for key, members in groups.items()
    ]


def summed(query: Select, members: Many) -> Values:
    found: Values = {}
    for sum_ in query.sums:
        values = [1 if sum_.argument is None else sum_.argument.value(line) for line in members]
        found[sum_.sql] = aggregate(sum_.kind, values, sum_.is_distinct)
    return found


def first(told: list[Row], names: Sequence[str], orders: Sequence[Order], n: int) -> list[Row]:
    """What is equal in the order asked for is ordered by all columns, the smaller first, NULL before all."""
    in_order = sorted(told, key=lambda row: [(value is not None, value_order(value)) for value in row])
    for by in reversed(orders):  # stable: the first order counts most
        place = names.index(by.name)
        known = [row for row in in_order if row[place] is not None]
        unknown = [row for row in in_order if row[place] is None]
        known = stable(known, place, by.is_descending)
        in_order = [*unknown, *known] if by.is_null_first else [*known, *unknown]
    return in_order[:n]


def stable(told: list[Row], place: int, is_descending: bool) -> list[Row]:
    """Sorted by one column; rows that are equal in it keep their order, also going down."""
    told = sorted(told, key=lambda row: value_order(row[place]))
    runs = [list(run) for _, run in groupby(told, key=lambda row: value_order(row[place]))]
    return [row for run in (reversed(runs) if is_descending else runs) for row in run]
