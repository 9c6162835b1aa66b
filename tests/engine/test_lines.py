"""Updates as lines: the same, in the same order, by whichever threads and in however many pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.deliver import changes
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun

SCRIPT = """
CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);
REGISTER QUERY here AS SELECT id, x FROM cars INSIDE (0, 0, 10, 10);
REGISTER QUERY all_of_them AS SELECT id FROM cars;
REGISTER QUERY east AS SELECT id, x FROM cars INSIDE (5, 0, 20, 10);
"""


def lines(path: Path) -> list[str]:
    planner = Planner()
    planner.run_script(SCRIPT)
    run = DirectRun(planner.plan(), shards=2)
    run.feed_file("cars", path, is_last=True)
    return run.updates


def test_lines_are_the_same_however_they_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{car},{tick},{(3 * car + 5 * tick) % 20},1" for tick in range(1, 5) for car in range(9)]
    path = tmp_path / "cars.csv"
    path.write_text("\n".join(["id,ts,x,y", *rows]) + "\n")
    at_once = lines(path)
    assert len(at_once) > 40
    monkeypatch.setattr(changes, "FEW", 0)
    assert lines(path) == at_once, "by another thread"
    monkeypatch.setattr(changes, "PIECE", 2)
    assert lines(path) == at_once, "in pieces"
