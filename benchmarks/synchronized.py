"""Restaurants among the nearest of two cars: figures 9 and 10 of the paper (STEPQ, query Q4), without Spark.

The nearest of both cars are looked at together every five seconds, cut with each other, and told once a
restaurant has been among both for half a minute. What it costs to hold rows back for a look, and to cut, is
what the operators of the tree say; the rule that lets rows wait where they wait anyway is left out for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.engine import Whole
from benchmarks.report import report
from sanderling.batches import ROW, TS, Kind
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plan.rules.look import look
from sanderling.plans import nodes, operator_ids
from sanderling.plans.plan import Plan
from sanderling.simulate.city import RADIUS_M, make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

REASON = "restaurants among the k nearest of two cars: what looking together costs, and what comes of it"
STREAM = (
    "CREATE STREAM things (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, kind BIGINT) "
    "KEY id TIME ts LOCATION (x, y)"
)
EVERY_S, STAY_S = 5, 30
# Cars of a pair that are nearer than this as all begins have something in common for a while.
NEAR_M = 400.0
WORDS = {nodes.Sample: "synchronisation", nodes.SetOperation: "transformation", nodes.Match: "pattern"}
NEAR = ("SELECT id FROM near0", "SELECT id FROM near1")
RESTAURANTS_FROM = 10_000_000


@dataclass(frozen=True)
class World:
    steps: list[pa.Table]
    pairs: list[tuple[int, int]]


def world(objects: int, restaurants: int, steps: int, pairs: int, seed: int = 7) -> World:
    """Restaurants say once where they are; of the cars, which keep going, those are left that form pairs."""
    settings = TrafficSettings(objects=objects, new=0, seed=seed, keeps_going=True)
    traffic, rng, found = Traffic(make_city(seed), settings), np.random.default_rng(seed), []
    at = rng.uniform(-RADIUS_M / 2, RADIUS_M / 2, (restaurants, 2))
    keys = RESTAURANTS_FROM + np.arange(restaurants)
    chosen: list[tuple[int, int]] = []
    for number in range(1, steps + 1):
        table = traffic.step().combine_chunks()
        id_, x, y = (table.column(i).to_numpy() for i in (0, *map(table.column_names.index, "xy")))
        chosen = chosen or _pairs(id_, x, y, pairs)
        mine, is_first = np.isin(id_, chosen), number == 1
        kind = np.append(np.zeros(int(mine.sum())), np.ones(restaurants if is_first else 0))
        ts = np.full(len(kind), number)
        found.append(pa.table({
            "id": np.append(id_[mine], keys if is_first else []).astype(np.int64), "ts": ts,
            "x": np.append(x[mine], at[:, 0] if is_first else []),
            "y": np.append(y[mine], at[:, 1] if is_first else []),
            "kind": kind.astype(np.int64), TS: ts * 1_000_000, ROW: np.arange(1, len(ts) + 1),
        }))  # fmt: skip
    return World(found, chosen)


def _pairs(keys: Any, x: Any, y: Any, count: int) -> list[tuple[int, int]]:
    """Some of those that begin side by side."""
    near = cKDTree(np.column_stack([x, y])).query_pairs(NEAR_M, output_type="ndarray")
    chosen = near[np.linspace(0, len(near) - 1, count).astype(np.int64)]
    return [(int(keys[a]), int(keys[b])) for a, b in chosen]


def statements(of: World, k: int) -> list[str]:
    """By pair what is common at each look, and the pattern."""
    both = f"SYNCHRONIZE near0, near1 EVERY {EVERY_S} SECONDS AS {' INTERSECT '.join(NEAR)}"
    found = []
    for number, cars in enumerate(of.pairs):
        selects = (f"SELECT id FROM things WHERE kind = 1 kNN ('M', {k}, {car})" for car in cars)
        near = ", ".join(f"near{i} AS ({select})" for i, select in enumerate(selects))
        common = f"common AS ({both} PERSISTENCY {STAY_S} SECONDS)"
        found.append(f"REGISTER QUERY q{number:02} AS WITH {near} {both}")
        shown = "SELECT id, REACHED(common) AS at FROM common"
        found.append(f"REGISTER PATTERN p{number:02} AS WITH {near}, {common} {shown}")
    return found


class Run:
    """One plan over the world: seconds by kind of operator, what is told, and what waits to be."""

    def __init__(self, of: World, k: int):
        planner = Planner(rules=[rule for rule in RULES if rule is not look])
        planner.run_script(";\n".join([STREAM, *statements(of, k)]))
        self.engine = Whole(planner.plan(), shards=1)
        for part in self.engine.whole.parts:
            part.is_counting = True
        self.kinds = kinds_of(self.engine.plan)
        self.names = self.engine.plan.queries.names.to_pylist()
        self.seconds, self.told = Counter[str](), 0
        self.since: dict[tuple[int, int], int] = {}
        self.most_waiting = 0

    def step(self, readings: pa.Table) -> None:
        self.engine.number += 1
        for batch in self.engine.told(readings):
            if batch.kind == Kind.FIGURES:
                operators, seconds = (batch.table.column(c).to_pylist() for c in ("operator", "seconds"))
                for name, some in zip(operators, seconds, strict=True):
                    self.seconds[self.kinds.get(name, "")] += some
            elif batch.kind == Kind.DELTAS:
                self._take(batch.table)
        late = (self.engine.number - STAY_S) * 1_000_000
        waiting = Counter(query for (query, _), since in self.since.items() if since > late)
        self.most_waiting = max([self.most_waiting, *waiting.values()])

    def _take(self, rows: pa.Table) -> None:
        for query, tick, sign, key in zip(*(c.to_pylist() for c in rows.columns[:4]), strict=True):
            if self.names[query].startswith("p"):
                self.told += 1
            elif sign > 0:
                self.since[query, key] = tick
            else:
                self.since.pop((query, key), None)


def kinds_of(plan: Plan) -> dict[str, str]:
    """What each operator of the patterns' tree does, by what it is called."""
    (tree,) = (t for t in plan.trees if any(isinstance(n, nodes.Match) for n in nodes.numbered(t.root)))
    return {
        operator_ids.node(tree.template.id, number): WORDS[type(node)]
        for node, number in nodes.numbered(tree.root).items()
        if type(node) in WORDS
    }


def run(
    objects: int = 50_000, restaurants: int = 1_000, steps: int = 900, pairs: int = 20,
    ks: tuple[int, ...] = (5, 10, 20, 30, 40, 50),
) -> dict[str, float]:  # fmt: skip
    of = world(objects, restaurants, steps, pairs)
    rows, looks = [], steps // EVERY_S * pairs
    for k in ks:
        run = Run(of, k)
        for readings in of.steps:
            run.step(readings)
        us = {what: 1e6 * run.seconds[what] / looks for what in WORDS.values()}
        rows.append(
            {"k": k, **{f"{what}, µs a look": value for what, value in us.items()},
             "told by a pattern": run.told / pairs, "most that wait": run.most_waiting}
        )  # fmt: skip
    facts = {"objects": objects, "restaurants": restaurants, "seconds": steps, "pairs of cars": pairs}
    report("synchronized", REASON, rows, facts)
    pictures.synchronized(rows)
    return {f"told, k = {row['k']}": float(row["told by a pattern"]) for row in rows}
