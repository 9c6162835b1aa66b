"""Windows around places, of tiles, and of neighbours: shards and merge partitions, beside the usual ways."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.engine import Whole
from benchmarks.report import report
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

REASON = "milliseconds of processor a tick of windows in brackets, and of another way to the same"
STEP = 0.002
K = 5
# By how much of the other's time each may take.
TARGETS = {"nearby": 1.6, "refresh": 1.05}

F64, I64 = npt.NDArray[np.float64], npt.NDArray[np.int64]
Walk = list[F64]
Row = tuple[Any, ...]


def run(
    objects: int = 100_000, places: int = 10_000, seekers: int = 10_000, ticks: int = 6, looks: int = 3
) -> dict[str, float]:
    """Of each what it costs beside the other way; all objects move in every tick."""
    rows = [
        nearby(objects, places, ticks), neighbours(seekers, ticks), tiles(objects, ticks),
        refresh(objects, 10 * looks + 1),
    ]  # fmt: skip
    report("windows", REASON, rows, {"objects": objects, "places": places, "seekers of NN": seekers})
    pictures.windows(rows)
    return {str(row["window"]): float(row["times the other"]) for row in rows}


def row(window: str, beside: str, mine: float, other: float, most: float | None = None) -> dict[str, Any]:
    return {
        "window": window, "beside": beside, "ms a tick": 1000 * mine, "the other, ms": 1000 * other,
        "times the other": mine / other, "at most": most or "",
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


def cells(places: F64) -> I64:
    """A hundred tiles, or so."""
    x, y = places.T
    return (np.floor(x * 10) * 100 + np.floor(y * 10)).astype(np.int64)


def one_tick(engine: Whole, where: F64) -> tuple[float, int]:
    """What a tick costs of the processor, and how many updates come with it: those of the tick before."""
    x, y = where.T
    columns = {"id": np.arange(len(x)), "x": x, "y": y, "cell": cells(where), "speed": x + y}
    started = time.process_time()
    told = engine.tick(columns)[1]
    return time.process_time() - started, told


def taken(engine: Whole, places: Walk) -> tuple[list[float], list[int]]:
    found = [one_tick(engine, where) for where in places]
    return [seconds for seconds, _ in found], [told for _, told in found]


def nearby(objects: int, places: int, ticks: int) -> dict[str, Any]:
    """Around written places, beside as many kNN queries; checked by a k-d tree."""
    sites = np.random.default_rng(6).random((places, 2))
    written = ", ".join(f"{x!r} {y!r}" for x, y in sites.tolist())
    window = Whole(plan([f"SELECT id FROM cars [NEARBY SPOT ({written}) ROWS {K}]"]))
    queries = Whole(plan([f"SELECT id FROM cars kNN ({K}, {x!r}, {y!r})" for x, y in sites.tolist()]))
    moves = walk(objects, ticks)
    (mine, told), (other, beside) = (taken(engine, moves) for engine in (window, queries))
    ids, lists = np.empty(0, np.int64), np.empty(0, np.int64)
    for at, where in enumerate(moves[:-1]):
        nearest = cKDTree(where).query(sites, K)[1]
        some, all_lists = np.unique(nearest), (nearest + objects * np.arange(places)[:, None]).ravel()
        changes = len(np.setxor1d(some, ids)), len(np.setxor1d(all_lists, lists))
        assert (told[at + 1], beside[at + 1]) == changes, (at, changes)
        ids, lists = some, all_lists
    return row(
        f"NEARBY {places:,} places ROWS {K}", f"{places:,} kNN queries", float(np.median(mine[2:])),
        float(np.median(other[2:])), TARGETS["nearby"],
    )  # fmt: skip


def neighbours(objects: int, ticks: int) -> dict[str, Any]:
    """Of each the nearest other one, beside a k-d tree that is rebuilt, asked and compared at each tick."""
    engine = Whole(
        plan(["SELECT a.id AS one, b.id AS other FROM cars a, cars b WHERE NN(a, b, 'k=1, other')"])
    )
    moves = walk(objects, ticks)
    mine, told = taken(engine, moves)
    other, before = [], np.full(objects, -1)
    for at, places in enumerate(moves):
        started = time.process_time()
        now = cKDTree(places).query(places, 2)[1][:, 1]
        changed = np.flatnonzero(now != before)
        other.append(time.process_time() - started)
        assert at + 1 == len(moves) or told[at + 1] == len(changed) * (2 if at else 1), at
        before = now
    return row(f"NN of {objects:,}", "k-d tree", float(np.median(mine[2:])), float(np.median(other[2:])))


def tiles(objects: int, ticks: int) -> dict[str, Any]:
    """The mean of the last 1,000 of each of a hundred tiles, beside queues of NumPy's; both say the same."""
    engine = Whole(
        plan(["SELECT cell, AVG(speed) AS mean FROM cars [TESSELLATE BY cell ROWS 1000] GROUP BY cell"])
    )
    moves = walk(objects, ticks)
    engine.is_kept = True
    kept: dict[int, deque[float]] = {}
    mine, other, held, means = [], [], Counter[Row](), dict[int, float]()
    for places in moves:
        mine.append(one_tick(engine, places)[0])
        add_up(held, engine.said)
        assert {cell: mean for cell, mean in held} == rounded(means)
        started = time.process_time()
        cell = cells(places)
        order = np.argsort(cell, kind="stable")
        names, starts = np.unique(cell[order], return_index=True)
        for name, some in zip(names.tolist(), np.split(places.sum(axis=1)[order], starts[1:]), strict=True):
            kept.setdefault(name, deque(maxlen=1000)).extend(some[-1000:].tolist())
        means = {name: sum(queue) / len(queue) for name, queue in kept.items()}
        other.append(time.process_time() - started)
    return row("TESSELLATE ROWS 1000", "queues", float(np.median(mine[2:])), float(np.median(other[2:])))


def refresh(objects: int, ticks: int) -> dict[str, Any]:
    """Looked at every ten ticks, beside every tick: all of it, since a look tells what has waited. At each
    look both hold the same.
    """
    moves = walk(objects // 10, ticks)
    select = "SELECT cell, COUNT(*) AS n FROM cars [EXTENT (0.2, 0.2, 0.8, 0.8) {}] GROUP BY cell"
    rare, always = (Whole(plan([select.format(scope)])) for scope in ("NOW EVERY 10 SECONDS", "NOW"))
    took, held = ([0.0, 0.0], [Counter[Row](), Counter[Row]()])
    rare.is_kept = always.is_kept = True
    for at, where in enumerate(moves):
        for number, engine in enumerate((rare, always)):
            seconds, _ = one_tick(engine, where)
            took[number] += seconds if at else 0.0
            add_up(held[number], engine.said)
        if at and at % 10 == 0:  # the tick that this one tells has been looked at
            assert held[0] == held[1] and held[0], at
    mine, other = (seconds / (ticks - 1) for seconds in took)
    return row("EVERY 10 ticks", "every tick", mine, other, TARGETS["refresh"])


def add_up(held: Counter[Row], lines: list[str]) -> None:
    for update in map(json.loads, lines):
        held[tuple(update["row"].values())] += update["sign"]
    for gone in [one for one, n in held.items() if not n]:
        del held[gone]


def rounded(means: dict[int, float]) -> Any:
    """Sums of doubles in another order."""
    return {cell: _Near(mean) for cell, mean in means.items()}


class _Near(float):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(float(self) - other) <= 1e-12

    __hash__ = float.__hash__
