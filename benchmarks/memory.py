"""What a run holds in memory at its height: driver, Java, workers and keepers. Linux only."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.nearest_on_spark import write_queries
from benchmarks.processes import Processes, watched
from benchmarks.processor import write_squares
from benchmarks.report import report
from benchmarks.squares import STREAM
from benchmarks.worlds import write_walk

REASON = "MB at the height of a run, by part; what processes share is divided among them"
COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()"]
SECONDS_BETWEEN_LOOKS = 0.25
# Of Python processes, by how far they are from the driver: what each is forked from.
FORKED = {1: "nursery", 2: "Spark's daemon", 3: "workers", 4: "keepers"}
PARTS = ("driver", "Java", *FORKED.values())


def run(
    objects: int = 100_000, queries: int = 10_000, k: int = 10, side: float = 0.01, step: float = 0.0005,
    ticks: int = 40,
) -> dict[str, dict[str, float]]:  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stream = STREAM.format(path=write_walk(folder / "walk.parquet", objects, ticks, step))
        texts = {
            "echo": stream,
            "squares": f"{stream};\nREGISTER QUERIES FROM '{write_squares(folder, queries, side)}'",
            "nearest": f"{stream};\nREGISTER QUERIES FROM '{write_queries(folder, queries, k)}'",
        }
        found = {label: _height(text, folder, label) for label, text in texts.items()}
    rows: list[dict[str, Any]] = [{"run": label} | parts for label, parts in found.items()]
    facts = {"objects": objects, "queries": queries, "k": k, "readings": objects * ticks}
    report("memory", REASON, rows, facts)
    return found


def _height(text: str, folder: Path, label: str) -> dict[str, float]:
    """MB of each part when it had most."""
    (folder / f"{label}.sql").write_text(text + ";\n")
    words = ["run", f"{label}.sql", "--master", "local[2]", "--out", f"{label}.jsonl"]
    most: dict[str, float] = defaultdict(float)
    with watched([*COMMAND, *words], folder) as (program, processes):
        while program.poll() is None:
            now: dict[str, float] = defaultdict(float)
            for part, mb in _now(processes):
                now[part] += mb
            now["all"] = sum(now.values())
            most |= {part: max(mb, most[part]) for part, mb in now.items()}
            time.sleep(SECONDS_BETWEEN_LOOKS)
    assert (folder / f"{label}.jsonl").exists(), "it told nothing"
    assert all(most[part] for part in ("driver", "Java", "workers", "keepers")), dict(most)
    return {part: most[part] for part in (*PARTS, "all")}


def _now(processes: Processes) -> Iterator[tuple[str, float]]:
    """The part that each process belongs to, and its MB."""
    seen = dict(processes.seen)
    for pid, process in seen.items():
        mb = _mb(pid)
        if mb and pid == processes.root:
            yield "driver", mb
        elif mb and process.name == "java":
            yield "Java", mb
        elif mb and (part := FORKED.get(_depth(pid, processes))):
            yield part, mb


def _depth(pid: int, processes: Processes) -> int:
    """How many forks it is from the driver; 0 for what Java has started."""
    depth, seen = 0, processes.seen
    while pid != processes.root and pid in seen:
        if seen[pid].name == "java":
            return 0
        pid, depth = seen[pid].parent, depth + 1
    return depth


def _mb(pid: int) -> float:
    """Its own, and its part of what it shares."""
    try:
        said = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0  # it has ended
    return next(int(line.split()[1]) for line in said.splitlines() if line.startswith("Pss:")) / 1024
