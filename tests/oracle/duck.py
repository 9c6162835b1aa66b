"""A query of the oracle as one SELECT of DuckDB: the whole answer at a tick from tables of readings.

seen ──► told (not late, not replaced, up to T) ──► chain (what was before, and in which life) ──► windows

An object begins a new life after it was gone or stale. DuckDB does what it can do by itself, so that two
who were made apart from each other agree: lateness, windows, focal places, joins, groups and orders.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import duckdb

from .oracle import Nearest, Row, comparable, value_order
from .past import Past, Stream
from .select import (
    Derived,
    Join,
    Looked,
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
from .shapes import Area, Box, Disc, MovingBox, MovingDisc, Polygon, Shape
from .windows import Extent, Lasting, Now, Rows, RowsPerKey, Tessellated, Until, UntilNext, Window

LONG_AGO, NEVER = -(2**62), 2**62
TYPES = {
    "id": "VARCHAR", "ts": "DOUBLE", "x": "DOUBLE", "y": "DOUBLE", "gone": "BOOLEAN", "speed": "DOUBLE",
    "kind": "VARCHAR", "n": "BIGINT", "name": "VARCHAR", "size": "BIGINT", "price": "DOUBLE",
}  # fmt: skip


class Duck:
    """The readings of all streams and the tables, in a database of their own."""

    def __init__(self, past: Past, is_integer_key: bool):
        self.past = past
        self.types = TYPES | ({"id": "BIGINT"} if is_integer_key else {})
        self.db = duckdb.connect(config={"threads": 1})
        self.columns = {
            name: tuple(stream.readings[0].values) if stream.readings else ()
            for name, stream in past.streams.items()
        }
        for name, stream in past.streams.items():
            self._tell(name, stream)
        for name, table in past.tables.items():
            starts = [LONG_AGO if since is None else since for since, _ in table.changes]
            spans = zip(starts, [*starts[1:], NEVER], [rows for _, rows in table.changes], strict=True)
            rows = [[a, b, *row.values()] for a, b, held in spans for row in held]
            self._create(f"{name}_history", {"since": "BIGINT", "til": "BIGINT"}, table.columns, rows)

    def _tell(self, name: str, stream: Stream) -> None:
        rows = [[n, r.ts, *r.values.values()] for n, r in enumerate(stream.readings)]
        self._create(f"{name}_seen", {"arrival": "BIGINT", "us": "BIGINT"}, self.columns[name], rows)

    def _create(
        self, name: str, own: dict[str, str], columns: tuple[str, ...], rows: list[list[Any]]
    ) -> None:
        types = own | {column: self.types[column] for column in columns}
        self.db.execute(f"CREATE TABLE {name} ({', '.join(f'{c} {t}' for c, t in types.items())})")
        if rows:
            self.db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(types))})", rows)

    def answer(self, query: Query, tick: int) -> Counter[Row]:
        told = self.db.execute(self.sql(query), {"t": tick}).fetchall()
        return Counter(tuple(comparable(value) for value in row) for row in told)

    def sql(self, query: Query) -> str:
        """With $t as the tick."""
        steps = [
            step for name in sorted(self.past.streams) if self.columns[name] for step in self.chain(name)
        ]
        return f"WITH {', '.join(steps)} {select(query)}"

    def chain(self, name: str) -> list[str]:
        """Of each reading: its tick, when it goes stale, the one before, and its object's life."""
        stream = self.past.streams[name]
        tick, lateness = stream.tick_us, stream.lateness_us
        # No number plus NULL is a number.
        stale = "NULL" if stream.stale_after_us is None else str(stream.stale_after_us)
        stale_at = f"CAST(floor((us + {stale}) / {tick}) + 1 AS BIGINT) * {tick}"
        before = ", ".join(f"lag({c}) OVER by_time AS before_{c}" for c in self.columns[name])
        previous = ", ".join(
            f"CASE WHEN is_new THEN NULL ELSE before_{c} END AS previous_{c}" for c in self.columns[name]
        )
        return [
            f"""{name}_timed AS (
                SELECT *, CAST(ceil(us / {tick}) AS BIGINT) * {tick} AS tick,
                       coalesce({stale_at}, {NEVER}) AS stale_at, max(us) OVER earlier AS clock
                FROM {name}_seen
                WINDOW earlier AS (ORDER BY arrival ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))""",
            f"""{name}_told AS (
                SELECT * FROM {name}_timed
                WHERE us <= $t AND (clock IS NULL OR clock - {lateness} <= tick)
                QUALIFY row_number() OVER (PARTITION BY id, us ORDER BY arrival DESC) = 1)""",
            f"""{name}_before AS (
                SELECT *, {before}, lag(stale_at) OVER by_time AS before_stale_at FROM {name}_told
                WINDOW by_time AS (PARTITION BY id ORDER BY us))""",
            f"""{name}_new AS (
                SELECT *, before_id IS NULL OR before_gone OR before_stale_at < tick AS is_new
                FROM {name}_before)""",
            f"""{name}_chain AS (
                SELECT *, {previous}, sum(is_new::INT) OVER (PARTITION BY id ORDER BY us) AS life,
                       row_number() OVER (PARTITION BY id ORDER BY us DESC) AS back
                FROM {name}_new)""",
            # Everybody who is present at $t.
            f"{name}_now AS (SELECT * FROM {name}_chain WHERE back = 1 AND NOT gone AND stale_at > $t)",
        ]


# -- SELECT ---------------------------------------------------------------------


def select(query: Query) -> str:
    if isinstance(query, Union):
        word = " UNION " if query.is_distinct else " UNION ALL "
        return first(word.join(f"({select(part)})" for part in query.selects), query)
    if isinstance(query, With | Looked):
        return select(query.query)
    if isinstance(query, SetOperation):
        word = f"{query.word}{' ALL' if query.is_all else ''}"
        return first(f"({select(query.left)}) {word} ({select(query.right)})", query)
    items = ", ".join(f"{item.for_duck} AS {name}" for name, item in query.items)
    where = f" WHERE {query.where.for_duck}" if query.where is not None else ""
    rows = f"{source(query.source)}{where}"
    if query.nearest is not None:
        rows = nearest(query.nearest, query.source, where)
    groups = f" GROUP BY {', '.join(group.for_duck for group in query.groups)}" if query.groups else ""
    having = f" HAVING {query.having.for_duck}" if query.having is not None else ""
    text = f"SELECT {'DISTINCT ' if query.is_distinct else ''}{items} FROM {rows}{groups}{having}"
    return first(text, query)


def first(text: str, query: Select | Union | SetOperation) -> str:
    if query.first is None:
        return text
    orders = [order(by) for by in query.orders] + [
        order(Order(name, is_null_first=True)) for name in query.names
    ]
    return f"SELECT * FROM ({text}) ORDER BY {', '.join(orders)} LIMIT {query.first}"


def order(by: Order) -> str:
    return (
        f"{by.name} {'DESC' if by.is_descending else 'ASC'} NULLS {'FIRST' if by.is_null_first else 'LAST'}"
    )


def nearest(ask: Nearest, part: Source, where: str) -> str:
    assert isinstance(part, Readings)
    a = part.alias
    place, x, y = "", f"{ask.x}::DOUBLE", f"{ask.y}::DOUBLE"
    if ask.focal is not None:
        place = f" JOIN {part.stream}_now focal ON focal.id = {text(ask.focal)} AND {a}.id <> focal.id"
        x, y = "focal.x", "focal.y"
    apart = f"({a}.x - {x}) * ({a}.x - {x}) + ({a}.y - {y}) * ({a}.y - {y})"
    return f"(SELECT {a}.* FROM {source(part)}{place}{where} ORDER BY {apart}, {a}.id LIMIT {ask.k}) {a}"


# -- FROM -----------------------------------------------------------------------


def source(part: Source) -> str:
    match part:
        case Readings():
            return readings(part)
        case TableRows(table, alias):
            return f"(SELECT * FROM {table}_history WHERE since <= $t AND $t < til) {alias}"
        case Derived(query, alias):
            return f"({select(query)}) {alias}"
        case Join():
            on = [f"{a.for_duck} = {b.for_duck}" for a, b in part.on]
            if part.near is not None:
                a, b, r = part.near.a, part.near.b, f"{part.near.r}::DOUBLE"
                apart = f"({a}.x - {b}.x) * ({a}.x - {b}.x) + ({a}.y - {b}.y) * ({a}.y - {b}.y)"
                on.append(f"{apart} {'<' if part.near.is_open else '<='} {r} * {r}")
            word = "LEFT JOIN" if part.is_left else "JOIN"
            return f"{source(part.left)} {word} {source(part.right)} ON {' AND '.join(on)}"
    raise TypeError(part)


def readings(part: Readings) -> str:
    judged_at = "$t" if isinstance(part.window, Now) else "r.tick"
    conditions = inside(part.inside, part.stream, judged_at)
    held = f"SELECT r.* FROM ({window(part.window, part.stream)}) r WHERE {conditions}"
    if part.fences is None:
        return f"({held}) {part.alias}"
    areas = " UNION ALL ".join(
        f"SELECT r.id, r.us, '{name}' AS name FROM {part.stream}_told r "
        f"WHERE {inside(area, part.stream, judged_at)}"
        for name, area in part.fences.areas
    )
    a, f = part.alias, part.fences.alias
    return f"({held}) {a} JOIN ({areas}) {f} ON {a}.id = {f}.id AND {a}.us = {f}.us"


def window(part: Window, name: str) -> str:
    match part:
        case Now() | UntilNext():
            return f"SELECT * FROM {name}_now"
        case Extent(shape, scope):
            return f"SELECT r.* FROM ({window(scope, name)}) r WHERE {inside(shape, name, '$t')}"
        case Lasting(size):
            return f"SELECT * FROM {name}_chain WHERE NOT gone AND us > $t - {size}"
        case Rows(n):
            return f"SELECT * FROM {name}_chain WHERE NOT gone ORDER BY us DESC, id DESC LIMIT {n}"
        case RowsPerKey(n):
            return (
                f"SELECT * FROM {name}_chain WHERE NOT gone "
                f"QUALIFY row_number() OVER (PARTITION BY id ORDER BY us DESC) <= {n}"
            )
        case Tessellated(n, _, areas, column):
            where = "".join(f"WHEN {inside(area, name, '')} THEN '{tile}' " for tile, area in sorted(areas))
            tile = f"r.{column}" if column else f"CASE {where}END"
            kept = "" if column else " AND tile IS NOT NULL"
            return (
                f"SELECT * EXCLUDE (tile) FROM (SELECT r.*, {tile} AS tile FROM {name}_chain r) "
                f"WHERE NOT gone{kept} "
                f"QUALIFY row_number() OVER (PARTITION BY tile ORDER BY us DESC, id DESC) <= {n}"
            )
        case Until():
            later = f"SELECT 1 FROM {name}_chain later WHERE later.id = held.id AND later.us > held.us"
            return (
                f"SELECT held.* FROM {name}_chain held JOIN {name}_now last "
                "ON held.id = last.id AND held.life = last.life "
                f"WHERE NOT EXISTS ({later} AND ({part.duck}))"
            )
    raise TypeError(part)


def inside(shape: Shape, name: str, judged_at: str) -> str:
    match shape:
        case Box(x1, y1, x2, y2):
            return (
                f"r.x BETWEEN {min(x1, x2)} AND {max(x1, x2)} AND r.y BETWEEN {min(y1, y2)} AND {max(y1, y2)}"
            )
        case Disc(x, y, r):
            return f"(r.x - {x}) * (r.x - {x}) + (r.y - {y}) * (r.y - {y}) <= {r}::DOUBLE * {r}::DOUBLE"
        case Area(polygons):
            return " OR ".join(f"({polygon(one)})" for one in polygons)
        case MovingBox(focal, w, h):
            near = f"abs(r.x - f.x) <= {w} / 2 AND abs(r.y - f.y) <= {h} / 2"
            return around(name, focal, judged_at, near)
        case MovingDisc(focal, r):
            near = f"(r.x - f.x) * (r.x - f.x) + (r.y - f.y) * (r.y - f.y) <= {r}::DOUBLE * {r}::DOUBLE"
            return around(name, focal, judged_at, near)
    return "true"


def around(name: str, focal: object, judged_at: str, near: str) -> str:
    """By the focal object's last place as at a tick, if it was present then."""
    last = f"SELECT max(us) FROM {name}_told g WHERE g.id = {text(focal)} AND g.us <= {judged_at}"
    return (
        f"r.id <> {text(focal)} AND EXISTS (SELECT 1 FROM {name}_told f WHERE f.id = {text(focal)} "
        f"AND f.us = ({last}) AND NOT f.gone AND f.stale_at > {judged_at} AND {near})"
    )


def polygon(part: Polygon) -> str:
    """Convex rings, counterclockwise: a point is in where it is right of no edge."""
    outer, holes = part
    conditions = [turns(outer, ">=")] + [f"NOT ({turns(hole, '>')})" for hole in holes]
    return " AND ".join(conditions)


def turns(ring: Any, sign: str) -> str:
    edges = zip(ring, [*ring[1:], ring[0]], strict=True)
    return " AND ".join(
        f"({bx} - {ax}) * (r.y - {ay}) - ({by} - {ay}) * (r.x - {ax}) {sign} 0"
        for (ax, ay), (bx, by) in edges
    )


def text(value: object) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


# -- comparing -------------------------------------------------------------------


def agree(one: Counter[Row], other: Counter[Row]) -> bool:
    """Floats may differ a little: a deviation is computed otherwise."""
    if one == other:
        return True
    rows, others = in_order(one), in_order(other)
    return len(rows) == len(others) and all(map(is_alike, rows, others))


def in_order(rows: Counter[Row]) -> list[Row]:
    def rounded(value: object) -> object:
        return float(f"{value:.9g}") if isinstance(value, float) else value

    return sorted(rows.elements(), key=lambda row: [value_order(rounded(value)) for value in row])


def is_alike(one: Row, other: Row) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(one, other, strict=True)
    )
