"""Readings of a few objects that move about, as shards would ship them, and what they are archived as."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.batches import TS
from sanderling.catalog import Archiving
from sanderling.plan.planner import Planner

MINUTE, HOUR = 60_000_000, 3_600_000_000
NOON = 1_714_564_800_000_000  # 2024-05-01T12:00:00Z

STREAM = """CREATE STREAM cars (id STRING, at TIMESTAMP, x DOUBLE, y DOUBLE, speed INT, is_off BOOLEAN)
  KEY id TIME at LOCATION (x, y) GONE is_off WITH (tick = '10 seconds');"""


def archiving(folder: Path, options: str = "", stream: str = STREAM) -> Archiving:
    """As a script declares it."""
    planner = Planner()
    more = f", {options}" if options else ""
    planner.run_script(f"{stream} CREATE ARCHIVE past OF cars WITH (path = '{folder}'{more})")
    found = planner.plan().streams[0].archive
    assert found is not None
    return found


def readings(
    seed: int, rows: int, length_us: int = 3 * HOUR, objects: int = 9, gone: float = 0.1
) -> pa.Table:
    """So many in a time from noon on, each (time, object) once, in no order."""
    random = np.random.default_rng(seed)
    ts, who = (random.integers(1, most, rows) for most in (length_us // 1_000_000, objects))
    once = np.unique(np.stack([ts, who]), axis=1)[
        :, random.permutation(len(np.unique(np.stack([ts, who]), axis=1)[0]))
    ]
    ts, who = NOON + once[0] * 1_000_000, once[1]
    n = len(ts)
    return pa.table(
        {
            "id": pa.array([f"car {i}" for i in who]), "at": pa.array(ts, pa.timestamp("us")),
            "x": random.integers(-50, 50, n) / 4, "y": random.integers(0, 90, n) / 8,
            "speed": pa.array(random.integers(0, 9, n), pa.int32(), mask=random.random(n) < 0.1),
            "is_off": random.random(n) < gone, TS: ts,
        }
    )  # fmt: skip


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]
