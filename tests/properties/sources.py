"""Random streams in FROM, with their WINDOW, INSIDE and kNN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.oracle import Box, Disc, Everywhere, MovingBox, MovingDisc, Nearest, Shape
from tests.oracle.select import Fences, Readings
from tests.oracle.windows import Lasting, Now, Rows, RowsPerKey, Until, UntilNext, Window
from tests.properties.expressions import both
from tests.properties.scenes import AREAS, SECOND, Scene, literal
from tests.properties.worlds import KEYS, coordinate, number

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


@st.composite
def readings(
    draw: st.DrawFn, scene: Scene, kinds: frozenset[str], alias: str, streams: list[str]
) -> Readings:
    stream = draw(st.sampled_from(streams))
    window = draw(windows(kinds))
    text, shape = draw(shapes(scene, kinds))
    fences = None
    if "fences" in kinds and not text and draw(st.integers(1, 6)) == 6:
        fences = Fences("fences", "f", AREAS)
    return Readings(stream, alias, window, shape, fences, text)


@st.composite
def windows(draw: st.DrawFn, kinds: frozenset[str]) -> Window:
    offered = [k for k in ("lasting", "rows", "rows per key", "until next", "until") if k in kinds]
    match draw(st.sampled_from(["now", "now", *offered, *(["lasting"] if "lasting" in kinds else [])])):
        case "lasting":
            return Lasting(draw(st.sampled_from([1, 2, 3, 5, 8])) * SECOND)
        case "rows":
            return Rows(draw(st.sampled_from([1, 2, 3, 5, 100])))
        case "rows per key":
            return RowsPerKey(draw(st.sampled_from([1, 2, 3])))
        case "until next":
            return UntilNext()
        case "until":
            text = draw(st.sampled_from(sorted(UNTIL)))
            said, asked = text.format(n="NEXT", h=""), text.format(n="later", h="held.")
            return Until(UNTIL[text], said, asked)
    return Now()


@st.composite
def shapes(draw: st.DrawFn, scene: Scene, kinds: frozenset[str]) -> tuple[str, Shape]:
    """The clause, and what it means."""
    offered = [*(["box", "disc", "polygon"] if "region" in kinds else [])]
    offered += ["moving box", "moving disc"] if "moving" in kinds else []
    form = draw(st.sampled_from(["everywhere"] * 3 + offered))
    a, b, c, d = (draw(coordinate) for _ in range(4))
    focal = scene.key_of(draw(st.sampled_from(KEYS)))
    w, h = draw(number), draw(number)
    match form:
        case "box":
            return f"INSIDE ({a}, {b}, {c}, {d})", Box(a, b, c, d)
        case "disc":
            return f"INSIDE ({a}, {b}, {w})", Disc(a, b, w)
        case "polygon":
            name, area = draw(st.sampled_from(AREAS))
            return f"INSIDE {name}_region", area
        case "moving box":
            return f"INSIDE ('M', {literal(focal)}, {w}, {h})", MovingBox(focal, w, h)
        case "moving disc":
            return f"INSIDE ('M', {literal(focal)}, {w})", MovingDisc(focal, w)
    return "", Everywhere()


@st.composite
def neighbours(draw: st.DrawFn, scene: Scene) -> Nearest:
    k = draw(st.sampled_from([1, 2, 3, 50]))
    if draw(st.booleans()):
        return Nearest(k, draw(coordinate), draw(coordinate))
    return Nearest(k, focal=scene.key_of(draw(st.sampled_from(KEYS))))
