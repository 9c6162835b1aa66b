"""Small random worlds on the globe: where longitudes meet, where they are far apart, and somewhere.

As `worlds`, with their places laid down somewhere else, and other shapes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests import oracle
from tests.oracle.globe import Cap, ChangingOnGlobe, MovingArea, MovingCap, MovingOblong, Road, Zone
from tests.properties.worlds import KEYS, SECOND, Ask, World, ask, coordinate, windows, wkt, worlds

Place = tuple[float, float]
# Metres; from nothing to everything. A unit of `coordinate` has about 1.1 km, but for what is spread out.
DISTANCES = (0, 400, 1_112, 2_500, 6_000, 900_000, 21_000_000)
distance = st.sampled_from(DISTANCES)
# Metres around a focal object, with a hole; and degrees a step.
PATCH: Any = (
    [(-1200.0, -1200.0), (3400.0, -1200.0), (3400.0, 2300.0), (0.0, 600.0)],
    [[(1000.0, 0.0), (2300.0, 0.0), (2300.0, 600.0)]],
)
STEPS = (-25.5, -0.02, 0.0, 0.01, 0.5, 102.0)


def at_the_meridian(x: float, y: float) -> Place:
    lon = 179.98 + x / 100
    return round(lon - 360 if lon > 180 else lon, 6), round(-17 + y / 100, 6)


def at_the_pole(x: float, y: float) -> Place:
    return round(-180 + 60 * ((x + 1) % 7), 6), round(min(90, 89.97 + y / 150), 6)


def somewhere(x: float, y: float) -> Place:
    return round(13.4 + x / 60, 6), round(52.5 + y / 100, 6)


def all_over(x: float, y: float) -> Place:
    return round(-180 + (x + 1) * 51, 6), round(-90 + (y + 1) * 25.5, 6)


SCENES = (at_the_meridian, at_the_pole, somewhere, all_over)


@st.composite
def globe_worlds(draw: st.DrawFn, has_nearest: bool = False, has_window: bool = False) -> World:
    scene = draw(st.sampled_from(SCENES))
    world = draw(worlds(has_nearest=has_nearest, kinds=("everywhere",)))
    readings = []
    for reading in world.readings:
        lon, lat = scene(reading.x, reading.y)
        readings.append(replace(reading, x=lon, y=lat, values={**reading.values, "x": lon, "y": lat}))
    asks = [
        draw(globe_ask(n, world.is_integer_key, scene, has_nearest, has_window))
        for n in range(draw(st.integers(1, 4)))
    ]
    return replace(world, readings=readings, asks=asks, is_globe=True)


@st.composite
def globe_ask(
    draw: st.DrawFn, n: int, is_integer: bool, scene: Any, has_nearest: bool, has_window: bool
) -> Ask:
    plain = draw(ask(n, is_integer, ("everywhere",)))
    clause, shape = draw(globe_shapes(is_integer, scene))
    near, nearest = draw(globe_neighbours(is_integer, scene)) if has_nearest else ("", None)
    held, window = draw(windows()) if has_window else ("", None)
    query = replace(plain.query, shapes=[(shape, {})], nearest=nearest, window=window)
    return replace(plain, sql=f"{plain.sql}{clause}{near}{held}", query=query)


@st.composite
def globe_neighbours(draw: st.DrawFn, is_integer: bool, scene: Any) -> tuple[str, oracle.Nearest]:
    k = draw(st.sampled_from([1, 2, 2, 3, 5, 50]))
    if draw(st.booleans()):
        lon, lat = scene(draw(coordinate), draw(coordinate))
        return f" kNN ({k}, {lon}, {lat})", oracle.Nearest(k, lon, lat, is_globe=True)
    focal = draw(st.sampled_from(KEYS))
    key: object = KEYS.index(focal) if is_integer else focal
    text = str(key) if is_integer else f"'{key}'"
    return f" kNN ('M', {k}, {text})", oracle.Nearest(k, focal=key, is_globe=True)


@st.composite
def globe_shapes(draw: st.DrawFn, is_integer: bool, scene: Any) -> tuple[str, oracle.Shape]:
    (lon, lat), (east, north) = (scene(draw(coordinate), draw(coordinate)) for _ in range(2))
    focal, r, h = draw(st.sampled_from(KEYS)), draw(distance), draw(distance)
    key: object = KEYS.index(focal) if is_integer else focal
    text = str(key) if is_integer else f"'{key}'"
    is_outer = draw(st.sampled_from([False, False, True]))
    outer = "EXTERIOR OF " if is_outer else ""
    found: dict[str, tuple[str, oracle.Shape]] = {
        "everywhere": ("", oracle.Everywhere()),
        "cap": (f" INSIDE {outer}CIRCLE ({lon}, {lat}, {r})", Cap(lon, lat, r, is_outer)),
        "zone": (
            f" INSIDE {outer}RECT ({lon}, {lat}, {east}, {north})", Zone(lon, lat, east, north, is_outer),
        ),
        "moving cap": (f" INSIDE ('M', {text}, {r / 1000} KM)", MovingCap(key, r)),
        "moving oblong": (f" INSIDE AROUND ({text}, {r}, {h} METERS)", MovingOblong(key, r, h)),
    }  # fmt: skip
    if (lon, lat) != (east, north) and abs(lon - east) <= 180:
        line, d = [(lon, lat), (east, north)], max(r, 400)
        road = f" INSIDE {outer}ON LINE ({lon} {lat}, {east} {north}) WITHIN {d} METERS"
        found["road"] = (road, Road(line, d, is_outer))
    for name in ("cap", "zone", "road"):
        if name in found:
            found[f"drifting {name}"] = draw(changing_on_globe(*found[name]))
    own = [oracle.Area([PATCH]), oracle.Disc(0, 0, r), oracle.Box(-r / 2, -h / 2, r / 2, h / 2)]
    for said, still in zip((wkt(*PATCH), f"{r} METERS", f"{r}, {h}"), own, strict=True):
        around = oracle.Exterior(still) if is_outer else still
        written = f" INSIDE {outer}AROUND ({text}, {said})"
        found[f"around {said}"] = (written, MovingArea(key, around))
        found[f"growing around {said}"] = draw(changing_on_globe(written, oracle.Around(key, around)))
    return found[draw(st.sampled_from(sorted(found)))]


@st.composite
def changing_on_globe(
    draw: st.DrawFn, text: str, of: oracle.Still | oracle.Around
) -> tuple[str, oracle.Shape]:
    """The same, drifting by degrees, growing and shrinking."""
    shift = scale = None
    middle = middle_of(of)
    if middle is not None and draw(st.booleans()):
        by = draw(st.sampled_from(STEPS)), draw(st.sampled_from(STEPS))
        shift = (*by, int(draw(st.sampled_from([0.3, 1, 2, 7])) * SECOND))
        text += f" SHIFT BY ({by[0]}, {by[1]}, {shift[2] / SECOND} SECONDS)"
    if shift is None or draw(st.booleans()):
        g = draw(st.sampled_from([-0.25, 0.1, 0.5, 1.0]))
        scale = (g, int(draw(st.sampled_from([0.5, 1, 3])) * SECOND))
        text += f" SCALE BY ({g}, {scale[1] / SECOND} SECONDS)"
    begin, until = draw(st.sampled_from([-5, 0, 2.5, 4])), draw(st.sampled_from([None, None, 6, 9]))
    text += f" FROM {begin}" + ("" if until is None else f" UNTIL {until}")
    times = int(begin * SECOND), None if until is None else until * SECOND
    return text, ChangingOnGlobe(of, *times, shift, scale, middle or (0.0, 0.0))


def middle_of(shape: oracle.Still | oracle.Around) -> Place | None:
    """None of what follows an object."""
    match shape:
        case Cap(lon, lat):
            return lon, lat
        case Zone(west, south, east, north):
            lon = west / 2 + east / 2
            return (lon if west <= east else lon - 180 if lon > 0 else lon + 180), south / 2 + north / 2
        case Road(((lon, lat), (east, north))):
            return lon / 2 + east / 2, lat / 2 + north / 2
    return None
