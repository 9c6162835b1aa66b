"""Where most readings were late, or ahead, the one that moved the clock is named, however it was cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.clock import Furthest
from sanderling.deliver.ledger import Ledger
from sanderling.figures.arrivals import Arrivals
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun

STREAM = "CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
YEAR_9999 = 253_370_764_800
CUTS = [(1, 1 << 20), (1, 1), (3, 1 << 20), (3, 1)]  # shards, and bytes of a slice


def warned(rows: str, folder: Path, options: str, shards: int, slice_bytes: int) -> str | None:
    planner = Planner()
    planner.run_script(f"{STREAM} {options}; REGISTER QUERY q AS SELECT id FROM taxi")
    run = DirectRun(planner.plan(), shards, slice_bytes)
    (folder / "taxi.csv").write_text(f"id,ts,x,y\n{rows}")
    run.feed_file("taxi", folder / "taxi.csv")
    return run.figures.warning("taxi")


@pytest.mark.parametrize(("shards", "slice_bytes"), CUTS)
def test_the_reading_that_moved_the_clock_is_named(shards: int, slice_bytes: int, tmp_path: Path) -> None:
    rows = f"a,1,0,0\nufo,{YEAR_9999},0,0\n" + "".join(f"a,{n},0,0\n" for n in (2, 3, 4))
    said = warned(rows, tmp_path, "", shards, slice_bytes)
    assert said is not None and said.startswith(
        '3 of 5 readings of "taxi" were late: its clock stands at 9999-01-01T00:00:00Z, moved by ufo '
        "(taxi.csv, row 3); ahead = "
    )
    assert warned(rows, tmp_path, "WITH (ahead = '1 hour')", shards, slice_bytes) is None


@pytest.mark.parametrize(("shards", "slice_bytes"), CUTS)
def test_half_of_them_is_not_most(shards: int, slice_bytes: int, tmp_path: Path) -> None:
    assert warned("a,1,0,0\nb,9,0,0\nc,1,0,0\nd,1,0,0\n", tmp_path, "", shards, slice_bytes) is None


@pytest.mark.parametrize(("shards", "slice_bytes"), CUTS)
def test_a_gap_that_is_longer_than_ahead_is_told(shards: int, slice_bytes: int, tmp_path: Path) -> None:
    rows = "a,1,0,0\na,2,0,0\n" + "".join(f"b,{n},0,0\n" for n in (100, 101, 102))
    said = warned(rows, tmp_path, "WITH (ahead = '1 minute')", shards, slice_bytes)
    assert said is not None and said.startswith(
        '3 of 5 readings of "taxi" were ahead: its clock stands at 1970-01-01T00:00:02Z, moved by a '
        "(taxi.csv, row 3); let ahead = "
    )


def test_the_ledger_keeps_what_came(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.arrive({"s": Arrivals(3, late=1, furthest=Furthest(7, "é", "f.csv", 2))})
    ledger.save()
    ledger = Ledger.load(tmp_path / "ledger")
    ledger.arrive({"s": Arrivals(1, late=2)})
    assert ledger.arrivals == {"s": Arrivals(4, 3, 0, Furthest(7, "é", "f.csv", 2))}
    (warning,) = ledger.totals([]).warnings
    assert "moved by é (f.csv, row 2)" in warning
