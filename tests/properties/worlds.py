"""Small random worlds: a stream with collisions and borders, and queries of every shape over it.

Drawn from few values on purpose, so that objects stand on borders, share times and come back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests import oracle

SECOND = 1_000_000
KEYS = ("a", "b", "c", "d")
SHAPES = (
    "everywhere", "box", "disc", "moving box", "moving disc", "polygon", "outline", "changing", "around",
    "table",
)  # fmt: skip
# Where the nearest are asked for there are more of them; by their bytes the capital comes first.
MANY_KEYS = (*KEYS, "Z", "é", "aa", "10")
FENCES = [
    ("west", [(0, 0), (3, 0), (3, 3), (0, 3)], []),
    ("east", [(3, 1), (6, 0), (5, 5), (3, 4)], []),
    ("ring", [(0, 0), (6, 0), (6, 6), (0, 6)], [[(2, 2), (4, 2), (4, 4), (2, 4)]]),
]


@dataclass(frozen=True)
class Ask:
    """A query as SQL and as the oracle knows it."""

    sql: str
    query: oracle.Query
    begin_s: int | None
    end_s: int | None

    def statements(self) -> list[str]:
        at = f"AT {self.begin_s} " if self.begin_s is not None else ""
        found = [f"{at}REGISTER QUERY {self.query.name} AS {self.sql}"]
        if self.end_s is not None:
            found.append(f"AT {self.end_s} DROP QUERY {self.query.name}")
        return found


@dataclass(frozen=True)
class World:
    readings: list[oracle.Reading]
    asks: list[Ask]
    tick_s: int
    lateness_s: int
    stale_after_s: int | None
    is_integer_key: bool
    is_globe: bool = False

    def key_text(self, key: str) -> str:
        return str(KEYS.index(key)) if self.is_integer_key else f"'{key}'"


COORDINATES = (-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 5.0, 6.0)
coordinate = st.sampled_from(COORDINATES)
number = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 6.0])

CONDITIONS = {
    "speed > {n}": lambda n: lambda v: None if v["speed"] is None else v["speed"] > n,
    "speed BETWEEN 1 AND {n}": lambda n: lambda v: None if v["speed"] is None else 1 <= v["speed"] <= n,
    "NOT speed <= {n}": lambda n: lambda v: None if v["speed"] is None else not v["speed"] <= n,
    "speed IS NULL OR speed = {n}": lambda n: lambda v: v["speed"] is None or v["speed"] == n,
    "kind = 'bus'": lambda n: lambda v: None if v["kind"] is None else v["kind"] == "bus",
    "kind IN ('bus', 'cab') AND speed < {n}": lambda n: (
        lambda v: _and(
            None if v["kind"] is None else v["kind"] in ("bus", "cab"),
            None if v["speed"] is None else v["speed"] < n,
        )
    ),
    "kind LIKE 'b%' OR x >= {n}": lambda n: (
        lambda v: _or(None if v["kind"] is None else v["kind"].startswith("b"), v["x"] >= n)
    ),
}
SELECTS = {
    "id": lambda v: (v["id"],),
    "id, speed": lambda v: (v["id"], v["speed"]),
    "id, speed > 2 AS fast": lambda v: (v["id"], None if v["speed"] is None else v["speed"] > 2),
    "kind": lambda v: (v["kind"],),
    "x + y AS s, id": lambda v: (v["x"] + v["y"], v["id"]),
    "id, coalesce(kind, 'none') AS kind, 7 AS seven": lambda v: (
        v["id"],
        "none" if v["kind"] is None else v["kind"],
        7,
    ),
}


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _or(a: bool | None, b: bool | None) -> bool | None:
    if a or b:
        return True
    return None if a is None or b is None else False


# With what was before: of a condition or a select list of one reading, another of two.
PREVIOUS_CONDITIONS = {
    "speed > PREVIOUS(speed)": lambda n: lambda v: _more(v["speed"], _before(v, "speed")),
    "PREVIOUS(kind) = 'bus' OR x >= {n}": lambda n: (
        lambda v: _or(None if _before(v, "kind") is None else _before(v, "kind") == "bus", v["x"] >= n)
    ),
    "PREVIOUS(x) IS NULL": lambda n: lambda v: _before(v, "x") is None,
}
PREVIOUS_SELECTS = {
    "id, PREVIOUS(speed) AS was": lambda v: (v["id"], _before(v, "speed")),
    "id, x - PREVIOUS(x) AS dx": lambda v: (
        v["id"],
        None if _before(v, "x") is None else v["x"] - _before(v, "x"),
    ),
    "PREVIOUS(kind) AS was": lambda v: (_before(v, "kind"),),
}
UNTILS = {
    "NEXT.speed > speed": lambda held, later: _more(later["speed"], held["speed"]),
    "NEXT.kind = 'bus'": lambda held, later: None if later["kind"] is None else later["kind"] == "bus",
    "NEXT.x < 2 OR speed IS NULL": lambda held, later: later["x"] < 2 or held["speed"] is None,
    "NEXT.x < x AND kind <> 'bus'": lambda held, later: _and(
        later["x"] < held["x"], None if held["kind"] is None else held["kind"] != "bus"
    ),
}


def _before(values: dict[str, object], name: str) -> Any:
    return values[oracle.PREVIOUS].get(name)  # type: ignore[attr-defined]


def _more(a: float | None, b: float | None) -> bool | None:
    return None if a is None or b is None else a > b


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, oracle.Window | None]:
    kind = draw(st.sampled_from(["now", "time", "time", "rows", "per key", "next", "until", "until"]))
    if kind == "now":
        return "", None
    if kind == "time":
        s = draw(st.sampled_from([0.5, 1, 2, 3, 7, 30]))
        return f" WINDOW {s} SECONDS", oracle.Window(last_us=int(s * SECOND))
    if kind == "next":
        return " WINDOW UNTIL NEXT", oracle.Window(until_next=True)
    if kind == "until":
        sql = draw(st.sampled_from(sorted(UNTILS)))
        return f" WINDOW UNTIL {sql}", oracle.Window(until=UNTILS[sql])
    n = draw(st.sampled_from([1, 2, 3, 10]))
    if kind == "rows":
        return f" WINDOW {n} ROWS", oracle.Window(rows=n)
    return f" WINDOW {n} ROWS PER KEY", oracle.Window(per_key=n)


@st.composite
def worlds(
    draw: st.DrawFn, has_nearest: bool = False, has_window: bool = False, kinds: tuple[str, ...] = SHAPES
) -> World:
    is_integer = draw(st.booleans())
    tick = draw(st.sampled_from([1, 2, 5]))
    lateness = draw(st.sampled_from([0, 0, 1, 4]))
    stale = draw(st.sampled_from([None, None, 0, 1, 3]))
    keys = MANY_KEYS if has_nearest else KEYS
    readings = draw(st.lists(reading(is_integer, keys), min_size=1, max_size=40 if has_nearest else 25))
    if stale is not None and draw(st.booleans()):
        readings = draw(gaps(readings, tick * SECOND, stale * SECOND))
    elif draw(st.booleans()):
        # Mostly in order, as streams are; the rest as it comes.
        readings.sort(key=lambda r: r.ts)
    asks = [
        draw(ask(n, is_integer, kinds, has_nearest=has_nearest, has_window=has_window))
        for n in range(draw(st.integers(1, 4)))
    ]
    return World(readings, asks, tick, lateness, stale, is_integer)


@st.composite
def long_worlds(
    draw: st.DrawFn, readings: int, ticks: int, has_nearest: bool = False, has_window: bool = False
) -> World:
    """As `worlds`, but with many ticks. Not to become simple: what is found is told by its seed."""
    world = draw(worlds(has_nearest, has_window))
    seeded = Random(draw(st.integers(0, 10**6)))
    keys = MANY_KEYS if has_nearest else KEYS
    span = ticks * world.tick_s * 2
    found = [seeded_reading(seeded, world.is_integer_key, keys, span) for _ in range(readings)]
    slack = world.lateness_s * SECOND
    found.sort(key=lambda r: r.ts + seeded.randint(0, slack))
    return replace(world, readings=found)


def seeded_reading(chance: Random, is_integer: bool, keys: tuple[str, ...], span: int) -> oracle.Reading:
    """At a half second up to `span` of them."""
    name = chance.choice(keys)
    key: object = keys.index(name) if is_integer else name
    ts = chance.randint(-3, span) * SECOND // 2
    x, y = chance.choice(COORDINATES), chance.choice(COORDINATES)
    gone = chance.random() < 1 / 8
    values = {
        "id": key, "x": x, "y": y, "gone": gone, "speed": chance.choice([None, 0.0, 1.0, 2.0, 3.0]),
        "kind": chance.choice([None, "bus", "cab", "boat"]),
    }  # fmt: skip
    return oracle.Reading(key, ts, x, y, values, gone)


@st.composite
def gaps(
    draw: st.DrawFn, readings: list[oracle.Reading], tick_us: int, stale_us: int
) -> list[oracle.Reading]:
    """The same, but each object is silent for about as long as it may be: within a tick, and across ticks."""
    least = (0, SECOND // 2, tick_us, stale_us, stale_us, stale_us + tick_us, stale_us + 2 * tick_us)
    gap = st.builds(
        lambda a, b: max(a + b, 1), st.sampled_from(least), st.sampled_from([-1, 0, 1, -SECOND // 2])
    )
    last: dict[object, int] = {}
    found = []
    for r in readings:
        last[r.key] = last[r.key] + draw(gap) if r.key in last else draw(st.integers(-4, 8)) * SECOND // 2
        found.append(replace(r, ts=last[r.key]))
    return sorted(found, key=lambda r: r.ts)


@st.composite
def reading(draw: st.DrawFn, is_integer: bool, keys: tuple[str, ...] = KEYS) -> oracle.Reading:
    name = draw(st.sampled_from(keys))
    key: object = keys.index(name) if is_integer else name
    ts = draw(st.integers(-3, 20)) * SECOND // draw(st.sampled_from([1, 1, 2]))
    x, y = draw(coordinate), draw(coordinate)
    gone = draw(st.sampled_from([False] * 6 + [True]))
    values = {
        "id": key, "x": x, "y": y, "gone": gone,
        "speed": draw(st.sampled_from([None, 0.0, 1.0, 2.0, 3.0])),
        "kind": draw(st.sampled_from([None, "bus", "cab", "boat"])),
    }  # fmt: skip
    return oracle.Reading(key, ts, x, y, values, gone)


@st.composite
def ask(
    draw: st.DrawFn, n: int, is_integer: bool, kinds: tuple[str, ...] = SHAPES, has_nearest: bool = False,
    has_window: bool = False,
) -> Ask:  # fmt: skip
    selects = {**SELECTS, **(PREVIOUS_SELECTS if has_window else {})}
    conditions = {**CONDITIONS, **(PREVIOUS_CONDITIONS if has_window else {})}
    select = draw(st.sampled_from(sorted(selects)))
    shown = selects[select]
    where_sql, where = "", None
    if draw(st.booleans()):
        template = draw(st.sampled_from(sorted(conditions)))
        constant = draw(number)
        where_sql = template.format(n=constant)
        where = conditions[template](constant)
    clause, shapes, has_table = draw(shape(is_integer, kinds))
    tables = ""
    if has_table:
        tables = ", fences f"
        where_sql = " AND ".join([*([f"({where_sql})"] if where_sql else []), "o.location INSIDE f.region"])
        select, plain = f"{select}, f.name AS fence", shown
        shown = lambda v: (*plain(v), v["name"])  # noqa: E731
    near, nearest = "", None
    if has_nearest and not has_table and draw(st.sampled_from([True, True, True, False])):
        near, nearest = draw(neighbours(is_integer))
    held, window = draw(windows()) if has_window else ("", None)
    where_text = f" WHERE {where_sql}" if where_sql else ""
    sql = f"SELECT {select} FROM objects o{tables}{where_text}{clause}{near}{held}"
    begin = draw(st.sampled_from([None, None, None, 2, 5, 9]))
    end = draw(st.sampled_from([None, None, None, 4, 10]))
    if begin is not None and end is not None and end <= begin:
        end = None
    kwargs = {} if where is None else {"where": where}
    query = oracle.Query(
        f"q{n}", shapes, select=shown,
        begin=None if begin is None else begin * SECOND, end=None if end is None else end * SECOND,
        nearest=nearest, window=window, **kwargs,
    )  # fmt: skip
    return Ask(sql, query, begin, end)


@st.composite
def neighbours(draw: st.DrawFn, is_integer: bool) -> tuple[str, oracle.Nearest]:
    k = draw(st.sampled_from([1, 2, 2, 3, 5, 50]))
    if draw(st.booleans()):
        x, y = draw(coordinate), draw(coordinate)
        return f" kNN ({k}, {x}, {y})", oracle.Nearest(k, x, y)
    focal = draw(st.sampled_from(KEYS))
    key: object = KEYS.index(focal) if is_integer else focal
    return f" kNN ('M', {k}, {key if is_integer else repr(key)})", oracle.Nearest(k, focal=key)


# Around a focal object, not in its middle.
PATCH: Any = ([(-1.0, -1.0), (3.0, -1.0), (3.0, 2.0), (0.0, 0.5)], [[(1.0, 0.0), (2.0, 0.0), (2.0, 0.5)]])
WEDGE = oracle.Both(oracle.Side([(0.0, 0.0), (1.0, 0.0)], 1), oracle.Side([(0.0, 0.0), (1.0, 2.0)], -1))
BENDS = [
    [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0)],
    [(1.0, 3.0), (1.0, 1.0), (3.0, 0.0), (3.0, -1.0)],
    [(0.0, 1.0), (4.0, 1.0)],
    [(3.0, 3.0), (0.0, 0.0)],
]


def corners(line: list[tuple[float, float]]) -> str:
    return "LINE (" + ", ".join(f"{x} {y}" for x, y in line) + ")"


@st.composite
def outlines(draw: st.DrawFn) -> tuple[str, list[object]]:
    """Lines, bands, corridors, spots, and exteriors of all that have an inside."""
    text, meant, _ = draw(coverages())
    return f" INSIDE {text}", [(meant, {})]


@st.composite
def coverages(draw: st.DrawFn) -> tuple[str, oracle.Still, bool]:
    """And whether it has a middle to grow around."""
    line, (a, b), r = draw(st.sampled_from(BENDS)), (draw(coordinate), draw(coordinate)), draw(number)
    found: list[tuple[str, oracle.Still]] = [
        (f"LEFT OF {corners(line)}", oracle.Side(line, 1)),
        (f"RIGHT OF {corners(line)}", oracle.Side(line, -1)),
        (f"ON {corners(line)} WITHIN {r}", oracle.Corridor(line, r)),
        (f"RECT ({a}, {b}, {a + r}, {b + 2})", oracle.Box(a, b, a + r, b + 2)),
        (f"CIRCLE ({a}, {b}, {r})", oracle.Disc(a, b, r)),
        ("BAND (LINE (0 0, 1 0), LINE (0 0, 1 2))", WEDGE),
        (wkt(*FENCES[1][1:]), oracle.Area([FENCES[1][1:]])),
        (f"ON {corners(line)}", oracle.Side(line, 0)),
        (f"SPOT ({a} {b}, 1 1, 2 0)", oracle.Spots([(a, b), (1.0, 1.0), (2.0, 0.0)])),
    ]
    has_inside = 7
    which = draw(st.integers(0, len(found) - 1))
    text, meant = found[which]
    if which < has_inside and draw(st.booleans()):
        text, meant = f"EXTERIOR OF {text}", oracle.Exterior(meant)  # type: ignore[arg-type]
    return text, meant, which in (2, 3, 4, 6, 8)


@st.composite
def changing(draw: st.DrawFn, focal: object, key: str) -> tuple[str, oracle.Shape]:
    """What drifts, grows and shrinks by itself; some of it around a focal object."""
    text, meant, can_grow = draw(coverages())
    around: oracle.Still | oracle.Around = meant
    if draw(st.sampled_from([False, False, True])):
        r = draw(number)
        text, around, can_grow = f"AROUND ({key}, {r})", oracle.Around(focal, oracle.Disc(0, 0, r)), True
    can_shift = not isinstance(around, oracle.Around)
    shift = scale = None
    if can_shift and (not can_grow or draw(st.booleans())):
        dx, dy = draw(st.sampled_from([-1.0, 0.0, 0.5, 1.0])), draw(st.sampled_from([-0.1, 0.0, 1.0]))
        shift = (dx, dy, int(draw(st.sampled_from([0.3, 1, 2, 7])) * SECOND))
        text += f" SHIFT BY ({dx}, {dy}, {shift[2] / SECOND} SECONDS)"
    if can_grow and (shift is None or draw(st.booleans())):
        g = draw(st.sampled_from([-0.25, 0.1, 0.5, 1.0]))
        scale = (g, int(draw(st.sampled_from([0.5, 1, 3])) * SECOND))
        text += f" SCALE BY ({g}, {scale[1] / SECOND} SECONDS)"
    begin, until = draw(st.sampled_from([-5, 0, 2.5, 4])), draw(st.sampled_from([None, None, 6, 9]))
    text += f" FROM {begin}" + ("" if until is None else f" UNTIL {until}")
    end = None if until is None else until * SECOND
    return text, oracle.Changing(around, int(begin * SECOND), end, shift, scale)


@st.composite
def shape(draw: st.DrawFn, is_integer: bool, kinds: tuple[str, ...]) -> tuple[str, list[object], bool]:
    kind = draw(st.sampled_from(kinds))
    if kind == "everywhere":
        return "", [(oracle.Everywhere(), {})], False
    if kind == "table":
        return "", [(oracle.Area([(outer, holes)]), {"name": name}) for name, outer, holes in FENCES], True
    a, b, c, d = (draw(coordinate) for _ in range(4))
    if kind == "box":
        return f" INSIDE ({a}, {b}, {c}, {d})", [(oracle.Box(a, b, c, d), {})], False
    if kind == "disc":
        r = draw(number)
        return f" INSIDE ({a}, {b}, {r})", [(oracle.Disc(a, b, r), {})], False
    if kind == "outline":
        return *draw(outlines()), False
    if kind == "polygon":
        name, outer, holes = draw(st.sampled_from(FENCES))
        return f" INSIDE {name}_region", [(oracle.Area([(outer, holes)]), {})], False
    focal = draw(st.sampled_from(KEYS))
    key: object = KEYS.index(focal) if is_integer else focal
    text = str(key) if is_integer else f"'{key}'"
    if kind == "changing":
        said, meant = draw(changing(key, text))
        return f" INSIDE {said}", [(meant, {})], False
    if kind == "around":
        if draw(st.booleans()):
            return (
                f" INSIDE AROUND ({text}, {wkt(*PATCH)})",
                [(oracle.Around(key, oracle.Area([PATCH])), {})],
                False,
            )
        patch, r = oracle.Exterior(oracle.Area([PATCH])), draw(number)
        if draw(st.booleans()):
            return (
                f" INSIDE EXTERIOR OF AROUND ({text}, {wkt(*PATCH)})",
                [(oracle.Around(key, patch), {})],
                False,
            )
        if draw(st.booleans()):
            outer = oracle.Exterior(oracle.Box(-r / 2, -1.0, r / 2, 1.0))
            return f" INSIDE EXTERIOR OF AROUND ({text}, {r}, 2)", [(oracle.Around(key, outer), {})], False
        outer = oracle.Exterior(oracle.Disc(0, 0, r))
        return f" INSIDE EXTERIOR OF AROUND ({text}, {r})", [(oracle.Around(key, outer), {})], False
    if kind == "moving far":
        return f" INSIDE ('M', {text}, 3.5)", [(oracle.MovingDisc(key, 3.5), {})], False
    w, h = draw(number), draw(number)
    if kind == "moving box":
        return f" INSIDE ('M', {text}, {w}, {h})", [(oracle.MovingBox(key, w, h), {})], False
    return f" INSIDE ('M', {text}, {w})", [(oracle.MovingDisc(key, w), {})], False


def wkt(outer: list[tuple[float, float]], holes: list[list[tuple[float, float]]]) -> str:
    rings = [", ".join(f"{x} {y}" for x, y in [*ring, ring[0]]) for ring in (outer, *holes)]
    return "POLYGON (" + ", ".join(f"({ring})" for ring in rings) + ")"
