"""What shards ship to the archive: each reading that counts, once, when its tick closes; and what is late."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from sanderling.batches import TS, Batch, Kind
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.long import so_many

SCRIPT = """
CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, note STRING, is_off BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE is_off WITH (tick = '2 seconds', lateness = '3 seconds');
CREATE ARCHIVE past OF cars WITH (path = 'nowhere', late = 'keep');
"""
QUERIES = """
REGISTER QUERY depot AS SELECT id FROM cars INSIDE (2, 2, 7, 7);
REGISTER QUERY before AS SELECT id FROM cars WHERE PREVIOUS(speed) < speed;
REGISTER QUERY lately AS SELECT id, COUNT(*) AS n FROM cars WINDOW 9 SECONDS GROUP BY id;
"""


class Shipped(DirectRun):
    """Keeps what the archive gets."""

    def _collect(self, out: list[Batch]) -> None:
        if not hasattr(self, "archived"):
            self.archived: list[dict[str, object]] = []
            self.late: list[dict[str, object]] = []
            self.closed: list[int] = []
        for batch in (b for b in out if b.kind == Kind.ARCHIVED):
            self.archived += batch.table.to_pylist()
        for batch in (b for b in out if b.kind == Kind.LATE_READINGS):
            self.late += batch.table.to_pylist()
        self.closed += [b.closed_to for b in out if b.kind == Kind.COUNTS]
        assert all(row[TS] <= self.engines[0].streams["cars"].clock.closed_to for row in self.archived)  # type: ignore[operator]
        super()._collect(out)


@pytest.mark.parametrize("seed", range(so_many(3, 100)))
@pytest.mark.parametrize("queries", ["", QUERIES])
def test_every_reading_that_counts_is_shipped_once(seed: int, queries: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    lines, late, high = list[str](), list[str](), -99
    seen = dict[tuple[str, int], str]()
    for second in range(60):
        for car in range(4):
            at = second - chance.choice([0, 0, 0, 1, 2, 7])
            x, y, is_off = chance.randint(0, 9), chance.randint(0, 9), chance.random() < 0.1
            line = f"car{car},{at},{x},{y},{second},n{car},{is_off}"
            lines.append(line)
            if (at + 1) // 2 * 2 + 3 >= high:  # its tick is open
                seen[f"car{car}", at] = line
            else:
                late.append(line)
            high = max(high, at)
    path = tmp_path / "cars.csv"
    path.write_text("\n".join(["id,ts,x,y,speed,note,is_off", *lines]) + "\n")
    planner = Planner()
    planner.run_script(SCRIPT + queries)
    run = Shipped(planner.plan(), shards=3, slice_bytes=900, takes_turns=seed % 2 == 0, empty_between=True)
    run.feed_file("cars", path, is_last=True)
    run.restart()
    assert Counter(map(line_of, run.archived)) == Counter(seen.values())
    assert Counter(map(line_of, run.late)) == Counter(late)


def line_of(r: dict[str, object]) -> str:
    x, y, speed = (f"{r[name]:g}" for name in ("x", "y", "speed"))
    return f"{r['id']},{r['ts']},{x},{y},{speed},{r['note']},{r['is_off']}"
