"""PLACE's figures 7 and 8: rows through a pipeline with INSIDE below the select or the join, and above it.

above   all that moved ──► select or join ──► the application looks who is in the region
INSIDE  all that moved ──► INSIDE ──► what came and went ──► select or join
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import pictures
from benchmarks.engine import TICK_US, Engine
from benchmarks.report import report
from benchmarks.squares import plan_of
from sanderling.batches import Batch, Kind
from sanderling.merge.partition import Merge
from sanderling.route.exchange import Exchange
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

REASON = "rows into and out of a select or a join a tick and query, with INSIDE below it and above the engine"
SELECTIVITIES = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
KIND = "bus"  # one in twenty
FAVOURITES, FIRST = 20, 7  # one in so many as well, others than the buses
REGIONS = ("stationary", "moving")
LISTS = {"id": "{o}id", "id, x, y": "{o}id, {o}x, {o}y"}

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

STREAM = (
    "CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, type STRING)"
    " KEY id TIME ts LOCATION (x, y) WITH (path = 'made.parquet')"
)
TABLE = "CREATE TABLE favourites (id BIGINT) KEY id WITH (path = '{path}')"
QUERIES = {
    "inside": "SELECT {list} FROM objects INSIDE {region}",
    "select": f"SELECT {{list}} FROM objects WHERE type = '{KIND}' INSIDE {{region}}",
    "join": "SELECT {list} FROM objects o JOIN favourites f ON o.id = f.id INSIDE {region}",
}


@dataclass(frozen=True)
class Asked:
    """One query: what it does, over which region, and what it tells."""

    work: str
    region: str
    selectivity: float
    centre: int
    half: float
    told: str

    def sql(self, x: F64, y: F64) -> str:
        side = 2 * self.half
        where = f"('M', {self.centre}, {side!r}, {side!r})"
        if self.region == "stationary":
            cx, cy = float(x[self.centre]), float(y[self.centre])
            where = f"({cx - self.half!r}, {cy - self.half!r}, {cx + self.half!r}, {cy + self.half!r})"
        columns = LISTS[self.told].format(o="o." if self.work == "join" else "")
        return QUERIES[self.work].format(list=columns, region=where)


@dataclass
class Rows:
    """Rows by query, of all ticks but the first, which tells every answer whole; and what they add up to."""

    queries: int
    objects: int
    into_joins: I64 = field(init=False)
    out: I64 = field(init=False)
    held: I64 = field(init=False)

    def __post_init__(self) -> None:
        self.into_joins, self.out = (np.zeros(self.queries, np.int64) for _ in range(2))
        self.held = np.zeros((self.queries, self.objects), np.int64)

    def take(self, batch: Batch) -> None:
        query, sign, who = (batch.table.column(c).to_numpy() for c in ("query", "sign", "c0"))
        self.out += self._later(batch)
        np.add.at(self.held, (query, who), sign)

    def take_branch(self, batch: Batch) -> None:
        self.into_joins += self._later(batch)

    def _later(self, batch: Batch) -> I64:
        query, tick, sign = (batch.table.column(c).to_numpy() for c in ("query", "tick", "sign"))
        is_later = tick > TICK_US
        found = np.bincount(query[is_later], np.abs(sign[is_later]), minlength=self.queries)
        return found.astype(np.int64)


def run(
    objects: int = 20_000, ticks: int = 6, centres: int = 8, shares: tuple[float, ...] = SELECTIVITIES
) -> list[dict[str, Any]]:
    steps, kinds = _steps(objects, ticks + 2)
    x, y = steps[0]
    asked = _asked(x, y, shares, centres)
    with tempfile.TemporaryDirectory() as name:
        favourites = Path(name) / "favourites.parquet"
        pq.write_table(pa.table({"id": np.arange(FIRST, objects, FAVOURITES)}), favourites)
        queries = [f"REGISTER QUERY q{i} AS {a.sql(x, y)}" for i, a in enumerate(asked)]
        plan = plan_of(";\n".join([STREAM, TABLE.format(path=favourites), *queries]))
    # Queries have numbers in the order of their names.
    asked = [asked[int(name.removeprefix("q"))] for name in plan.queries.names.to_pylist()]
    engine = Engine(plan, shards=1)
    merge, exchange = Merge(engine.plan, 0), Exchange(engine.plan, 1)
    rows = Rows(len(asked), objects)
    # A tick closes when a later reading comes.
    for places in steps:
        table = engine.readings({"id": np.arange(objects), "x": places[0], "y": places[1], "type": kinds})
        said = engine.shards_say(table)
        finished, sent = exchange.split(said)
        to_merge = [batch for _, batch in sent]
        for batch in (b for b in to_merge if b.kind == Kind.DELTAS):
            rows.take_branch(batch)
        for batch in (*merge.advance(to_merge), *finished):
            if batch.kind == Kind.DELTAS:
                rows.take(batch)
    passes = {"select": kinds == KIND, "join": np.arange(objects) % FAVOURITES == FIRST}
    _check(asked, rows.held, steps[0], steps[-2], passes)
    moved = _moved(steps[:-1])
    above = {work: (moved.sum() + moved[:, passed].sum()) / ticks for work, passed in passes.items()}
    told = _told(asked, rows, ticks, above)
    report("pipeline_rows", REASON, told, {"objects": objects, "centres": centres, "ticks": ticks})
    pictures.pipeline_rows(told)
    return told


def _steps(objects: int, n: int) -> tuple[list[tuple[F64, F64]], npt.NDArray[np.str_]]:
    settings = TrafficSettings(objects=objects, new=0, step_us=5_000_000, keeps_going=True)
    traffic = Traffic(make_city(settings.seed), settings)
    tables = [traffic.step().sort_by("id") for _ in range(n)]
    places = [(t.column("x").to_numpy(), t.column("y").to_numpy()) for t in tables]
    return places, np.asarray(tables[0].column("type").cast(pa.string()).to_pylist())


def _asked(x: F64, y: F64, shares: tuple[float, ...], centres: int) -> list[Asked]:
    """Squares around objects at random, each as large as it takes to hold its share of all at first."""
    asked = []
    for centre in np.random.default_rng(7).choice(len(x), centres, replace=False).tolist():
        far = np.maximum(np.abs(x - x[centre]), np.abs(y - y[centre]))
        for share in shares:
            half = float(np.quantile(far, share))
            asked += [
                Asked(work, region, share, centre, half, told)
                for work in QUERIES for region in REGIONS for told in LISTS
            ]  # fmt: skip
    return asked


def _moved(steps: list[tuple[F64, F64]]) -> Bools:
    """Who moved, tick by tick."""
    return np.array([(a[0] != b[0]) | (a[1] != b[1]) for a, b in pairwise(steps)])


def _check(
    asked: list[Asked], held: I64, first: tuple[F64, F64], last: tuple[F64, F64], passes: dict[str, Bools]
) -> None:
    """All rows added up are what the application finds, that looks at everything that passes."""
    for query, a in enumerate(asked):
        cx, cy = (side[a.centre] for side in (first if a.region == "stationary" else last))
        dx, dy = np.abs(last[0] - cx), np.abs(last[1] - cy)
        # The application's corners round otherwise than ours: who is on the border does not matter here.
        is_sure = np.abs(np.maximum(dx, dy) - a.half) > 1e-6
        is_in = (dx <= a.half) & (dy <= a.half)
        if a.region == "moving":
            is_in[a.centre] = False
        if a.work in passes:
            is_in &= passes[a.work]
        assert (held[query] == is_in)[is_sure].all(), f"{a}"


def _told(asked: list[Asked], rows: Rows, ticks: int, above: dict[str, float]) -> list[dict[str, Any]]:
    told = []
    for work in ("select", "join"):
        for region in REGIONS:
            for share in sorted({a.selectivity for a in asked}):
                row: dict[str, Any] = {"operator": work, "region": region, "selectivity": share}
                row["above the engine"] = above[work]
                for list_ in LISTS:
                    mine = _mean(asked, rows.out, work, region, share, list_) / ticks
                    below, of = (rows.into_joins, "join") if work == "join" else (rows.out, "inside")
                    mine += _mean(asked, below, of, region, share, list_) / ticks
                    row[f"INSIDE, SELECT {list_}"] = mine
                    row[f"times, SELECT {list_}"] = row["above the engine"] / max(mine, 1.0)
                told.append(row)
    return told


def _mean(asked: list[Asked], counts: I64, work: str, region: str, share: float, told: str) -> float:
    wanted = (work, region, share, told)
    is_mine = [(a.work, a.region, a.selectivity, a.told) == wanted for a in asked]
    return float(counts[np.array(is_mine)].mean())
