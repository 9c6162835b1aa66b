"""The same city in metres on a plane and in degrees on the globe: ranges, ranges that move, the nearest."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.engine import Engine
from benchmarks.report import report
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.simulate.globe import on_globe

REASON = "what the globe costs: the same objects, queries and answers on a plane and on the globe"
SIDE_M, STEP_M, RADIUS_M, K = 10_000.0, 20.0, 56.0, 5
AT = (8.2146, 53.1435)

Columns = dict[str, np.ndarray]  # type: ignore[type-arg]


def run(objects: int = 100_000, queries: int = 10_000, ticks: int = 7) -> dict[str, float]:
    """Seconds of processor time a tick, the two in turns; the first tick fills the answers."""
    rows, ratios = [], {}
    for what in ("circles", "circles that move", "the nearest"):
        engines = {space: Engine(_plan(what, queries, space == "globe")) for space in ("plane", "globe")}
        seconds: dict[str, list[float]] = {space: [] for space in engines}
        updates: dict[str, int] = dict.fromkeys(engines, 0)
        for x, y in _walk(objects, ticks):
            for space, engine in engines.items():
                columns = _columns(x, y, space == "globe")
                started = time.process_time()
                updates[space] += engine.tick(columns)[1]
                seconds[space].append(time.process_time() - started)
        # Straight in degrees is not straight in metres: few of those on a border are on its other side. (What
        # is nearest is told by merge partitions, which are not here.)
        assert abs(updates["plane"] - updates["globe"]) <= 10 + 0.01 * updates["plane"]
        plane, globe = (float(np.median(seconds[space][2:])) for space in ("plane", "globe"))
        ratios[what] = globe / plane
        rows.append(
            {"what": what, "plane, seconds a tick": plane, "globe": globe, "times the plane": globe / plane}
        )
    facts = {"objects": objects, "queries": queries, "most times the plane": max(ratios.values())}
    report("globe", REASON, rows, facts)
    return {"ratio": max(ratios.values())}


def _walk(objects: int, ticks: int) -> list[tuple[np.ndarray, np.ndarray]]:  # type: ignore[type-arg]
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-SIDE_M / 2, SIDE_M / 2, (2, objects))
    found = []
    for _ in range(ticks):
        found.append((x, y))
        x, y = x + rng.normal(0, STEP_M, objects), y + rng.normal(0, STEP_M, objects)
    return found


def _columns(x: np.ndarray, y: np.ndarray, is_globe: bool) -> Columns:  # type: ignore[type-arg]
    x, y = on_globe(x, y, AT) if is_globe else (x, y)
    return {"id": np.arange(len(x)), "x": x, "y": y}


def _plan(what: str, queries: int, is_globe: bool) -> Plan:
    rng = np.random.default_rng(6)
    x, y = rng.uniform(-SIDE_M / 2, SIDE_M / 2, (2, queries))
    x, y = on_globe(x, y, AT) if is_globe else (x, y)
    clauses = {
        "circles": lambda i: f"INSIDE ({float(x[i])!r}, {float(y[i])!r}, {RADIUS_M})",
        "circles that move": lambda i: f"INSIDE ('M', {i}, {RADIUS_M})",
        "the nearest": lambda i: f"kNN ({K}, {float(x[i])!r}, {float(y[i])!r})",
    }
    clause = clauses[what]
    planner = Planner()
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts "
        f"LOCATION (x, y){' ON GLOBE' if is_globe else ''};\n"
        + "\n".join(f"REGISTER QUERY q{i} AS SELECT id FROM cars {clause(i)};" for i in range(queries))
    )
    return planner.plan()
