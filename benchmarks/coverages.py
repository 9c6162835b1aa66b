"""Coverages of each kind that stand still, over objects that all move: the operators of a shard."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.engine import Engine
from benchmarks.report import report
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

REASON = "what a tick costs with many coverages of a kind; each holds about as much as the others do"
# In the unit square, where each holds about one object of ten thousand.
SIDE = 0.01
# Those without end hold what is outside of a frame, or beyond a line, that leaves as little.
RIM, WIDTH = 0.9995, SIDE / 200

Place = tuple[float, float]


def run(
    objects: int = 100_000, queries: int = 10_000, ticks: int = 4, wide_ticks: int = 2
) -> dict[str, float]:  # fmt: skip
    """Seconds of processor time a tick; the first tick fills the answers."""
    rows = []
    for space in ("plane", "globe"):
        for kind, (clause, is_wide) in (KINDS if space == "plane" else GLOBE_KINDS).items():
            engine = Engine(_plan(clause, queries, space == "globe"))
            seconds, updates = [], 0
            for columns in _walk(objects, wide_ticks if is_wide else ticks, space == "globe"):
                started = time.process_time()
                updates += engine.tick(columns)[1]
                seconds.append(time.process_time() - started)
            assert updates > 0, kind
            median = float(np.median(seconds[1:]))
            found = {"space": space, "kind": kind, "wide": is_wide, "seconds a tick": median}
            rows.append(found | {"updates": updates})
            print(f"{space}  {kind}: {median:.3f} s", flush=True)
    report("coverages", REASON, rows, {"objects": objects, "coverages": queries})
    still = [row["seconds a tick"] for row in rows if not row["wide"]]
    return {"slowest over fastest that is not wide": max(still) / min(still)}


def _walk(objects: int, ticks: int, is_globe: bool) -> list[dict[str, np.ndarray]]:  # type: ignore[type-arg]
    rng = np.random.default_rng(5)
    x, y = rng.random((2, objects))
    found = []
    for _ in range(ticks):
        # Spots hold who is exactly there.
        lon, lat = x.round(2), y.round(3)
        if is_globe:
            lon, lat = (lon + EAST).round(2), (lat + NORTH).round(3)
        found.append({"id": np.arange(objects), "x": lon, "y": lat})
        x, y = x + rng.normal(0, 0.002, objects), y + rng.normal(0, 0.002, objects)
    return found


def _square(x: float, y: float) -> str:
    return f"({x} {y}, {x + SIDE} {y}, {x + SIDE} {y + SIDE}, {x} {y + SIDE}, {x} {y})"


# How each is written at a place of the unit square, and whether it has no end.
KINDS: dict[str, tuple[Callable[[float, float], str], bool]] = {
    "rectangle": (lambda x, y: f"RECT ({x}, {y}, {x + SIDE}, {y + SIDE})", False),
    "circle": (lambda x, y: f"CIRCLE ({x}, {y}, {SIDE / 2})", False),
    "polygon": (lambda x, y: f"POLYGON ({_square(x, y)})", False),
    "multipolygon": (lambda x, y: f"MULTIPOLYGON (({_square(x, y)}), ({_square(x + 0.02, y)}))", False),
    "spots": (lambda x, y: f"SPOT ({x} {y}, {y} {x}, {x} {x})", False),
    "corridor": (lambda x, y: f"ON LINE ({x} {y}, {x + SIDE} {y + SIDE}) WITHIN {SIDE / 2}", False),
    "side of a line": (lambda x, y: f"LEFT OF LINE ({x} {RIM}, {x + 1} {RIM})", True),
    "side of a bent line": (
        lambda x, y: f"LEFT OF LINE ({-1 - x} {RIM}, 0.5 {RIM}, {2 + y} {RIM + 0.001})", True,
    ),
    "band": (lambda x, y: _band(y, 0.0), True),
    "band of bent lines": (lambda x, y: _band(y, x / 99), True),
    "exterior of a rectangle": (lambda x, y: f"EXTERIOR OF RECT ({-1 - x}, -1, 2, {RIM})", True),
    "exterior of a circle": (lambda x, y: f"EXTERIOR OF CIRCLE (0.5, 0.5, {0.69 + x / 1e3})", True),
    "exterior of a polygon": (
        lambda x, y: f"EXTERIOR OF POLYGON ((-1 -1, 2 -1, 2 {RIM}, {x} {RIM}, -1 {RIM}, -1 -1))", True,
    ),
    "exterior of a corridor": (
        lambda x, y: f"EXTERIOR OF ON LINE (-1 0.5, {1 + x} 0.5) WITHIN {RIM - 0.5}", True,
    ),
    "exterior of a band": (
        lambda x, y: f"EXTERIOR OF BAND (LINE (0 -1, 1 -1), LINE ({x} {RIM}, {x + 1 + y} {RIM}))", True,
    ),
}  # fmt: skip


def _band(y: float, bend: float) -> str:
    """A strip across the square; with a bend where that is not 0.

    Whole parts of 2 ** 20: lines that are parallel but for a rounding meet, be it far away.
    """
    low, high, rise = (round(v * 2**20) / 2**20 for v in (y - WIDTH, y + WIDTH, bend))
    lines = (f"LINE (-9 {v}, 0.5 {v}, 9 {v + rise})" if rise else f"LINE (0 {v}, 1 {v})" for v in (low, high))
    return f"BAND ({', '.join(lines)})"


# The same on the globe: a square of a degree, where 0.01 degrees are 1112 m, and half as many eastward.
EAST, NORTH, METRES = 10.0, 60.0, 111_195.08 * SIDE
GLOBE_KINDS: dict[str, tuple[Callable[[float, float], str], bool]] = {
    "rectangle": (lambda x, y: KINDS["rectangle"][0](x + EAST, y + NORTH), False),
    "circle": (lambda x, y: f"CIRCLE ({x + EAST}, {y + NORTH}, {METRES / 2} METERS)", False),
    "polygon": (lambda x, y: KINDS["polygon"][0](x + EAST, y + NORTH), False),
    "spot": (lambda x, y: f"SPOT ({x + EAST:.2f} {y + NORTH:.2f})", False),
    "corridor": (lambda x, y: _road(x + EAST, y + NORTH), False),
    "side of a line": (lambda x, y: f"LEFT OF LINE ({EAST + x} {NORTH + RIM}, 12 {NORTH + RIM})", True),
    "exterior of a circle": (
        lambda x, y: f"EXTERIOR OF CIRCLE ({EAST + 0.5}, {NORTH + 0.5}, {60 + x / 100} KM)", True,
    ),
}  # fmt: skip


def _road(lon: float, lat: float) -> str:
    return f"ON LINE ({lon} {lat}, {lon + SIDE} {lat + SIDE}) WITHIN {METRES / 2} METERS"


def _plan(clause: Callable[[float, float], str], queries: int, is_globe: bool) -> Plan:
    places = np.random.default_rng(6).random((queries, 2)).round(2).tolist()
    planner = Planner()
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts "
        f"LOCATION (x, y){' ON GLOBE' if is_globe else ''};\n"
        + "\n".join(
            f"REGISTER QUERY q{i} AS SELECT id FROM cars INSIDE {clause(x, y)};"
            for i, (x, y) in enumerate(places)
        )
    )
    return planner.plan()
