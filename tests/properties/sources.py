"""Random streams in FROM, with their WINDOW, INSIDE and kNN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.oracle import Box, Disc, Everywhere, MovingBox, MovingDisc, Nearest, Shape
from tests.oracle.brackets import Refresh
from tests.oracle.select import Fences, Readings
from tests.oracle.shapes import Changing
from tests.oracle.windows import (
    Extent,
    Focal,
    Lasting,
    Nearby,
    Now,
    Rows,
    RowsPerKey,
    Tessellated,
    Until,
    UntilNext,
    Window,
)
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
    found = Readings(stream, alias, window, shape, fences, text)
    if "nearby" in kinds and chance.integer(1, 5) == 5:
        return nearby(chance, scene, found, kinds)
    if "tessellate" in kinds and chance.integer(1, 6) == 6:
        return tessellate(chance, scene, found, kinds)
    return bracketed(chance, found, kinds) if "brackets" in kinds and chance.integer(1, 4) == 4 else found


def bracketed(chance: Chance, plain: Readings, kinds: frozenset[str]) -> Readings:
    """The same in brackets, maybe looked at now and then."""
    found = with_extent(chance, plain)
    may_be = found.fences is None and not isinstance(found.inside, MovingBox | MovingDisc)
    if "refresh" not in kinds or not may_be or chance.flip():
        return found
    return refreshed(chance, found)


def nearby(chance: Chance, scene: Scene, plain: Readings, kinds: frozenset[str]) -> Readings:
    """Its window around places: written ones, those of the table, or those of moving objects."""
    asked = Nearby(focal_points(chance), chance.choice([1, 1, 2, 3, 50]))
    if chance.flip():
        scope = chance.choice([Now(), Lasting(chance.choice([1, 2, 3, 5]) * SECOND)])
        asked = replace(asked, k=None, d=chance.choice([0.0, 1.0, 2.0, 4.0, 100.0]), scope=scope)
    found = replace(
        plain, window=asked, inside=Everywhere(), inside_sql="", fences=None, is_bracketed=True, refresh=None
    )
    return refreshed(chance, found) if "refresh" in kinds and chance.flip() else found


def tessellate(chance: Chance, scene: Scene, plain: Readings, kinds: frozenset[str]) -> Readings:
    """Its window of tiles: the regions of a table, or the values of a column."""
    n = chance.choice([1, 1, 2, 3, 50])
    if chance.flip():
        asked = Tessellated(n, "(SELECT region FROM fences)", areas=AREAS)
        if chance.flip():
            some = tuple((name, area) for name, area in AREAS if name != "ring")
            asked = Tessellated(n, "(SELECT region FROM fences f WHERE f.name <> 'ring')", areas=some)
    else:
        column = chance.choice(["kind", "id", "speed", "n"])
        asked = Tessellated(n, column, column=column)
    found = replace(
        plain, window=asked, inside=Everywhere(), inside_sql="", fences=None, is_bracketed=True, refresh=None
    )
    return refreshed(chance, found) if "refresh" in kinds and chance.flip() else found


def focal_points(chance: Chance) -> Focal:
    match chance.choice(["table", "table", "stream", "written"]):
        case "table":
            if chance.flip():
                return Focal("(SELECT location FROM sites)", table="sites")
            sql = "(SELECT location FROM sites s WHERE s.size > 0)"
            return Focal(sql, table="sites", where=lambda row: strict(lambda a: a > 0, row["size"]))
        case "stream":
            name = chance.choice(["objects", "others"])
            sql = f"(SELECT location FROM {name} WHERE kind = 'bus')"
            is_bus = lambda row: strict(lambda a: a == "bus", row["kind"])  # noqa: E731, it has no name
            return Focal(sql, stream=name, where=is_bus)
    places = tuple(
        (chance.choice(COORDINATES), chance.choice(COORDINATES)) for _ in range(chance.choice([1, 2, 3]))
    )
    return Focal(f"SPOT ({', '.join(f'{x} {y}' for x, y in places)})", places)


def refreshed(chance: Chance, plain: Readings) -> Readings:
    every, start = chance.choice([1, 2, 3, 5, 7]), chance.choice([0, 0, 0, 1, 4, 100])
    found = replace(plain, refresh=Refresh(every * SECOND, start * SECOND))
    return shifting(chance, found) if chance.flip() else found


def shifting(chance: Chance, plain: Readings) -> Readings:
    """Its extent goes on with each look, if it has one that stands still."""
    extent, refresh = plain.window, plain.refresh
    if not isinstance(extent, Extent) or not isinstance(extent.shape, Box | Disc) or refresh is None:
        return plain
    shift = (chance.choice([-1.0, 0.5, 1.0]), chance.choice([0.0, 0.5]), refresh.every_us)
    return replace(plain, window=replace(extent, shape=Changing(extent.shape, refresh.from_us, shift=shift)))


def with_extent(chance: Chance, plain: Readings) -> Readings:
    """In brackets; a region maybe as the window's extent, which for what moves is another thing."""
    window = plain.window
    if not plain.inside_sql or not isinstance(window, Now | Lasting) or chance.flip():
        return replace(plain, is_bracketed=True)
    extent = Extent(plain.inside, window, plain.inside_sql.removeprefix("INSIDE "))
    return replace(plain, window=extent, inside=Everywhere(), inside_sql="", is_bracketed=True)


def own_window(chance: Chance, scene: Scene, kinds: frozenset[str], alias: str, stream: str) -> Readings:
    """One of several streams: what is asked of it stands in brackets."""
    plain = readings(chance, scene, kinds - {"fences", "brackets"}, alias, [stream])
    return replace(bracketed(chance, plain, kinds), inside=Everywhere(), inside_sql="")


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
