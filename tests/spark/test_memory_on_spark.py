"""A run that goes on and on: its workers, its keepers and its checkpoint stay as large as they were.

Queries of every kind; objects come and go all the time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan
from tests.engine import fleet
from tests.long import IS_LONG

TICKS = 200_000
SLICE_BYTES = 35_000  # about 600 ticks a batch: more than 300 of them, while Spark keeps what 100 have left


@dataclass(frozen=True)
class Sample:
    """After a batch: the largest worker and the largest keeper, and the checkpoint's folder, in bytes."""

    worker: int
    keeper: int
    folder: int


@pytest.mark.skipif(not IS_LONG, reason="half an hour; tests/engine/test_memory.py looks at it in seconds")
def test_memory_and_the_checkpoint_stay_flat(spark: SparkSession, tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in ("cars", "vans")}
    for number, path in enumerate(paths.values()):
        path.write_text(fleet.readings(Random(number), 0, TICKS))
    text = fleet.script(*map(str, paths.values()))
    planner = Planner()
    planner.run_script(text)
    samples: list[Sample] = []

    def look(_: object) -> None:
        samples.append(sample(spark, tmp_path / "checkpoint"))

    settings = Settings(slice_bytes=SLICE_BYTES, slices_per_shard=1, least_snapshot_bytes=100_000)
    targets = Targets(tmp_path / "updates.jsonl", False, None)
    options = RunOptions(targets, "local[2]", 2, tmp_path / "checkpoint", settings, on_batch=look)
    run_plan(planner.plan(), text, options, spark)
    third = len(samples) // 3
    assert third > 100
    for what in ("worker", "keeper", "folder"):
        then, now = (
            max(getattr(s, what) for s in some) for some in (samples[third:-third], samples[-third:])
        )
        assert 0 < now < 1.15 * then, f"{what}: {then}, then {now}"


# ----- what there is on this machine


def sample(spark: SparkSession, checkpoint: Path) -> Sample:
    """Spark's daemon forks workers; who was forked by a worker is a keeper."""
    daemons = [p for p in children(jvm_of(spark)) if "pyspark" in command(p)]
    members = [p for p in processes() if p not in daemons and group(p) in daemons]
    workers = [p for p in members if parent(p) in daemons]
    keepers = [p for p in members if p not in workers]
    largest = (max(map(resident, some), default=0) for some in (workers, keepers))
    return Sample(*largest, sum(sizes(checkpoint)))


def jvm_of(spark: SparkSession) -> int:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    pid: int = gateway.proc.pid
    return pid


def processes() -> list[int]:
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]


def children(process: int) -> list[int]:
    return [p for p in processes() if parent(p) == process]


def stat(process: int) -> list[str]:
    """What stands behind the name: state, parent, group and so on."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return ["X", "0", "0"]


def parent(process: int) -> int:
    return int(stat(process)[1])


def group(process: int) -> int:
    return int(stat(process)[2])


def command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def resident(process: int) -> int:
    """How much of it is in memory."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def sizes(folder: Path) -> Iterator[int]:
    """Of all files; they come and go while we look."""
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield os.stat(os.path.join(place, name)).st_size
