"""INSIDE below the selection or above it: rows judged and time of either order, and of the chosen one.

WHERE first    all that moved ──► WHERE ──► INSIDE
INSIDE first   all that moved ──► INSIDE ──► WHERE
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import pictures
from benchmarks.engine import Engine
from benchmarks.report import report
from benchmarks.squares import plan_of
from sanderling.batches import Batch, Kind
from sanderling.operate.where.orders import ByCounts, Chooser, Ordered
from sanderling.plans.selection import First

REASON = (
    "rows judged and milliseconds of processor a tick: WHERE first, INSIDE first, and as chosen by counts"
)
REGIONS = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
WHERES = (0.01, 0.1, 1.0)
CONDITIONS = (1, 8)
QUERIES = 8
STEP = 0.002
ORDERS = ("WHERE first", "INSIDE first", "chosen")

F64 = npt.NDArray[np.float64]

STREAM = (
    "CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE)"
    " KEY id TIME ts LOCATION (x, y) WITH (path = 'made.parquet')"
)
QUERY = "SELECT id FROM objects WHERE {what}speed < {speed!r} INSIDE ({x1!r}, {y1!r}, {x2!r}, {y2!r})"
# What only compares is judged by NumPy, all else by DuckDB.
JUDGES = {"NumPy": "", "DuckDB": "abs(speed) >= 0 AND "}


class Always(Chooser):
    """One order, whatever is counted."""

    def __init__(self, first: First):
        self.first = first

    def at_first(self, conditions: int) -> First:
        return self.first

    def is_due(self, asked: Ordered, price: float) -> bool:
        return False

    def choose(self, asked: Ordered, price: float) -> First | None:
        return self.first


@dataclass
class Counted(Chooser):
    """Counts the rows that the order in force judges, and leaves the choice to another."""

    by: Chooser
    rows: float = 0
    changes: int = 0
    first: First = First.WHERE
    _seen: float = field(default=0, repr=False)

    def at_first(self, conditions: int) -> First:
        return self.by.at_first(conditions)

    def is_due(self, asked: Ordered, price: float) -> bool:
        return self.by.is_due(asked, price)

    def choose(self, asked: Ordered, price: float) -> First | None:
        found = asked.estimate()
        judged = found.by_reading if asked.first is First.WHERE else found.by_pair
        chosen = self.by.choose(asked, price)
        self.rows += judged - self._seen
        self._seen = judged if chosen is None else 0
        if chosen is not None:
            self.changes += chosen is not asked.first
            self.first = chosen
        return chosen


@dataclass
class Told:
    """What one order did: rows and milliseconds a tick, once it has settled; and all it said."""

    rows: float
    milliseconds: float
    order: str
    changes: int
    updates: npt.NDArray[np.int64]


def run(
    objects: int = 20_000, ticks: int = 12, regions: tuple[float, ...] = REGIONS,
    wheres: tuple[float, ...] = WHERES, conditions: tuple[int, ...] = CONDITIONS,
) -> list[dict[str, Any]]:  # fmt: skip
    steps = _steps(objects, ticks)
    rows = []
    for judge, n, where, region in product(JUDGES, conditions, wheres, regions):
        plan = _script(JUDGES[judge], region, where, n)
        choosers = (Always(First.WHERE), Always(First.INSIDE), ByCounts())
        told = [_told(plan, chooser, steps) for chooser in choosers]
        for other in told[1:]:
            assert np.array_equal(told[0].updates, other.updates), "the same, in any order"
        rows.append({"judge": judge} | _row(region, where, n, told))
    facts = {"objects": objects, "queries": QUERIES, "ticks": ticks, **_facts(rows)}
    report("push_down", REASON, rows, facts)
    pictures.push_down(rows)
    return rows


def _steps(objects: int, ticks: int) -> list[dict[str, npt.NDArray[Any]]]:
    """Everybody walks a little, and has another speed, between 0 and 1, in every tick."""
    chance = np.random.default_rng(11)
    x, y = chance.random((2, objects))
    steps: list[dict[str, npt.NDArray[Any]]] = []
    for _ in range(ticks):
        x, y = (np.clip(place + chance.normal(0, STEP, objects), 0, 1) for place in (x, y))
        steps.append({"id": np.arange(objects), "x": x, "y": y, "speed": chance.random(objects)})
    return steps


def _script(what: str, region: float, where: float, conditions: int) -> str:
    """Squares that hold a share of the plane, each somewhere; conditions that differ a little."""
    chance, side = np.random.default_rng(5), float(np.sqrt(region))
    statements = [STREAM]
    for number in range(QUERIES):
        x, y = (float(at) for at in chance.random(2) * (1 - side))
        speed = where * (1 + 1e-6 * (number % conditions))
        sql = QUERY.format(what=what, speed=speed, x1=x, y1=y, x2=x + side, y2=y + side)
        statements.append(f"REGISTER QUERY q{number} AS {sql}")
    return ";\n".join(statements)


def _told(script: str, chooser: Chooser, steps: list[dict[str, npt.NDArray[Any]]]) -> Told:
    """Measured in the second half: by then it has been chosen."""
    counted = Counted(chooser)
    engine = Engine(plan_of(script), shards=1, chooser=counted)
    seconds, updates, before, half = [], [], 0.0, len(steps) // 2
    for number, step in enumerate(steps):
        if number == half:
            before = counted.rows
        table = engine.readings(step)
        started = time.process_time()
        said = engine.shards_say(table)
        seconds.append(time.process_time() - started)
        updates += [_rows(batch) for batch in said if batch.kind == Kind.DELTAS]
    rows = (counted.rows - before) / (len(steps) - half)
    usual = 1000 * float(np.median(seconds[half:]))
    said_by_all = np.concatenate(updates, axis=1)
    said_by_all = said_by_all[:, np.lexsort(said_by_all)]
    return Told(rows, usual, counted.first.upper(), counted.changes, said_by_all)


def _rows(batch: Batch) -> npt.NDArray[np.int64]:
    columns = [batch.table.column(name).to_numpy() for name in ("tick", "query", "c0", "sign")]
    return np.stack([column.astype(np.int64) for column in columns])


def _row(region: float, where: float, conditions: int, told: list[Told]) -> dict[str, Any]:
    row: dict[str, Any] = {"conditions": conditions, "WHERE": where, "region": region}
    row |= {f"{name}, rows": round(t.rows) for name, t in zip(ORDERS, told, strict=True)}
    row |= {f"{name}, ms": t.milliseconds for name, t in zip(ORDERS, told, strict=True)}
    return row | {"order chosen": told[2].order, "changes": told[2].changes}


def _facts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How far the chosen order is from the better one, and what the worse one costs."""
    facts: dict[str, Any] = {}
    for judge, what in product(JUDGES, ("rows", "ms")):
        mine = [r for r in rows if r["judge"] == judge]
        chosen = [r[f"chosen, {what}"] / _best(r, what) for r in mine]
        worse = [max(r[f"{o}, {what}"] for o in ORDERS[:2]) / _best(r, what) for r in mine]
        facts[f"{judge}: {what}, chosen against the better order, at most"] = max(chosen)
        facts[f"{judge}: {what}, chosen against the better order, median"] = float(np.median(chosen))
        facts[f"{judge}: {what}, worse against the better order, at most"] = max(worse)
    return facts


def _best(row: dict[str, Any], what: str) -> float:
    return max(1e-9, min(row[f"{order}, {what}"] for order in ORDERS[:2]))
