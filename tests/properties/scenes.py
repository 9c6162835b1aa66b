"""Random scenes for whole queries: two streams and a table that changes, from few values on purpose.

Objects stand on borders, share times, say nothing of their speed, go and come back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.oracle import Area, Reading
from tests.oracle.past import Past, Stream, Table
from tests.properties.chance import Chance
from tests.properties.worlds import COORDINATES, FENCES, KEYS, MANY_KEYS, SECOND

COLUMNS = ("id", "ts", "x", "y", "gone", "speed", "kind", "n")
SITES = ("name", "kind", "size", "price", "x", "y")
KINDS = (None, "bus", "cab", "boat")
EXACT = (None, 0.0, 0.5, 1.0, 2.0, 3.0)
# Sums of these depend on the order, if they are not exact.
ROUGH = (None, 0.1, 0.2, 0.3, 0.7, 1e16, -1e16)
AREAS = tuple((name, Area([(outer, holes)])) for name, outer, holes in FENCES)


@dataclass(frozen=True)
class TableChange:
    """What a table holds from a second on, and the statement that makes it so; None: as it is declared."""

    at_s: int | None
    rows: list[dict[str, object]]
    sql: str = ""


@dataclass(frozen=True)
class Scene:
    """Streams `objects` and `others` with the same columns, and a table `sites`."""

    past: Past
    tick_s: int
    is_integer_key: bool
    is_rough: bool
    changes: list[TableChange]

    @property
    def streams(self) -> dict[str, Stream]:
        return self.past.streams

    def key_of(self, name: str) -> object:
        return MANY_KEYS.index(name) if self.is_integer_key else name

    def last_tick(self) -> int | None:
        """Where all ends, if both streams go on as long as the longer."""
        ends = [stream.closed_to for stream in self.streams.values()]
        return max((end for end in ends if end is not None), default=None)


def scenes(
    chance: Chance, may_be_rough: bool = True, has_changes: bool = True, readings: int = 0, span: int = 14
) -> Scene:
    """With so many `readings` a stream, 0: with few; up to the second `span`."""
    is_integer = chance.flip()
    is_rough = may_be_rough and chance.flip()
    tick_s = chance.choice([1, 1, 2, 5])
    speeds = ROUGH if is_rough else EXACT
    streams = {
        name: stream(chance, tick_s, is_integer, speeds, (readings,) if readings else sizes, span)
        for name, sizes in (("objects", (1, 4, 12, *[28] * 9)), ("others", (1, 4, 12, *[20] * 9)))
    }
    changes = sites(chance, has_changes)
    history = [(None if c.at_s is None else c.at_s * SECOND, c.rows) for c in changes]
    past = Past(streams, {"sites": Table(SITES, history)})
    return Scene(past, tick_s, is_integer, is_rough, changes)


def stream(
    chance: Chance, tick_s: int, is_integer: bool, speeds: tuple[object, ...], sizes: tuple[int, ...],
    span: int,
) -> Stream:  # fmt: skip
    """What is found is shown with few readings."""
    seeded = chance.random()
    readings = [reading(seeded, is_integer, speeds, span) for _ in range(chance.choice(sizes))]
    is_in_order = chance.choice([True, True, False])
    if is_in_order:
        readings.sort(key=lambda r: r.ts)
    lateness_s = chance.choice([0, 1, 4] if is_in_order else [20, 20, 4, 0])
    stale_s = chance.choice([None, None, None, None, 3, 1, 0])
    stale_us = None if stale_s is None else stale_s * SECOND
    if stale_us is not None and chance.flip():
        readings = gaps(seeded, readings, tick_s * SECOND, stale_us)
    return Stream(readings, tick_s * SECOND, lateness_s * SECOND, stale_us)


def gaps(chance: Random, readings: list[Reading], tick_us: int, stale_us: int) -> list[Reading]:
    """The same, but each object is silent for about as long as it may be: within a tick, and across ticks."""
    last: dict[object, int] = {}
    found = []
    for r in readings:
        least = chance.choice((0, SECOND // 2, tick_us, stale_us, stale_us, stale_us + tick_us))
        gap = max(1, least + chance.choice((-1, 0, 1, -SECOND // 2)))
        last[r.key] = last[r.key] + gap if r.key in last else chance.randint(-4, 8) * SECOND // 2
        ts = last[r.key]
        found.append(replace(r, ts=ts, values={**r.values, "ts": ts / SECOND}))
    return sorted(found, key=lambda r: r.ts)


def reading(chance: Random, is_integer: bool, speeds: tuple[object, ...], span: int) -> Reading:
    name = chance.choice((*KEYS, *KEYS, "Z", "é"))
    key: object = MANY_KEYS.index(name) if is_integer else name
    ts = chance.randint(-2, span) * SECOND // chance.choice((1, 1, 2))
    x, y = chance.choice(COORDINATES), chance.choice(COORDINATES)
    gone = chance.random() < 1 / 8
    values = {
        "id": key, "ts": ts / SECOND, "x": x, "y": y, "gone": gone, "speed": chance.choice(speeds),
        "kind": chance.choice(KINDS), "n": chance.choice((None, 0, 1, 2, 7)),
    }  # fmt: skip
    return Reading(key, ts, x, y, values, gone)


# -- the table ------------------------------------------------------------------


def site(chance: Random, number: int) -> dict[str, object]:
    return {
        "name": f"s{number}", "kind": chance.choice(KINDS), "size": chance.choice((None, 0, 1, 2)),
        "price": chance.choice((None, 0.5, 1.0, 2.0)), "x": chance.choice(COORDINATES),
        "y": chance.choice(COORDINATES),
    }  # fmt: skip


DELETIONS = {
    "": lambda row: True,
    " WHERE kind = 'bus'": lambda row: row["kind"] == "bus",
    " WHERE size > 0": lambda row: row["size"] is not None and row["size"] > 0,
    " WHERE price IS NULL OR name = 's0'": lambda row: row["price"] is None or row["name"] == "s0",
}


def sites(chance: Chance, has_changes: bool) -> list[TableChange]:
    seeded = chance.random()
    rows = [site(seeded, number) for number in range(chance.choice([0, 1, 3, 4, 5]))]
    changes = [TableChange(None, rows)]
    times = sorted(chance.some(range(15), 0, 3)) if has_changes else []
    for number, at_s in enumerate(times):
        match chance.choice(["delete", "insert", "delete", "insert", "refresh"]):
            case "insert":
                came = [site(seeded, 10 * number + 10 + i) for i in range(chance.integer(1, 2))]
                rows, sql = [*rows, *came], insertion(came)
            case "delete":
                condition = chance.choice(sorted(DELETIONS))
                rows = [row for row in rows if not DELETIONS[condition](row)]
                sql = f"DELETE FROM sites{condition}"
            case "refresh":
                # The file says what it said when the table was declared.
                rows, sql = changes[0].rows, "REFRESH TABLE sites"
        changes.append(TableChange(at_s, rows, sql))
    return changes


def insertion(rows: list[dict[str, object]]) -> str:
    values = ", ".join("(" + ", ".join(literal(row[name]) for name in SITES) + ")" for row in rows)
    return f"INSERT INTO sites ({', '.join(SITES)}) VALUES {values}"


def literal(value: object) -> str:
    """A value as SQL writes it."""
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
