"""Very many objects in one shard: the right answer, also after a restart, and so much memory for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.batches import ROW, TS, Batch, Kind, Slice
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.operate.shard.shard import Shard
from sanderling.plan.planner import Planner
from sanderling.plans.parts import for_shards
from sanderling.plans.plan import Plan
from sanderling.route.pack import pack
from sanderling.state import saved
from tests.long import IS_LONG, so_many

KEYS = so_many(100_000, 10_000_000)
SLICE = 250_000
SECOND = 1_000_000
# Bytes for each object: two ticks of readings, one of them waiting. Seen: 195 with ten million.
MOST = 400

SCRIPT = """CREATE STREAM s (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);
REGISTER QUERY q AS SELECT id FROM s INSIDE (0, 0, 10, 10)"""


def places(tick: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    chance = np.random.default_rng(tick)
    return chance.uniform(0, 500, KEYS), chance.uniform(0, 500, KEYS)


def inside(tick: int) -> set[int]:
    x, y = places(tick)
    return set(np.flatnonzero((x >= 0) & (x <= 10) & (y >= 0) & (y <= 10)).tolist())


def batches(plan: Plan, tick: int) -> Iterator[list[Batch]]:
    """The readings of a tick, slice by slice."""
    x, y = places(tick)
    for first in range(0, KEYS, SLICE):
        ids = np.arange(first, min(KEYS, first + SLICE))
        ts, rows = np.full(len(ids), tick), np.arange(1, len(ids) + 1)
        columns = {"id": ids, "ts": ts, "x": x[ids], "y": y[ids], TS: ts * SECOND, ROW: rows}
        piece = Slice(0, "s", "s", 0, 0, 1, is_last=False)
        ingested = Ingested(pa.table(columns), LETTERS.empty_table(), len(ids))
        yield [batch for _, batch in pack(plan.streams[0], piece, ingested, 1)]


def told(shard: Shard, plan: Plan, tick: int) -> list[tuple[int, int]]:
    """Updates while the readings of a tick come, which close the one before."""
    found = []
    for some in batches(plan, tick):
        rows = [b.table for b in shard.advance(some) if b.kind == Kind.DELTAS]
        found += [
            (s, k)
            for t in rows
            for s, k in zip(*(t.column(c).to_pylist() for c in ("sign", "c0")), strict=True)
        ]
        saved.delta(shard)
    return found


def test_very_many_objects() -> None:
    planner = Planner()
    planner.run_script(SCRIPT)
    plan = for_shards(planner.plan())
    shard = Shard(plan, 0)
    before, held = resident(), inside(0)
    assert told(shard, plan, 0) == []
    assert sorted(told(shard, plan, 1)) == sorted((1, key) for key in held)
    if IS_LONG:
        assert (resident() - before) / KEYS < MOST
    again = Shard(plan, 0)
    saved.restore(again, saved.snapshot(shard), [])
    changes = [(1, key) for key in inside(1) - held] + [(-1, key) for key in held - inside(1)]
    assert sorted(told(again, plan, 2)) == sorted(changes) and len(changes) > KEYS // 5000


def resident() -> int:
    """Bytes of this process in memory; none where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 if status.exists() else 0
