"""Windows around places, of tiles, and of neighbours: shards and merge partitions, beside the usual ways."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks.engine import Whole
from benchmarks.report import report
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

REASON = "milliseconds of processor a tick of windows in brackets, and of another way to the same"
STEP = 0.002
K = 5

F64 = npt.NDArray[np.float64]
Walk = list[F64]


def run(
    objects: int = 100_000, places: int = 10_000, seekers: int = 10_000, ticks: int = 6, looks: int = 3
) -> dict[str, float]:
    """Of each what it costs beside the other way; all objects move in every tick."""
    rows = [
        nearby(objects, places, ticks), neighbours(seekers, ticks), tiles(objects, ticks),
        refresh(objects, 10 * looks + 1),
    ]  # fmt: skip
    report("windows", REASON, rows, {"objects": objects, "places": places, "seekers of NN": seekers})
    return {str(row["window"]): float(row["times the other"]) for row in rows}


def row(window: str, beside: str, mine: float, other: float) -> dict[str, Any]:
    return {
        "window": window, "beside": beside, "ms a tick": 1000 * mine, "the other, ms": 1000 * other,
        "times the other": mine / other,
    }  # fmt: skip


def walk(objects: int, ticks: int, seed: int = 5) -> Walk:
    rng = np.random.default_rng(seed)
    places, found = rng.random((objects, 2)), []
    for _ in range(ticks):
        found.append(places)
        places = places + rng.normal(0, STEP, (objects, 2))
    return found


def plan(queries: list[str], more: str = "") -> Plan:
    planner = Planner()
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, cell BIGINT, speed DOUBLE) KEY id "
        f"TIME ts LOCATION (x, y);\n{more}\n"
        + "\n".join(f"REGISTER QUERY q{i} AS {query};" for i, query in enumerate(queries))
    )
    return planner.plan()


def seconds(engine: Whole, places: Walk) -> tuple[list[float], int]:
    """Of each tick, and how many updates there were. A tick is told with the next one."""
    found, updates = [], 0
    for at, where in enumerate(places):
        x, y = where.T
        cell = np.floor(x * 10) * 100 + np.floor(y * 10)
        columns = {"id": np.arange(len(x)), "x": x, "y": y, "cell": cell.astype(np.int64), "speed": x + y}
        started = time.process_time()
        told = engine.tick(columns)[1]
        found.append(time.process_time() - started)
        updates += told if at > 1 else 0
    return found, updates


def nearby(objects: int, places: int, ticks: int) -> dict[str, Any]:
    """Around the rows of a table, beside as many kNN queries."""
    sites = np.random.default_rng(6).random((places, 2)).tolist()
    written = ", ".join(f"{x!r} {y!r}" for x, y in sites)
    window = Whole(plan([f"SELECT id FROM cars [NEARBY SPOT ({written}) ROWS {K}]"]))
    queries = Whole(plan([f"SELECT id FROM cars kNN ({K}, {x!r}, {y!r})" for x, y in sites]))
    moves = walk(objects, ticks)
    mine, other = (float(np.median(seconds(engine, moves)[0][2:])) for engine in (window, queries))
    return row(f"NEARBY {places:,} places ROWS {K}", f"{places:,} kNN queries", mine, other)


def neighbours(objects: int, ticks: int) -> dict[str, Any]:
    """Of each the nearest other one, beside a k-d tree that is rebuilt, asked and compared at each tick."""
    engine = Whole(
        plan(["SELECT a.id AS one, b.id AS other FROM cars a, cars b WHERE NN(a, b, 'k=1, other')"])
    )
    moves = walk(objects, ticks)
    mine, updates = seconds(engine, moves)
    other, before, changes = [], np.full(objects, -1), 0
    for at, places in enumerate(moves):
        started = time.process_time()
        now = cKDTree(places).query(places, 2)[1][:, 1]
        changed = np.flatnonzero(now != before)
        other.append(time.process_time() - started)
        changes += 2 * len(changed) if 0 < at < len(moves) - 1 else 0
        before = now
    assert updates == changes, (updates, changes)
    return row(f"NN of {objects:,}", "k-d tree", float(np.median(mine[2:])), float(np.median(other[2:])))


def tiles(objects: int, ticks: int) -> dict[str, Any]:
    """The mean of the last 1,000 of each of a hundred tiles, beside queues of NumPy's."""
    engine = Whole(
        plan(["SELECT cell, AVG(speed) AS mean FROM cars [TESSELLATE BY cell ROWS 1000] GROUP BY cell"])
    )
    moves = walk(objects, ticks)
    mine, _ = seconds(engine, moves)
    kept: dict[int, deque[float]] = {}
    other = []
    for places in moves:
        started = time.process_time()
        x, y = places.T
        cell = (np.floor(x * 10) * 100 + np.floor(y * 10)).astype(np.int64)
        order = np.argsort(cell, kind="stable")
        names, starts = np.unique(cell[order], return_index=True)
        for name, some in zip(names.tolist(), np.split((x + y)[order], starts[1:]), strict=True):
            kept.setdefault(name, deque(maxlen=1000)).extend(some[-1000:].tolist())
        means = {name: sum(queue) / len(queue) for name, queue in kept.items()}
        assert means
        other.append(time.process_time() - started)
    return row("TESSELLATE ROWS 1000", "queues", float(np.median(mine[2:])), float(np.median(other[2:])))


def refresh(objects: int, ticks: int) -> dict[str, Any]:
    """Looked at every ten ticks, beside every tick: all of it, since a look tells what has waited."""
    moves = walk(objects // 10, ticks)
    select = "SELECT cell, COUNT(*) AS n FROM cars [EXTENT (0.2, 0.2, 0.8, 0.8) {}] GROUP BY cell"
    engines = [Whole(plan([select.format(scope)])) for scope in ("NOW EVERY 10 SECONDS", "NOW")]
    mine, other = (float(np.sum(seconds(engine, moves)[0][1:])) / (ticks - 1) for engine in engines)
    return row("EVERY 10 ticks", "every tick", mine, other)
