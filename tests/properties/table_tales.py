"""Tables of regions that change, over small random worlds: as SQL, and as the oracle knows it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import strategies as st

from tests import oracle
from tests.oracle.oracle import tick_end
from tests.properties.worlds import SECOND, Ask, World, windows, wkt, worlds

NAMES = ("a", "b", "c")
SHAPES = [
    ([(0, 0), (3, 0), (3, 3), (0, 3)], []),
    ([(3, 1), (6, 0), (5, 5), (3, 4)], []),
    ([(0, 0), (6, 0), (6, 6), (0, 6)], [[(2, 2), (4, 2), (4, 4), (2, 4)]]),
]
SELECTS = {
    "o.id, f.name AS fence": lambda v: (v["id"], v["name"]),
    "o.id, f.name AS fence, level": lambda v: (v["id"], v["name"], v["level"]),
    "o.id": lambda v: (v["id"],),
    "f.level, o.kind": lambda v: (v["level"], v["kind"]),
    "name, o.id, level + speed AS s": lambda v: (
        v["name"],
        v["id"],
        None if v["level"] is None or v["speed"] is None else v["level"] + v["speed"],
    ),
}
CONDITIONS = {
    "": lambda v: True,
    "speed > level AND ": lambda v: (
        None if v["level"] is None or v["speed"] is None else v["speed"] > v["level"]
    ),
    "level IS NULL AND ": lambda v: v["level"] is None,
    "o.kind = 'bus' AND ": lambda v: None if v["kind"] is None else v["kind"] == "bus",
}


@dataclass(frozen=True)
class Row:
    name: str
    shape: int
    level: int | None

    def sql(self) -> str:
        return f"('{self.name}', {'NULL' if self.level is None else self.level}, {wkt(*SHAPES[self.shape])})"

    def feature(self) -> dict[str, object]:
        outer, holes = SHAPES[self.shape]
        rings = [[*ring, ring[0]] for ring in (outer, *holes)]
        return {
            "type": "Feature", "properties": {"name": self.name, "level": self.level},
            "geometry": {"type": "Polygon", "coordinates": rings},
        }  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """What becomes of some rows: another, or none. `at` is a time in seconds, None: at once."""

    at: int | None
    rows: dict[str, Row | None]
    is_whole: bool  # all rows go before they come, whether they change or not

    def statements(self, before: dict[str, Row]) -> list[str]:
        at = "" if self.at is None else f"AT {self.at} "
        going = [repr(n) for n in self.rows if n in before and self.touches(n, before)]
        coming = [r.sql() for n, r in self.rows.items() if r is not None and self.touches(n, before)]
        found = [f"{at}DELETE FROM fences WHERE name IN ({', '.join(going)})"] if going else []
        return found + ([f"{at}INSERT INTO fences VALUES {', '.join(coming)}"] if coming else [])

    def touches(self, name: str, before: dict[str, Row]) -> bool:
        return self.is_whole or before.get(name) != self.rows[name]


@dataclass
class Life:
    row: Row
    begin: int | None
    end: int | None = None


class Fences:
    """The table, told row by row: from which tick to which each was there."""

    def __init__(self, rows: list[Row], tick_us: int):
        self.tick_us = tick_us
        self.lives = [Life(row, None) for row in rows]
        self.now = {row.name: row for row in rows}

    def edit(self, edit: Edit, earliest: int | None) -> list[str]:
        """The statements; they hold from `earliest` on, if that is later than they say."""
        statements = edit.statements(self.now)
        at = None if edit.at is None else tick_end(edit.at * SECOND, self.tick_us)
        if earliest is not None:
            at = earliest if at is None else max(at, earliest)
        for name, row in edit.rows.items():
            if not edit.touches(name, self.now):
                continue
            if name in self.now:
                life = next(x for x in self.lives if x.row.name == name and x.end is None)
                life.end = NEVER_WAS if at is None else at
                del self.now[name]
            if row is not None:
                ends = [x.end for x in self.lives if x.row.name == name and x.end is not None]
                self.lives.append(Life(row, max([*([] if at is None else [at]), *ends], default=None)))
                self.now[name] = row
        return statements

    def of(self, query: oracle.Query) -> oracle.Query:
        shapes = [
            (oracle.Area([SHAPES[x.row.shape]]), {"name": x.row.name, "level": x.row.level})
            for x in self.lives
        ]
        return replace(query, shapes=shapes, lives=[(x.begin, x.end) for x in self.lives])


# Before all ticks: a row that is deleted before anything has happened.
NEVER_WAS = -(10**15)


@dataclass(frozen=True)
class TableTale:
    world: World
    rows: list[Row]
    edits: list[Edit]
    has_window: bool = False  # or asks what was before

    def write(self, path: Path) -> Path:
        features = [row.feature() for row in self.rows]
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        return path


row_of = st.builds(Row, st.just(""), st.integers(0, 2), st.sampled_from([None, 0, 1, 2]))


@st.composite
def edit(draw: st.DrawFn, has_time: bool) -> Edit:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    rows = {n: draw(st.one_of(st.none(), row_of.map(lambda r, n=n: replace(r, name=n)))) for n in names}
    at = draw(st.integers(-2, 16)) if has_time else draw(st.sampled_from([None, None, 3, 8]))
    return Edit(at, rows, draw(st.booleans()))


@st.composite
def asked(draw: st.DrawFn, n: int, has_window: bool) -> Ask:
    select, where = draw(st.sampled_from(sorted(SELECTS))), draw(st.sampled_from(sorted(CONDITIONS)))
    begin = draw(st.sampled_from([None, None, None, 2, 5]))
    end = draw(st.sampled_from([None, None, None, 8, 10]))
    held, window = draw(windows()) if has_window else ("", None)
    sql = f"SELECT {select} FROM objects o, fences f WHERE {where}o.location INSIDE f.region{held}"
    query = oracle.Query(
        f"t{n}", [], select=SELECTS[select], where=CONDITIONS[where],
        begin=None if begin is None else begin * SECOND, end=None if end is None else end * SECOND,
        window=window,
    )  # fmt: skip
    return Ask(sql, query, begin, end)


@st.composite
def table_tales(draw: st.DrawFn, has_times: bool = True, has_window: bool = False) -> TableTale:
    world = draw(worlds(has_window=has_window))
    kept = [a for a in world.asks if "fences f" not in a.sql][:1]
    asks = [*kept, *(draw(asked(n, has_window)) for n in range(draw(st.integers(1, 3))))]
    rows = [replace(draw(row_of), name=n) for n in NAMES if draw(st.booleans())]
    edits = draw(st.lists(edit(has_times), max_size=5))
    return TableTale(replace(world, asks=asks), rows or [Row("a", 0, 1)], edits, has_window)
