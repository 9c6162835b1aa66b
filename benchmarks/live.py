"""From a reading's own time to its update in a subscription, while files appear in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import sanderling
from benchmarks import pictures
from benchmarks.report import report
from sanderling.session.session import Session

Floats = npt.NDArray[np.float64]

TICK_S = 1.0
# What a subscriber may wait for.
P50_S, P99_S = TICK_S / 2 + 0.3, TICK_S + 0.6
# A file so often; what is in it has waited half as long.
SECONDS_BETWEEN_FILES = 0.05
PROBES = 200
SCHEMA = "id bigint, ts timestamp, x double, y double"


def run(
    rates: tuple[int, ...] = (1_000, 50_000), queries: tuple[int, ...] = (0, 10_000), warm_s: float = 20.0,
    seconds: float = 30.0,
) -> list[dict[str, Any]]:  # fmt: skip
    rows, latencies = [], {}
    for rate in rates:
        for number in queries:
            found = _latencies(rate, number, warm_s, seconds)
            p50, p99 = np.quantile(found, [0.5, 0.99])
            latencies[f"{rate:,} a second, {number:,} queries"] = found
            rows.append({
                "readings a second": f"{rate:,}", "queries beside": f"{number:,}", "p50, seconds": float(p50),
                "p99, seconds": float(p99), "updates": len(found),
                "within": "yes" if p50 <= P50_S and p99 <= P99_S else "no",
            })  # fmt: skip
    facts = {"p50 is to be": P50_S, "p99 is to be": P99_S, "load of the machine": os.getloadavg()[0]}
    report("live", "a reading's own time to its update, tick of a second", rows, facts)
    pictures.live(latencies, P50_S, P99_S)
    return rows


def _latencies(rate: int, queries: int, warm_s: float, seconds: float) -> Floats:
    """Of every reading of some objects, in seconds; none is missing."""
    with tempfile.TemporaryDirectory() as name, sanderling.connect(master="local[2]", shards=2) as session:
        folder = Path(name)
        frame = session.spark.readStream.schema(SCHEMA).parquet(str(folder))
        session.stream(frame, name="objects", key="id", time="ts", location=("x", "y"))
        session.register("probes", f"SELECT id, ts FROM objects WHERE id < {PROBES}")
        _register(session, queries)
        with _feed(folder, rate):
            session.start()
            arrived, ids, times = _read(session, warm_s, seconds)
    _refuse_gaps(ids, times)
    return arrived - times


def _register(session: Session, queries: int) -> None:
    """Rectangles that stand still, of a hundredth of the map each."""
    corners = np.random.default_rng(7).random((queries, 2)) * 0.9
    told = (
        f"REGISTER QUERY q{n} AS SELECT id FROM objects INSIDE ({x}, {y}, {x + 0.1}, {y + 0.1});"
        for n, (x, y) in enumerate(corners.tolist())
    )
    if queries:
        session.execute("\n".join(told))


def _read(session: Session, warm_s: float, seconds: float) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """When each update came, of whom, and the time of its reading."""
    found: list[tuple[float, pa.RecordBatch]] = []
    with session.subscribe("probes") as updates:
        first = updates.poll()
        assert first is not None
        until = time.monotonic() + warm_s + seconds
        from_ = time.monotonic() + warm_s
        while (now := time.monotonic()) < until:
            batch = updates.poll(0.5)
            if batch is not None and now > from_:
                found.append((time.time(), batch.filter(pa.array(batch.column("sign").to_numpy() == 1))))
    arrived = np.concatenate([np.full(b.num_rows, at) for at, b in found])
    ids = np.concatenate([b.column("id").to_numpy() for _, b in found])
    times = np.concatenate(
        [b.column("ts").cast(pa.timestamp("us")).cast(pa.int64()).to_numpy() for _, b in found]
    )
    return arrived, ids, times / 1e6


def _refuse_gaps(ids: npt.NDArray[np.int64], times: Floats) -> None:
    """Everybody reports once a second: a reading that was late, or lost, would leave a gap."""
    order = np.lexsort((times, ids))
    same = np.diff(ids[order]) == 0
    assert len(np.unique(ids)) == PROBES and np.allclose(np.diff(times[order])[same], 1.0, atol=1e-3)


@contextmanager
def _feed(folder: Path, rate: int) -> Iterator[None]:
    """Readings come from another process, which shares nothing with the session."""
    command = [sys.executable, "-m", "benchmarks.live", str(folder), str(rate)]
    process = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[1])
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def feed(folder: Path, rate: int) -> None:
    """As many objects as readings a second: each reports once a second, at a moment of its own."""
    random = np.random.default_rng(11)
    phases, places = np.sort(random.random(rate)), random.random((rate, 2))
    ids = random.permutation(rate)
    until, number = time.time(), 0
    while True:
        time.sleep(max(0.0, until + SECONDS_BETWEEN_FILES - time.time()))
        since, until = until, time.time()
        due = [_due(phases, second, since, until) for second in range(int(since), int(until) + 1)]
        rows = np.concatenate([r for r, _ in due])
        times = np.concatenate([t for _, t in due])
        places[rows] = np.clip(places[rows] + random.normal(0, 0.001, (len(rows), 2)), 0, 1)
        columns = {
            "id": pa.array(ids[rows]),
            "ts": pa.array((times * 1e6).astype(np.int64)).cast(pa.timestamp("us", "UTC")),
            "x": pa.array(places[rows, 0]),
            "y": pa.array(places[rows, 1]),
        }
        pq.write_table(pa.table(columns), folder / f".{number}")
        (folder / f".{number}").rename(folder / f"{number:08}.parquet")
        number += 1


def _due(phases: Floats, second: int, since: float, until: float) -> tuple[npt.NDArray[np.int64], Floats]:
    """Who reports in one second, after one moment and up to another."""
    begin, end = np.searchsorted(phases, [since - second, until - second], side="right")
    return np.arange(begin, end), second + phases[begin:end]


if __name__ == "__main__":
    feed(Path(sys.argv[1]), int(sys.argv[2]))
