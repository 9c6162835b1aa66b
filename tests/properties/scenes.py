"""Random scenes for whole queries: two streams and a table that changes, from few values on purpose.

Objects stand on borders, share times, say nothing of their speed, go and come back.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.oracle import Area, Reading
from tests.oracle.past import Past, Stream, Table
from tests.properties.worlds import FENCES, KEYS, MANY_KEYS, SECOND, coordinate

COLUMNS = ("id", "ts", "x", "y", "gone", "speed", "kind", "n")
SITES = ("name", "kind", "size", "price")
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


@st.composite
def scenes(draw: st.DrawFn, may_be_rough: bool = True, has_changes: bool = True) -> Scene:
    is_integer = draw(st.booleans())
    is_rough = may_be_rough and draw(st.booleans())
    tick_s = draw(st.sampled_from([1, 2, 5]))
    speeds = ROUGH if is_rough else EXACT
    streams = {
        name: draw(stream(tick_s, is_integer, speeds, size))
        for name, size in (("objects", 25), ("others", 12))
    }
    changes = draw(sites(has_changes))
    history = [(None if c.at_s is None else c.at_s * SECOND, c.rows) for c in changes]
    past = Past(streams, {"sites": Table(SITES, history)})
    return Scene(past, tick_s, is_integer, is_rough, changes)


@st.composite
def stream(draw: st.DrawFn, tick_s: int, is_integer: bool, speeds: tuple[object, ...], size: int) -> Stream:
    readings = draw(st.lists(reading(is_integer, speeds), min_size=1, max_size=size))
    if draw(st.booleans()):
        # Mostly in order, as streams are; the rest as it comes.
        readings.sort(key=lambda r: r.ts)
    stale_s = draw(st.sampled_from([None, None, 0, 1, 3]))
    stale_us = None if stale_s is None else stale_s * SECOND
    return Stream(readings, tick_s * SECOND, draw(st.sampled_from([0, 1, 4, 20])) * SECOND, stale_us)


@st.composite
def reading(draw: st.DrawFn, is_integer: bool, speeds: tuple[object, ...]) -> Reading:
    name = draw(st.sampled_from((*KEYS, *KEYS, "Z", "é")))
    key: object = MANY_KEYS.index(name) if is_integer else name
    ts = draw(st.integers(-2, 14)) * SECOND // draw(st.sampled_from([1, 1, 2]))
    x, y = draw(coordinate), draw(coordinate)
    gone = draw(st.sampled_from([False] * 7 + [True]))
    values = {
        "id": key, "ts": ts / SECOND, "x": x, "y": y, "gone": gone, "speed": draw(st.sampled_from(speeds)),
        "kind": draw(st.sampled_from(KINDS)), "n": draw(st.sampled_from([None, 0, 1, 2, 7])),
    }  # fmt: skip
    return Reading(key, ts, x, y, values, gone)


# -- the table ------------------------------------------------------------------


@st.composite
def site(draw: st.DrawFn, number: int) -> dict[str, object]:
    return {
        "name": f"s{number}", "kind": draw(st.sampled_from(KINDS)),
        "size": draw(st.sampled_from([None, 0, 1, 2])), "price": draw(st.sampled_from([None, 0.5, 1.0, 2.0])),
    }  # fmt: skip


DELETIONS = {
    "": lambda row: True,
    " WHERE kind = 'bus'": lambda row: row["kind"] == "bus",
    " WHERE size > 0": lambda row: row["size"] is not None and row["size"] > 0,
    " WHERE price IS NULL OR name = 's0'": lambda row: row["price"] is None or row["name"] == "s0",
}


@st.composite
def sites(draw: st.DrawFn, has_changes: bool) -> list[TableChange]:
    rows = [draw(site(number)) for number in range(draw(st.integers(0, 4)))]
    changes = [TableChange(None, rows)]
    times = sorted(draw(st.lists(st.integers(0, 14), max_size=3))) if has_changes else []
    for number, at_s in enumerate(times):
        if draw(st.booleans()):
            came = [draw(site(10 * number + 10 + i)) for i in range(draw(st.integers(1, 2)))]
            rows, sql = [*rows, *came], insertion(came)
        else:
            condition = draw(st.sampled_from(sorted(DELETIONS)))
            rows = [row for row in rows if not DELETIONS[condition](row)]
            sql = f"DELETE FROM sites{condition}"
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
