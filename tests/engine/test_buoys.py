"""Triggers that a meteorologist would write, over real buoys, against every combination of readings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sanderling.plan.planner import Planner
from tests.engine.buoys import ASKED, FILE, SCRIPT, expected, readings_of, told, write
from tests.engine.direct import DirectRun
from tests.long import so_many

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the real data sets are not beside the project")

# A year in which the Pacific was as usual, and the one in which the great El Niño began.
YEARS = so_many((1996, 1997), range(1980, 1999))


def test_five_triggers_over_the_buoys_agree_with_brute_force(tmp_path: Path) -> None:
    readings = readings_of(YEARS)
    planner = Planner(tmp_path)
    planner.run_script(SCRIPT)
    run = DirectRun(planner.plan(), shards=2, slice_bytes=500_000)
    run.feed_file("buoys", write(tmp_path / "buoys.csv", readings), is_last=True)
    got = told(run.updates)
    assert got == expected(readings)
    # Each has something to say, and none says something of many readings.
    by_name = Counter(name for _, name, _ in got.elements())
    assert set(by_name) == {asked.name for asked in ASKED}
    assert all(0 < alerts < len(readings) / 20 for alerts in by_name.values()), by_name
