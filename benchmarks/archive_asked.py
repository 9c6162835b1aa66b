"""An archive of many readings, asked AS OF and BETWEEN with a region, beside DuckDB and PostGIS."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.peers import postgis
from benchmarks.pictures import archive_asked as picture
from benchmarks.report import report
from sanderling.arrays import int64_of
from sanderling.ask.answer import answered
from sanderling.ask.archive import ArchivePast
from sanderling.ask.question import question_of
from sanderling.batches import TS
from sanderling.language import parse_statement
from sanderling.language.statements import Ask
from sanderling.plan.once import OncePlanner
from sanderling.plan.planner import Planner
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic
from sanderling.storage.archive import Archive
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer

REASON = "100,000 simulated objects that report every 30 seconds, hourly keyframes"
STREAM = """CREATE STREAM v (id BIGINT, ts TIMESTAMP, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (tick = '10 seconds');
CREATE ARCHIVE past OF v WITH (path = '{path}');"""
STEP_US = 30_000_000
HOUR_US = 3_600_000_000
SIDE = 0.1  # of the region, in widths of the town: a hundredth of it


@dataclass(frozen=True)
class Case:
    """A time, and a box around somebody."""

    time: int
    box: tuple[float, float, float, float]

    @property
    def rect(self) -> str:
        return f"RECT ({', '.join(map(repr, self.box))})"

    @property
    def named(self) -> dict[str, object]:
        first = {"time": self.time, "first": self.time - 600_000_000, "last": self.time}
        return first | dict(zip(("x1", "y1", "x2", "y2"), self.box, strict=True))


def steps_of(objects: int) -> Iterator[pa.Table]:
    """Readings of moment after moment."""
    settings = TrafficSettings(objects=objects, new=0, step_us=STEP_US, keeps_going=True)
    traffic = Traffic(make_city(settings.seed), settings)
    while True:
        step = traffic.step().select(["id", "ts", "x", "y"])
        yield step.append_column(TS, step.column("ts").cast(pa.int64()))


def written(folder: Path, objects: int, steps: int) -> tuple[Planner, Archive, float]:
    """As a run leaves it, flush by flush; and the processor's seconds that took. What is there is taken."""
    planner = Planner()
    planner.run_script(STREAM.format(path=folder))
    archiving = planner.archive_of("v")
    assert archiving is not None
    if (folder / "about.json").exists():
        return planner, Archive.open(folder), 0.0
    writer = Writer(folder, archiving)
    tending, seconds = Tending(writer), 0.0
    for pair in _pairs(steps_of(objects), steps):
        began = time.process_time()
        writer.append(pair, int(int64_of(pair[-1], TS).max()) // 10_000_000 * 10_000_000)
        tending.tend()
        seconds += time.process_time() - began
    return planner, Archive.open(folder), seconds


def _pairs(tables: Iterator[pa.Table], steps: int) -> Iterator[list[pa.Table]]:
    """A flush is a minute, two moments."""
    for _ in range(0, steps, 2):
        yield list(islice(tables, 2))


def cases_of(archive: Archive, n: int, seed: int = 3) -> list[Case]:
    random, grid = np.random.default_rng(seed), archive.about.grid
    assert grid is not None and archive.archived_to is not None
    first = min(f.first for f in archive.files if f.first is not None) + 2 * STEP_US
    times = random.integers(first, archive.archived_to, n) // 10_000_000 * 10_000_000
    places = random.random((n, 2)) * (1 - SIDE)
    size = np.array([grid.width, grid.height])
    low = np.array([grid.x, grid.y]) + places * size
    return [
        Case(int(t), (*map(float, at), *map(float, at + SIDE * size)))
        for t, at in zip(times, low, strict=True)
    ]


def ask(planner: Planner, archive: Archive, sql: str) -> list[dict[str, Any]]:
    statement = parse_statement(sql)
    assert isinstance(statement, Ask)
    known = OncePlanner(planner)
    found = answered(known, question_of(known, statement, sql), ArchivePast({"v": archive}))
    return list(found.to_pylist())


def ours(planner: Planner, archive: Archive) -> tuple[Callable[[Case], tuple[int, int]], ...]:
    def as_of(case: Case) -> tuple[int, int]:
        sql = f"SELECT id FROM v AS OF {case.time / 1e6} INSIDE {case.rect}"
        found = [row["id"] for row in ask(planner, archive, sql)]
        return len(found), sum(found)

    def between(case: Case) -> tuple[int, int]:
        times = f"{case.named['first'] / 1e6} AND {case.time / 1e6}"  # type: ignore[operator]
        sql = f"SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS who FROM v BETWEEN {times} INSIDE {case.rect}"
        (row,) = ask(planner, archive, sql)
        return row["n"], row["who"]

    return as_of, between


def by_duckdb(archive: Archive) -> tuple[Callable[[Case], tuple[int, int]], ...]:
    """Over the same files, of which it is told the least that it needs: the period, and the keyframe."""
    base = duckdb.connect()
    base.execute("SET enable_progress_bar = false")
    readings, snapshots = (f"{archive.folder}/{name}" for name in ("readings", "snapshots"))

    def files(first: int, last: int) -> list[str]:
        mine = (f for f in archive.files if f.first is not None and f.last is not None)
        return [f"{readings}/{f.path}" for f in mine if f.last >= first and f.first <= last]  # type: ignore[operator]

    def as_of(case: Case) -> tuple[int, int]:
        at = max((t for t in archive.keyframes if t <= case.time), default=None)
        read = [f"{snapshots}/{f.path}" for f in archive.keyframes[at]] if at is not None else []
        read += files(0 if at is None else at + 1, case.time)
        sql = """SELECT count(*), coalesce(sum(id), 0) FROM (
          SELECT id, arg_max(geometry, ts) AS place FROM read_parquet($files)
          WHERE ts <= make_timestamp($time) AT TIME ZONE 'UTC' GROUP BY id)
        WHERE place.x BETWEEN $x1 AND $x2 AND place.y BETWEEN $y1 AND $y2"""
        named = {k: v for k, v in case.named.items() if k not in ("first", "last")}
        (found,) = base.execute(sql, {**named, "files": read}).fetchall()
        return int(found[0]), int(found[1])

    def between(case: Case) -> tuple[int, int]:
        sql = """SELECT count(*), count(DISTINCT id) FROM read_parquet($files)
          WHERE ts >= make_timestamp($first) AT TIME ZONE 'UTC'
            AND ts <= make_timestamp($last) AT TIME ZONE 'UTC'
            AND geometry.x BETWEEN $x1 AND $x2 AND geometry.y BETWEEN $y1 AND $y2"""
        named = {k: v for k, v in case.named.items() if k != "time"}
        read = files(int(named["first"]), int(named["last"]))  # type: ignore[call-overload]
        (found,) = base.execute(sql, {**named, "files": read}).fetchall()
        return int(found[0]), int(found[1])

    return as_of, between


def with_numbers(step: pa.Table) -> pa.Table:
    """With times as microseconds."""
    return step.set_column(1, "ts", step.column(TS))


def timed(
    way: Callable[[Case], tuple[int, int]], cases: list[Case], used: Callable[[], float]
) -> tuple[list[float], float, list[Any]]:
    """Seconds of each, when files have been read before; the processor's seconds of all; what was said."""
    way(cases[0])
    seconds, told, before = [], [], used()
    for case in cases:
        began = time.perf_counter()
        told.append(way(case))
        seconds.append(time.perf_counter() - began)
    return seconds, used() - before, told


def periods_read(archive: Archive, case: Case) -> float:
    """Readings that are read for a case, in periods' worth."""
    at, keyframe = archive.keyframe_before(case.time)
    rows = sum(group.rows for group in archive._groups(at, case.time, None))
    whole = sum(f.rows for f in archive.files) * HOUR_US
    a_period = whole / ((archive.archived_to or 0) - (archive.kept_from or 0))
    return (rows + keyframe.num_rows) / a_period


def run(
    objects: int = 100_000, steps: int = 1_000, peer_steps: int = 100, cases: int = 20,
    kept: Path | None = None,
) -> dict[str, float]:  # fmt: skip
    """`kept`: a folder in which archives stay from run to run."""
    rows = list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as name:
        planner, archive, seconds = written((kept or Path(name)) / "whole", objects, steps)
        readings = sum(f.rows for f in archive.files)
        assert readings == objects * steps
        mine = cases_of(archive, cases)
        reads = [periods_read(archive, case) for case in mine]
        slowest = _compare(rows, readings, mine, ours(planner, archive), by_duckdb(archive))
        weight = sum(f.bytes for f in archive.files) / readings
        planner, archive, _ = written((kept or Path(name)) / "some", objects, peer_steps)
        mine = cases_of(archive, cases)
        few = objects * peer_steps
        theirs = None
        if postgis.is_installed():
            with postgis.server() as base:
                postgis.load(base, (with_numbers(t) for t in islice(steps_of(objects), peer_steps)))
                theirs = _compare(
                    rows, few, mine, ours(planner, archive), by_duckdb(archive), by_postgis(base)
                )
        else:
            _compare(rows, few, mine, ours(planner, archive), by_duckdb(archive))
    ratio = 0.0
    if theirs is not None:
        best = min(
            r["mean seconds"] for r in rows if r["way"].startswith("PostGIS") and r["asked"] == "AS OF"
        )
        own = next(
            r for r in rows if r["way"] == "Sanderling" and r["asked"] == "AS OF" and r["readings"] == few
        )
        ratio = best / own["mean seconds"]
    facts = {
        "readings": readings, "bytes a reading": weight, "most periods read": max(reads),
        "slowest AS OF, seconds": slowest, "times as fast as PostGIS": ratio,
        "processor's microseconds to write a reading": seconds / readings * 1e6,
    }  # fmt: skip
    report("archive_asked", REASON, rows, facts)
    picture(rows)
    return {"slowest": slowest, "periods": max(reads), "ratio": ratio, "bytes": weight}


def by_postgis(base: Any) -> dict[str, Any]:
    """The ways to ask who was in a box, and the one to ask who was in it in between."""

    def of(sql: str) -> Callable[[Case], tuple[int, int]]:
        def way(case: Case) -> tuple[int, int]:
            a, b = base.execute(sql, case.named).fetchone()
            return int(a), int(b)

        return way

    return {
        "AS OF": {name: of(sql) for name, sql in postgis.AS_OF.items()}, "BETWEEN": of(postgis.BETWEEN),
        "used": lambda: postgis.processor_seconds(base),
    }  # fmt: skip


def _compare(
    rows: list[dict[str, Any]], readings: int, cases: list[Case], mine: Any, duck: Any, post: Any = None
) -> float:
    """All ways say the same; gives the slowest AS OF of ours."""
    slowest = 0.0
    for place, asked in enumerate(("AS OF", "BETWEEN")):
        ways = {"Sanderling": mine[place], "DuckDB, the same files": duck[place]}
        if post is not None and asked == "AS OF":
            ways |= {f"PostGIS, {name}": way for name, way in post[asked].items()}
        elif post is not None:
            ways["PostGIS"] = post[asked]
        answers = None
        for name, way in ways.items():
            is_ours = not name.startswith("PostGIS")
            seconds, used, told = timed(way, cases, time.process_time if is_ours else post["used"])
            assert answers is None or told == answers, (name, asked)
            answers = told
            rows.append(
                {
                    "readings": readings, "asked": asked, "way": name,
                    "mean seconds": float(np.mean(seconds)), "slowest": max(seconds),
                    "processor's seconds": used / len(cases),
                    "rows": float(np.mean([n for n, _ in told])),
                }
            )  # fmt: skip
            if name == "Sanderling" and asked == "AS OF":
                slowest = max(seconds)
    return slowest
