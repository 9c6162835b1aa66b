"""Random triggers as SQL, and as what brute force understands; and random readings of two streams."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from tests.oracle import globe
from tests.properties.chance import Chance
from tests.properties.globe_worlds import SCENES

COLUMNS = ("id", "ts", "x", "y", "v", "k", "off")
STREAMS = ("e", "f")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
    "<>": operator.ne,
}  # fmt: skip
# A little below edges of tracts, whichever powers of two their sides are.
ORIGINS = (-1.0, -2.0, 14.0, -34.0, 31.0, -1.5, 126.0, -3.0)
Reading = dict[str, Any]
Holds = Callable[[Reading], bool]
HoldsOfTwo = Callable[[Reading, Reading], bool]


@dataclass(frozen=True)
class Pair:
    """A condition on two variables, by number."""

    i: int
    j: int
    holds: HoldsOfTwo


@dataclass(frozen=True)
class Tale:
    """A trigger. `sizes` has 1 for a variable of FOR, or how many a set has; conditions name those of FOR."""

    name: str
    sql: str
    streams: tuple[str, ...]
    sizes: tuple[int, ...]
    own: tuple[tuple[int, Holds], ...]
    pairs: tuple[Pair, ...]  # i = j: any two members of a set
    is_first: bool
    begin: int | None
    end: int | None

    def statements(self) -> list[str]:
        at = "" if self.begin is None else f"AT {self.begin} "
        drop = [] if self.end is None else [f"AT {self.end} DROP TRIGGER {self.name}"]
        return [f"{at}CREATE TRIGGER {self.name} {self.sql}", *drop]


@dataclass(frozen=True)
class World:
    is_integer_key: bool
    tick: int
    readings: dict[str, list[Reading]]
    tales: list[Tale]
    pieces: list[tuple[str, int, int]]  # which readings of which stream are fed, in which order
    is_globe: bool = False


def worlds(chance: Chance, is_near: bool = False, events: int = 0, is_globe: bool = False) -> World:
    """With so many `events` a stream, 0: with few."""
    is_integer_key = chance.flip()
    tick = chance.choice([1, 2])
    origin = (chance.choice(ORIGINS), chance.choice(ORIGINS)) if is_near else (0.0, 0.0)
    readings = {
        name: long_stream(chance.random(), is_integer_key, origin, events)
        if events
        else stream(chance, is_integer_key, origin)
        for name in STREAMS
    }
    if is_globe:
        lay_down(readings, chance.choice(SCENES))
    at = chance.at
    tales = [tale(chance, 0, is_near, is_globe)]
    if chance.flip():
        tales.append(tale(chance.again(at), 1, is_near, is_globe))  # the same with other constants
    if chance.flip():
        tales.append(tale(chance, 2, is_near, is_globe))
    return World(is_integer_key, tick, readings, tales, pieces(chance, readings), is_globe)


def near_worlds(chance: Chance) -> World:
    """All variables are bounded in distance, by whole numbers, and events stand around a place where the
    numbers of tracts change: many on the edge, many exactly as far away as a halo.
    """
    return worlds(chance, is_near=True)


def globe_worlds(chance: Chance) -> World:
    """The same where longitudes meet, at a pole, and all over the globe."""
    return worlds(chance, is_near=True, is_globe=True)


def lay_down(readings: dict[str, list[Reading]], scene: Callable[[int, int], tuple[float, float]]) -> None:
    """Somewhere on the globe."""
    for reading in (reading for rows in readings.values() for reading in rows):
        reading["x"], reading["y"] = scene(int(reading["x"]) % 6, int(reading["y"]) % 6)


def stream(chance: Chance, is_integer_key: bool, origin: tuple[float, float]) -> list[Reading]:
    found, ts = [], 0
    for _ in range(chance.integer(1, 12)):
        ts += chance.choice([0, 1, 0, 1, 2])
        name = chance.choice([1, 2, 3])
        found.append(
            {
                "id": name if is_integer_key else "xyz"[name - 1], "ts": ts,
                "x": origin[0] + chance.integer(0, 3), "y": origin[1] + chance.integer(0, 2),
                "v": chance.choice([1.0, 2.0, 3.5, None]), "k": chance.choice(["A", "B", "A", None]),
                "off": chance.choice([False] * 7 + [True]),
            }
        )  # fmt: skip
    return found


def long_stream(
    chance: Random, is_integer_key: bool, origin: tuple[float, float], events: int
) -> list[Reading]:
    found, ts = [], 0
    for _ in range(events):
        ts += chance.choice([0, 1, 1, 2, 3, 8])
        name = chance.choice([1, 2, 3])
        found.append(
            {
                "id": name if is_integer_key else "xyz"[name - 1], "ts": ts,
                "x": origin[0] + chance.randint(0, 3), "y": origin[1] + chance.randint(0, 2),
                "v": chance.choice([1.0, 2.0, 3.5, None]), "k": chance.choice(["A", "B", "A", None]),
                "off": chance.random() < 1 / 8,
            }
        )  # fmt: skip
    return found


def pieces(chance: Chance, readings: dict[str, list[Reading]]) -> list[tuple[str, int, int]]:
    """Both streams in up to four pieces each, one before the other or in turns."""
    found = []
    for name, rows in readings.items():
        edges = [0, *sorted(chance.some(range(len(rows) + 1), 0, 3)), len(rows)]
        found.append([(name, a, b) for a, b in pairwise(edges) if a < b])
    one, other = found
    if chance.flip():
        return [*one, *other]
    turns = [piece for pair in zip(one, other, strict=False) for piece in pair]
    return [*turns, *one[len(other) :], *other[len(one) :]]


# -- triggers ---------------------------------------------------------------------


def tale(chance: Chance, number: int, is_near: bool = False, is_globe: bool = False) -> Tale:
    sizes = chance.choice([(1, 1), (1, 1, 1), (1,), (2,), (3,), (1, 2), (2, 1), (2, 2), (1, 1, 1, 1)])
    streams = tuple(chance.choice(["e", "e", "f"]) for _ in sizes)
    names = "abcd"[: len(sizes)]
    within = chance.constant([4, 8, 2, 15])
    said, own, pairs = [f"WITHIN {within}"], [], []
    everyone = range(len(sizes))
    for i in everyone:
        for j in everyone:
            if i < j or (i == j and sizes[i] > 1):
                pairs.append(Pair(i, j, lambda a, b: abs(a["ts"] - b["ts"]) <= within))
    for i in chance.some(everyone, 0, 2):
        text, holds = of_one(chance, names[i], is_globe)
        if "INSIDE" in text and any(f"{names[i]}.location" in t for t in said):
            continue  # a variable takes one
        said.append(text)
        own.append((i, holds))
    for _ in range(chance.integer(0, 3)):
        i, j = chance.choice(everyone), chance.choice(everyone)
        metric = METRIC[is_globe]
        found = of_set(chance, names[i], metric) if i == j else of_two(chance, names[i], names[j], metric)
        if i == j and sizes[i] == 1:
            continue
        said.append(found[0])
        pairs.append(Pair(i, j, found[1]))
    if is_near:
        for text, pair in nearness(chance, names, sizes, METRIC[is_globe]):
            said.append(text)
            pairs.append(pair)
    variables = ", ".join(
        f"{'' if n == 1 else f'{n} OF '}{s} AS {name}"
        for name, s, n in zip(names, streams, sizes, strict=True)
    )
    is_first = chance.flip()
    ways = chance.choice(["", "expiry = 'loose'", "index = 'lists'", "expiry = 'loose', index = 'lists'"])
    if is_near:
        ways = ", ".join(filter(None, [ways, chance.choice(["", "route = 'space'", "", "route = 'query'"])]))
    sql = f"FOR {variables} WHEN {' AND '.join(said)} REPORT {'FIRST' if is_first else 'ALL'}"
    begin, end = chance.choice([None, None, 2, 5]), chance.choice([None, None, 7])
    sql += f" WITH ({ways})" if ways else ""
    return Tale(f"t{number}", sql, streams, sizes, tuple(own), tuple(pairs), is_first, begin, end)


def nearness(
    chance: Chance, names: str, sizes: tuple[int, ...], metric: Metric
) -> Iterator[tuple[str, Pair]]:
    """Each variable is near the one before it, and the members of a set are near each other."""
    for i, size in enumerate(sizes):
        for j, asked in ((i - 1, i > 0), (i, size > 1)):
            if asked:
                op, r = chance.choice(["<=", "<"]), chance.constant([2, 1, 3])
                text = names[i] if i == j else f"{names[j]}, {names[i]}"
                written, holds = metric(op, r)
                yield f"DISTANCE({text}) {op} {written}", Pair(j, i, holds)


def of_one(chance: Chance, name: str, is_globe: bool = False) -> tuple[str, Holds]:
    kind = chance.choice(["k", "v"] if is_globe else ["k", "v", "x", "inside"])
    if kind == "k":
        k = chance.constant(["A", "B", "A"])
        return f"{name}.k = '{k}'", lambda a: a["k"] == k
    if kind == "v":
        v = chance.constant([2, 3, 1])
        return f"{name}.v + 1 > {v}", lambda a: a["v"] is not None and a["v"] + 1 > v
    x = chance.constant([2, 1, 3])
    if kind == "inside":
        return f"{name}.location INSIDE (0, 0, {x}, 1)", lambda a: 0 <= a["x"] <= x and 0 <= a["y"] <= 1
    return f"{name}.x <= {x}", lambda a: a["x"] <= x


def of_set(chance: Chance, name: str, metric: Metric) -> tuple[str, HoldsOfTwo]:
    op, r = chance.choice(["<", "<=", ">", ">="]), chance.constant([2, 1, 3])
    written, holds = metric(op, r)
    return f"DISTANCE({name}) {op} {written}", holds


def of_two(chance: Chance, one: str, other: str, metric: Metric) -> tuple[str, HoldsOfTwo]:
    """Of `one` and `other`, in this order."""
    kind = chance.choice(["apart", "distance", "in", "id", "text", "difference", "before", "odd", "equal"])
    op = chance.choice(["<", "<=", ">", ">="])
    holds = OPERATORS[op]
    n = chance.constant([2, 1, 3, 0, -1])
    if kind == "apart":
        return f"{other}.ts - {one}.ts {op} {n}", lambda a, b: holds(b["ts"] - a["ts"], n)
    if kind == "in":
        m = n + chance.constant([1, 0, 3])
        return f"{other}.ts - {one}.ts IN [{n}, {m}]", lambda a, b: n <= b["ts"] - a["ts"] <= m
    if kind == "before":
        return f"{one} BEFORE {other}", lambda a, b: a["ts"] < b["ts"]
    if kind == "distance":
        written, is_so = metric(op, max(n, 1))
        return f"DISTANCE({one}, {other}) {op} {written}", is_so
    if kind == "id":
        way = chance.choice(["<>", "="])
        return f"{one}.id {way} {other}.id", lambda a, b: OPERATORS[way](a["id"], b["id"])
    if kind == "text":
        return f"{one}.k {op} {other}.k", lambda a, b: None not in (a["k"], b["k"]) and holds(a["k"], b["k"])
    if kind == "difference":
        return (
            f"{one}.v - {other}.v {op} {n}",
            lambda a, b: None not in (a["v"], b["v"]) and holds(a["v"] - b["v"], n),
        )
    if kind == "equal":
        return f"{one}.v = {other}.v", lambda a, b: a["v"] is not None and a["v"] == b["v"]
    return (
        f"({one}.x + {other}.x {op} {n} OR {one}.y = {other}.y)",
        lambda a, b: holds(a["x"] + b["x"], n) or a["y"] == b["y"],
    )


# A distance as it is written, and whether two are as near, or as far.
Metric = Callable[[str, int], tuple[str, HoldsOfTwo]]


def on_plane(op: str, r: int) -> tuple[str, HoldsOfTwo]:
    def holds(a: Reading, b: Reading) -> bool:
        return OPERATORS[op](float((a["x"] - b["x"]) ** 2 + (a["y"] - b["y"]) ** 2), r * r)

    return str(r), holds


def on_globe(op: str, r: int) -> tuple[str, HoldsOfTwo]:
    """Between what neighbours have in the worlds of the globe, near and all over."""
    metres = {1: 1_200, 2: 2_500, 3: 4_000_000}[r]

    def holds(a: Reading, b: Reading) -> bool:
        apart = globe.chord(a["x"], a["y"], b["x"], b["y"])
        return OPERATORS[op](apart, globe.chord_of(metres))

    return str(metres), holds


METRIC: dict[bool, Metric] = {False: on_plane, True: on_globe}
