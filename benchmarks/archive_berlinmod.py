"""BerlinMOD's questions of the past, of trips around Brussels: all instants, and regions in periods."""

from __future__ import annotations

import csv
import gzip
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import shapely

from benchmarks.archive_asked import ask
from benchmarks.peers import postgis
from benchmarks.report import report
from sanderling.arrays import int64_of
from sanderling.batches import TS
from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from sanderling.storage.archive import Archive
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "berlinmod"
REASON = "85,499 readings of 5 vehicles in 4 days; 100 instants, 10 regions in 10 periods"
STREAM = """CREATE STREAM v (id BIGINT, ts TIMESTAMP, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (tick = '1 second');
CREATE ARCHIVE past OF v WITH (path = '{path}');"""
HOUR_US = 3_600_000_000


@dataclass(frozen=True)
class Question:
    first: int
    last: int
    region: Any = None


Way = Callable[[Question], list[tuple[Any, ...]]]


def micros(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


def trips() -> pa.Table:
    """Of one vehicle at one time the last."""
    with gzip.open(DATA / "brussels_trips.csv.gz", "rt", newline="") as file:
        found = {
            (micros(r["time"]), int(r["veh_id"])): (float(r["lon"]), float(r["lat"]))
            for r in csv.DictReader(file)
        }
    ts, who = (np.array(part) for part in zip(*sorted(found), strict=True))
    x, y = np.array([found[at] for at in sorted(found)]).T
    return pa.table({"id": who, "ts": pa.array(ts, pa.timestamp("us")), "x": x, "y": y, TS: ts})


def written(folder: Path, table: pa.Table) -> tuple[Planner, Archive]:
    planner = Planner()
    planner.run_script(STREAM.format(path=folder))
    archiving = planner.archive_of("v")
    assert archiving is not None
    writer, ts = Writer(folder, archiving), int64_of(table, TS)
    tending = Tending(writer)
    for to in range(int(ts[0]) // HOUR_US * HOUR_US + HOUR_US, int(ts[-1]) + HOUR_US, HOUR_US):
        writer.append([table.filter(pa.array((ts > to - HOUR_US) & (ts <= to)))], to)
        tending.tend()
    return planner, Archive.open(folder)


def questions(table: pa.Table) -> dict[str, list[Question]]:
    ts = int64_of(table, TS)
    points = shapely.points(table["x"].to_numpy(), table["y"].to_numpy())
    regions = [shapely.from_wkt(row) for row in _column("query_regions.csv", "geom")]
    busy = sorted(regions, key=lambda r: -int(shapely.covers(r, points).sum()))[:10]
    periods = [text.strip("[]()").split(", ") for text in _column("query_periods.csv", "period")]
    some = [(max(micros(a), int(ts[0])), min(micros(b), int(ts[-1]))) for a, b in periods]
    some = [(a, b) for a, b in some if a < b][:10]
    instants = [micros(text) for text in _column("query_instants.csv", "instant")]
    instants = [t // 1_000_000 * 1_000_000 for t in instants if ts[0] <= t < ts[-1]]
    return {
        "AS OF an instant": [Question(t, t) for t in instants],
        "BETWEEN, in a region": [Question(a, b, r) for (a, b), r in product(some, busy)],
    }


def _column(name: str, which: str) -> list[str]:
    with open(DATA / name, newline="") as file:
        return [row[which] for row in csv.DictReader(file)]


def by_us(planner: Planner, archive: Archive) -> Way:
    def way(q: Question) -> list[tuple[Any, ...]]:
        if q.region is None:
            sql = f"SELECT id, x, y FROM v AS OF '{show_time(q.last)}'"
        else:
            times = f"BETWEEN '{show_time(q.first)}' AND '{show_time(q.last)}'"
            sql = f"SELECT id, COUNT(*) AS n FROM v {times} INSIDE {shapely.to_wkt(q.region, -1)} GROUP BY id"
        return sorted(tuple(row.values()) for row in ask(planner, archive, sql))

    return way


def by_duckdb(archive: Archive) -> Way:
    """Over the same files; it knows boxes, and Shapely the rest."""
    base, files = duckdb.connect(), [f"{archive.folder}/readings/{f.path}" for f in archive.files]
    time_of = "epoch_us(ts)"

    def way(q: Question) -> list[tuple[Any, ...]]:
        if q.region is None:
            sql = f"""SELECT id, arg_max(geometry.x, ts), arg_max(geometry.y, ts) FROM read_parquet($files)
              WHERE {time_of} <= $last GROUP BY id ORDER BY id"""
            return list(base.execute(sql, {"files": files, "last": q.last}).fetchall())
        x1, y1, x2, y2 = shapely.bounds(q.region).tolist()
        sql = f"""SELECT id, geometry.x AS x, geometry.y AS y FROM read_parquet($files)
          WHERE {time_of} BETWEEN $first AND $last
            AND geometry.x BETWEEN $x1 AND $x2 AND geometry.y BETWEEN $y1 AND $y2"""
        named = {"files": files, "first": q.first, "last": q.last, "x1": x1, "y1": y1, "x2": x2, "y2": y2}
        found = base.execute(sql, named).fetchnumpy()
        is_in = shapely.covers(q.region, shapely.points(found["x"], found["y"]))
        who, counts = np.unique(found["id"][is_in], return_counts=True)
        return list(zip(who.tolist(), counts.tolist(), strict=True))

    return way


def by_postgis(base: Any) -> Way:
    def way(q: Question) -> list[tuple[Any, ...]]:
        if q.region is None:
            sql = """SELECT v.id, ST_X(l.place), ST_Y(l.place) FROM (SELECT DISTINCT id FROM readings) v,
              LATERAL (SELECT place FROM readings r WHERE r.id = v.id AND ts <= %s ORDER BY ts DESC LIMIT 1) l
              ORDER BY 1"""
            return list(base.execute(sql, [q.last]).fetchall())
        sql = """SELECT id, count(*) FROM readings WHERE ST_Covers(ST_GeomFromWKB(%s), place)
          AND ts BETWEEN %s AND %s GROUP BY id ORDER BY id"""
        return list(base.execute(sql, [shapely.to_wkb(q.region), q.first, q.last]).fetchall())

    return way


def run() -> dict[str, float]:
    table, rows = trips(), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as name:
        planner, archive = written(Path(name), table)
        ways: dict[str, Way] = {"Sanderling": by_us(planner, archive), "DuckDB": by_duckdb(archive)}
        if not postgis.is_installed():
            _compare(rows, questions(table), ways)
        else:
            with postgis.server() as base:
                postgis.load(base, iter([table.set_column(1, "ts", table[TS])]))
                _compare(rows, questions(table), ways | {"PostGIS": by_postgis(base)})
    report("archive_berlinmod", REASON, rows, {"readings": table.num_rows})
    return {f"{r['asked']}, {r['way']}": r["mean seconds"] for r in rows}


def _compare(rows: list[dict[str, Any]], asked: dict[str, list[Question]], ways: dict[str, Way]) -> None:
    for what, all_of_them in asked.items():
        said: list[list[tuple[Any, ...]]] | None = None
        for name, way in ways.items():
            way(all_of_them[0])
            began = time.perf_counter()
            answers = [way(question) for question in all_of_them]
            seconds = (time.perf_counter() - began) / len(all_of_them)
            assert said is None or answers == said, (what, name)
            said = answers
            found = float(np.mean([len(answer) for answer in answers]))
            rows.append({"asked": what, "way": name, "mean seconds": seconds, "rows": found})
