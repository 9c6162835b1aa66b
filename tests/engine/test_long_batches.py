"""Many ticks at once cost no more than the same ticks in many batches, whatever is asked."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun

OBJECTS, TICKS, BATCHES = 20, 300, 30
DECLARED = """
CREATE STREAM s (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, type STRING, speed BIGINT)
  KEY id TIME ts LOCATION (x, y);
CREATE TABLE sites (name STRING, x DOUBLE, y DOUBLE) KEY name LOCATION (x, y) WITH (path = '{sites}');
"""
ASKED = {
    "range": "SELECT id, x FROM s INSIDE (0, 0, 50, 50)",
    "moving": "SELECT id, x FROM s INSIDE ('M', 3, 20)",
    "nearest": "SELECT id FROM s kNN ('M', 3, 7)",
    "window of time": "SELECT id, x FROM s INSIDE ('M', 3, 20) WINDOW 100 SECONDS",
    "window of rows": "SELECT id, x FROM s INSIDE (0, 0, 50, 50) WINDOW 100 ROWS",
    "rows of each": "SELECT id, x FROM s WINDOW 5 ROWS PER KEY",
    "until": "SELECT id, PREVIOUS(x) AS was FROM s WINDOW UNTIL NEXT.speed > 5",
    "distance": "SELECT a.id AS one, b.id AS other FROM s a, s b WHERE DISTANCE(a, b) < 10 AND a.id < b.id",
    "equality": "SELECT a.id AS one, b.id AS other FROM s a, s b WHERE a.speed = b.speed AND a.id < b.id",
    "or alone": "SELECT a.id, b.n FROM s a LEFT JOIN (SELECT speed, COUNT(*) AS n FROM s GROUP BY speed"
    " HAVING COUNT(*) > 3) AS b ON a.speed = b.speed",
    "table": "SELECT s.id, t.name FROM s JOIN sites t ON DISTANCE(s, t) < 10",
    "groups": "SELECT type, COUNT(*) AS n, MIN(x) AS low, COUNT(DISTINCT speed) AS d FROM s WINDOW 60 SECONDS"
    " GROUP BY type",
    "first": "SELECT id, x FROM s ORDER BY x LIMIT 3",
    "union": "SELECT id FROM s INSIDE (0, 0, 50, 50) UNION SELECT id FROM s INSIDE (20, 20, 70, 70)",
}
TRIGGER = (
    "CREATE TRIGGER q FOR s AS a, s AS b WHEN a.speed > 7 AND b.speed > 7 AND DISTANCE(a, b) < 10"
    " AND b.ts - a.ts IN [0, 5]"
)
STATEMENTS = {name: f"REGISTER QUERY q AS {sql}" for name, sql in ASKED.items()} | {"trigger": TRIGGER}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects that jump, and a few sites."""
    folder, chance = tmp_path_factory.mktemp("long"), random.Random(1)
    places = (f"{chance.uniform(0, 100):.3f},{chance.uniform(0, 100):.3f}" for _ in range(TICKS * OBJECTS))
    who = ((i, t) for t in range(1, TICKS + 1) for i in range(OBJECTS))
    lines = [
        f"{i},{t},{place},{'abc'[i % 3]},{chance.randint(0, 9)}"
        for (i, t), place in zip(who, places, strict=True)
    ]
    (folder / "s.csv").write_text("id,ts,x,y,type,speed\n" + "\n".join(lines) + "\n")
    sites = [f"s{i},{10 * i},{7 * i % 100}" for i in range(10)]
    (folder / "sites.csv").write_text("name,x,y\n" + "\n".join(sites) + "\n")
    return folder


def fed(folder: Path, statement: str, batches: int) -> tuple[list[str], float]:
    """The updates, and the processor's seconds."""
    path = folder / "s.csv"
    planner = Planner()
    planner.run_script(DECLARED.format(sites=folder / "sites.csv") + statement + ";")
    run = DirectRun(planner.plan(), shards=2, slice_bytes=path.stat().st_size // batches + 1)
    started = time.process_time()
    run.feed_file("s", path, is_last=True)
    return run.updates, time.process_time() - started


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_long_batch_costs_no_more_than_many_short_ones(folder: Path, name: str) -> None:
    fed(folder, STATEMENTS[name], 2)  # compiles
    whole, seconds = fed(folder, STATEMENTS[name], 1)
    cut, seconds_of_many = fed(folder, STATEMENTS[name], BATCHES)
    assert whole == cut and len(whole) > 100
    # It is some ten times faster; what grows with the square of the ticks is not.
    assert seconds < seconds_of_many
