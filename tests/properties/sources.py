"""Random streams in FROM, with their WINDOW, INSIDE and kNN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle import Box, Disc, Everywhere, MovingBox, MovingDisc, Nearest, Shape
from tests.oracle.select import Fences, Readings
from tests.oracle.windows import Lasting, Now, Rows, RowsPerKey, Until, UntilNext, Window
from tests.properties.chance import Chance
from tests.properties.expressions import both
from tests.properties.scenes import AREAS, COORDINATES, SECOND, Scene, literal
from tests.properties.worlds import KEYS

Values = dict[str, Any]

# {h} is the held reading, {n} the next one.
UNTIL: dict[str, Callable[[Values, Values], Any]] = {
    "{n}.speed > {h}speed": lambda h, n: strict(lambda a, b: a > b, n["speed"], h["speed"]),
    "{n}.kind = 'bus'": lambda h, n: strict(lambda a: a == "bus", n["kind"]),
    "{n}.x <> {h}x": lambda h, n: n["x"] != h["x"],
    "{n}.n IS NULL": lambda h, n: n["n"] is None,
    "{n}.speed >= 2 AND {h}kind = 'cab'": lambda h, n: both(
        strict(lambda a: a >= 2, n["speed"]), strict(lambda a: a == "cab", h["kind"])
    ),
    "{n}.ts - {h}ts > 3": lambda h, n: n["ts"] - h["ts"] > 3,
}


def strict(function: Callable[..., Any], *given: Any) -> Any:
    return None if any(value is None for value in given) else function(*given)


def readings(chance: Chance, scene: Scene, kinds: frozenset[str], alias: str, streams: list[str]) -> Readings:
    stream = chance.choice(streams)
    window = windows(chance, kinds)
    text, shape = shapes(chance, scene, kinds)
    fences = None
    if "fences" in kinds and not text and chance.integer(1, 6) == 6:
        fences = Fences("fences", "f", AREAS)
    return Readings(stream, alias, window, shape, fences, text)


def windows(chance: Chance, kinds: frozenset[str]) -> Window:
    offered = [k for k in ("lasting", "rows", "rows per key", "until next", "until") if k in kinds]
    match chance.choice(["now", "now", *offered, *(["lasting"] if "lasting" in kinds else [])]):
        case "lasting":
            return Lasting(chance.choice([1, 2, 3, 5, 8]) * SECOND)
        case "rows":
            return Rows(chance.choice([1, 2, 3, 5, 100]))
        case "rows per key":
            return RowsPerKey(chance.choice([1, 2, 3]))
        case "until next":
            return UntilNext()
        case "until":
            text = chance.choice(sorted(UNTIL))
            said, asked = text.format(n="NEXT", h=""), text.format(n="later", h="held.")
            return Until(UNTIL[text], said, asked)
    return Now()


def shapes(chance: Chance, scene: Scene, kinds: frozenset[str]) -> tuple[str, Shape]:
    """The clause, and what it means."""
    offered = [*(["box", "disc", "polygon"] if "region" in kinds else [])]
    offered += ["moving box", "moving disc"] if "moving" in kinds else []
    form = chance.choice(["everywhere"] * 5 + offered)
    if form == "everywhere":
        return "", Everywhere()
    # Mostly wide, and now and then a line or a point.
    a, b = chance.constant(COORDINATES), chance.constant(COORDINATES)
    c, d = chance.constant((*COORDINATES, *[6.0] * 10)), chance.constant((*COORDINATES, *[-1.0] * 10))
    focal = scene.key_of(chance.constant(KEYS))
    w, h = (chance.constant([4.0, 6.0, 9.0, 2.5, 1.0, 0.0]) for _ in range(2))
    match form:
        case "box":
            return f"INSIDE ({a}, {b}, {c}, {d})", Box(a, b, c, d)
        case "disc":
            return f"INSIDE ({a}, {b}, {w})", Disc(a, b, w)
        case "polygon":
            name, area = chance.choice(AREAS)
            return f"INSIDE {name}_region", area
        case "moving box":
            return f"INSIDE ('M', {literal(focal)}, {w}, {h})", MovingBox(focal, w, h)
        case "moving disc":
            return f"INSIDE ('M', {literal(focal)}, {w})", MovingDisc(focal, w)
    raise ValueError(form)


def neighbours(chance: Chance, scene: Scene) -> Nearest:
    k = chance.constant([1, 2, 3, 50])
    if chance.flip():
        return Nearest(k, chance.constant(COORDINATES), chance.constant(COORDINATES))
    return Nearest(k, focal=scene.key_of(chance.constant(KEYS)))
