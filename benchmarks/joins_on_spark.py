"""Who is near whom, over real readings: on Spark, beside two scripts of DuckDB.

All are asked for the pairs at each tick. One script goes from tick to tick, as who lives in time must: it
keeps who is where and joins that. The other has all ticks at once: it puts down who is where at each, and
joins once. Sanderling tells what changes. Added up it is the same, which is checked tick by tick.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import SparkSession

from benchmarks.report import report
from benchmarks.squares import plan_of
from sanderling.deliver.targets import Targets
from sanderling.settings import Settings
from sanderling.spark.run import BatchTime, RunOptions, run_plan
from sanderling.spark.session import start_session

REASON = "pairs that are near, end to end on Spark, beside DuckDB for the same pairs at each tick"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TICK = 10  # seconds


@dataclass(frozen=True)
class Question:
    """Readings of a file, and how near is near."""

    file: Path
    columns: str  # as a stream declares them
    key: str
    time: str
    seconds: str  # of DuckDB: the time in seconds since 1970
    place: tuple[str, str]
    radius: float
    stale_after: int  # seconds

    def script(self, path: Path) -> str:
        return (
            f"CREATE STREAM s ({self.columns}) KEY {self.key} TIME {self.time}"
            f" LOCATION ({', '.join(self.place)})"
            f" WITH (path = '{path}', tick = '{TICK} seconds', stale_after = '{self.stale_after} seconds');"
            f"REGISTER QUERY near AS SELECT a.{self.key} AS one, b.{self.key} AS other FROM s a, s b"
            f" WHERE DISTANCE(a, b) < {self.radius} AND a.{self.key} < b.{self.key}"
        )

    def in_duckdb(self, path: Path) -> tuple[float, duckdb.DuckDBPyConnection]:
        """How long it took, from the file on; `pairs` has them."""
        started = time.perf_counter()
        base = self._read(path)
        base.execute(
            "CREATE TABLE last AS SELECT id, tick, max(ts) AS ts, last(x ORDER BY ts, n) AS x,"
            " last(y ORDER BY ts, n) AS y FROM r GROUP BY id, tick"
        )
        base.execute(
            "CREATE TABLE places AS SELECT t.tick, i.id, l.x, l.y FROM (SELECT DISTINCT tick FROM last) t"
            " CROSS JOIN (SELECT DISTINCT id FROM last) i"
            f" ASOF JOIN last l ON l.id = i.id AND t.tick >= l.tick WHERE t.tick - l.ts <= {self.stale_after}"
        )
        base.execute(
            "CREATE TABLE pairs AS SELECT a.tick, a.id AS one, b.id AS other FROM places a JOIN places b"
            f" ON a.tick = b.tick AND {self._near()}"
        )
        return time.perf_counter() - started, base

    def tick_by_tick(self, path: Path) -> tuple[float, int]:
        """How long DuckDB takes that way, and how many pairs it saw at all ticks together."""
        started = time.perf_counter()
        base = self._read(path)
        base.execute("CREATE TABLE now (id VARCHAR PRIMARY KEY, ts BIGINT, x DOUBLE, y DOUBLE)")
        pairs = 0
        for (tick,) in base.execute("SELECT DISTINCT tick FROM r ORDER BY tick").fetchall():
            base.execute(
                "INSERT OR REPLACE INTO now SELECT id, max(ts), last(x ORDER BY ts, n),"
                " last(y ORDER BY ts, n) FROM r WHERE tick = ? GROUP BY id", [tick],
            )  # fmt: skip
            base.execute("DELETE FROM now WHERE ts < ?", [tick - self.stale_after])
            near = f"SELECT a.id AS one, b.id AS other FROM now a JOIN now b ON {self._near()}"
            pairs += base.sql(near).to_arrow_table().num_rows
        return time.perf_counter() - started, pairs

    def _read(self, path: Path) -> duckdb.DuckDBPyConnection:
        x, y = self.place
        base = duckdb.connect()
        base.execute(
            f"CREATE TABLE r AS SELECT {self.key} AS id, {self.seconds} AS ts, {x} AS x, {y} AS y,"
            f" (ceil(ts / {TICK}.0) * {TICK})::BIGINT AS tick, row_number() OVER () AS n"
            f" FROM read_csv('{path}') ORDER BY tick, n"
        )
        return base

    def _near(self) -> str:
        square = "(a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)"
        return f"a.id < b.id AND {square} < {self.radius} * {self.radius}"


CABS = Question(
    DATA / "sf-cabs" / "cabs_2h.csv.gz", "cab_id STRING, unix_time BIGINT, lon DOUBLE, lat DOUBLE",
    "cab_id", "unix_time", "unix_time", ("lon", "lat"), 0.002, 7200,
)  # fmt: skip
FLIGHTS = Question(
    DATA / "flights" / "switzerland.csv.gz",
    "icao24 STRING, timestamp TIMESTAMP, longitude DOUBLE, latitude DOUBLE", "icao24", "timestamp",
    "epoch(timestamp)::BIGINT", ("longitude", "latitude"), 0.1, 60,
)  # fmt: skip
QUESTIONS = {"cabs of San Francisco": CABS, "flights over Switzerland": FLIGHTS}


def run(
    names: tuple[str, ...] = tuple(QUESTIONS), rounds: int = 3, rows: int | None = None,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    """Only the first `rows` readings, if so; a round before those that count warms everything up."""
    table, ratios = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session = spark or start_session("local[2]", 2, folder / "spark.log")
        for label in names:
            row = _measured(label, QUESTIONS[label], folder, rounds, rows, session)
            ratios[label] = row["times tick by tick"]
            table.append(row)
        if spark is None:
            session.stop()
    report("joins_on_spark", REASON, table, {"rounds": rounds, "tick, seconds": TICK})
    return ratios


def _measured(
    label: str, question: Question, folder: Path, rounds: int, rows: int | None, spark: SparkSession
) -> dict[str, Any]:
    path = unpacked(question.file, folder / "readings.csv", rows)
    readings = path.read_text().count("\n") - 1
    script, out = question.script(path), folder / "near.jsonl"
    ours, worked, theirs, most = [], [], [], 0
    for _ in range(rounds + 1):
        seconds, base = question.in_duckdb(path)
        theirs.append(seconds)
        with largest_worker() as seen:
            taken: list[BatchTime] = []
            options = RunOptions(
                Targets(out, False, None), "local[2]", 2, None, Settings(is_timed=True), on_batch=taken.append
            )
            started = time.perf_counter()
            run_plan(plan_of(script), script, options, spark)
            ours.append(time.perf_counter() - started)
        # Stages wait for each other, and each for the slower of its workers.
        worked.append(sum(max(seconds) for batch in taken for seconds in batch.seconds.values()))
        most = max(most, seen[0])
    updates = _check(out, base)
    slowly, pairs = question.tick_by_tick(path)
    assert [(pairs,)] == base.execute("SELECT count(*) FROM pairs").fetchall()
    warm = slice(1, None) if rounds else slice(None)
    end_to_end, work, at_once = min(ours[warm]), min(worked[warm]), min(theirs[warm])
    return {
        "readings of": label, "readings": readings, "updates": updates,
        "seconds": end_to_end, "of these at work": work, "DuckDB tick by tick": slowly, "at once": at_once,
        "times tick by tick": end_to_end / slowly, "times at once": end_to_end / at_once,
        "work, times at once": work / at_once, "largest worker, MB": most,
    }  # fmt: skip


def unpacked(packed: Path, path: Path, rows: int | None) -> Path:
    with gzip.open(packed, "rt") as lines, path.open("w") as out:
        for number, line in enumerate(lines):
            if rows is not None and number > rows:
                break
            out.write(line)
    return path


@contextmanager
def largest_worker() -> Iterator[list[int]]:
    """The most memory that one of our Python processes has had meanwhile, in MB."""
    seen, is_over = [0], threading.Event()

    def look() -> None:
        while not is_over.wait(0.05):
            seen[0] = max([seen[0], *(_resident(pid) for pid in _workers())])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


def _workers() -> list[int]:
    """Python processes that this one has started, or those have."""
    parent = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name, fields = (entry / "stat").read_text().rsplit(")", 1)
            except OSError:
                continue
            parent[int(entry.name)] = (int(fields.split()[1]), "python" in name)
    mine, found = {os.getpid()}, True
    while found:
        found = {pid for pid, (above, _) in parent.items() if above in mine} - mine
        mine |= found
    return [pid for pid in mine - {os.getpid()} if parent[pid][1]]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20
    except (OSError, IndexError):
        return 0


def _check(out: Path, base: duckdb.DuckDBPyConnection) -> int:
    """At each tick the updates so far add up to DuckDB's pairs: as many, and the same in the end."""
    there: Counter[Any] = Counter()
    counts: dict[int, int] = {}
    updates = 0
    for line in out.read_text().splitlines():
        said = json.loads(line)
        tick = int(datetime.fromisoformat(said["tick"]).timestamp())
        there[said["row"]["one"], said["row"]["other"]] += said["sign"]
        assert there[said["row"]["one"], said["row"]["other"]] in (0, 1)
        counts[tick] = counts.get(tick, 0) + said["sign"]
        updates += 1
    theirs: Any = base.execute("SELECT tick, count(*) FROM pairs GROUP BY tick ORDER BY tick").fetchall()
    known = dict(theirs)
    held = 0
    for (tick,) in base.execute("SELECT DISTINCT tick FROM last ORDER BY tick").fetchall():
        held += sum(counts.pop(t) for t in sorted(counts) if t <= tick)
        assert held == known.get(tick, 0), f"other pairs at {tick}"
    last = base.execute("SELECT one, other FROM pairs WHERE tick = (SELECT max(tick) FROM last)").fetchall()
    assert {pair for pair, n in there.items() if n} >= {*last} and not [t for t, n in counts.items() if n > 0]
    return updates
