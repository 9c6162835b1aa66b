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
RIM = 0.998

Place = tuple[float, float]


def run(objects: int = 100_000, queries: int = 10_000, wide: int = 1_000, ticks: int = 3) -> dict[str, float]:
    """Seconds of processor time a tick; the first tick fills the answers. Of wide kinds there are fewer."""
    rows = []
    for kind, (clause, is_wide) in KINDS.items():
        n = wide if is_wide else queries
        engine = Engine(_plan(clause, n))
        seconds, updates = [], 0
        for columns in _walk(objects, ticks):
            started = time.process_time()
            updates += engine.tick(columns)[1]
            seconds.append(time.process_time() - started)
        assert updates > 0, kind
        median = float(np.median(seconds[1:]))
        rows.append(
            {"kind": kind, "coverages": n, "wide": is_wide, "seconds a tick": median,
             "for 10,000 coverages": median * 10_000 / n if is_wide else median, "updates": updates}
        )  # fmt: skip
    report("coverages", REASON, rows, {"objects": objects})
    still = [row["seconds a tick"] for row in rows if not row["wide"]]
    return {"slowest over fastest that is not wide": max(still) / min(still)}


def _walk(objects: int, ticks: int) -> list[dict[str, np.ndarray]]:  # type: ignore[type-arg]
    rng = np.random.default_rng(5)
    x, y = rng.random((2, objects))
    found = []
    for _ in range(ticks):
        # Spots hold who is exactly there.
        found.append({"id": np.arange(objects), "x": x.round(2), "y": y.round(3)})
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
    "side of a line": (lambda x, y: f"LEFT OF LINE ({RIM} {x}, {RIM} {-y - 1})", True),
    "side of a bent line": (lambda x, y: f"LEFT OF LINE ({RIM} {x + 2}, {RIM} {-y}, 1.5 {-y - 1})", True),
    "band": (lambda x, y: f"BAND (LINE ({x} 0, {x} 1), LINE ({x + SIDE / 100} 0, {x + SIDE / 100} 1))", True),
    "exterior of a rectangle": (lambda x, y: f"EXTERIOR OF RECT (0, 0, {RIM}, {1 + x})", True),
    "exterior of a circle": (lambda x, y: f"EXTERIOR OF CIRCLE (0.5, 0.5, {0.68 + x / 1e4})", True),
    "exterior of a polygon": (
        lambda x, y: f"EXTERIOR OF POLYGON ((0 0, {RIM} 0, {RIM} {1 + x}, 0 1, 0 0))", True,
    ),
}  # fmt: skip


def _plan(clause: Callable[[float, float], str], queries: int) -> Plan:
    places = np.random.default_rng(6).random((queries, 2)).round(2).tolist()
    planner = Planner()
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);\n"
        + "\n".join(
            f"REGISTER QUERY q{i} AS SELECT id FROM cars INSIDE {clause(x, y)};"
            for i, (x, y) in enumerate(places)
        )
    )
    return planner.plan()
