"""The programs of the first hour, and the script that follows a folder, on real data, against brute force.

The other scripts are in tests/engine/test_first_hour.py.
"""

from __future__ import annotations

import csv
import gzip
import json
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.status import Status
from sanderling.deliver.targets import Targets
from sanderling.plan.planner import Planner
from sanderling.spark.follow import follow_plan
from sanderling.spark.run import RunOptions
from tests.conftest import DATA

EXAMPLES = Path(__file__).parents[2] / "examples" / "first_hour"
CABS, BEGIN = "cabs_2h.csv.gz", 1211569200

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

Row = dict[str, str]


def cabs(minutes: int) -> list[Row]:
    with gzip.open(DATA / "sf-cabs" / CABS, "rt", newline="") as file:
        return [row for row in csv.DictReader(file) if int(row["unix_time"]) <= BEGIN + 60 * minutes]


def lines_of(rows: list[Row]) -> str:
    return "".join(",".join(row.values()) + "\n" for row in rows)


def last_by_tick(rows: list[Row]) -> dict[int, dict[str, Row]]:
    """Where everybody is, minute by minute."""
    found: dict[int, dict[str, Row]] = {}
    now: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: int(row["unix_time"])):
        now = {**now, row["cab_id"]: row}
        found[-(-int(row["unix_time"]) // 60) * 60] = now
    return found


def run(
    program: str,
    rows: list[Row],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What it prints."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    (folder / CABS).write_bytes(gzip.compress((",".join(rows[0]) + "\n" + lines_of(rows)).encode()))
    monkeypatch.setattr(sys, "argv", [program, str(folder)])
    runpy.run_path(str(EXAMPLES / program))
    return capsys.readouterr().out


def test_whoever_subscribes_holds_the_answer_and_plots_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = cabs(20)
    *_, last = last_by_tick(rows).values()
    busy = sum(row["occupied"] == "1" for row in last.values())
    told = run("subscribe.py", rows, tmp_path, monkeypatch, capsys)
    assert told == f"{busy} are occupied at the end\n" and busy
    for picture in ("occupied.png", "where.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_progress_and_metrics_say_how_much_there_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = cabs(10)
    came = went = 0
    before: set[str] = set()
    answers = last_by_tick(rows)
    for answer in answers.values():
        now = {key for key, row in answer.items() if row["occupied"] == "1"}
        came, went, before = came + len(now - before), went + len(before - now), now
    first, *_, last = answers
    progress, metrics = run("progress.py", rows, tmp_path, monkeypatch, capsys).splitlines()
    ticks = (last - first) // 60 + 1
    assert progress == f"following: {len(rows):,} rows, {ticks} ticks, +{came:,} −{went:,}"
    closed = f"2008-05-23T{19 + (last - BEGIN) // 3600:02}:{(last - BEGIN) // 60 % 60:02}:00Z"
    assert metrics == f"{{'cabs': {len(rows)}}} {{'cabs': '{closed}'}} {{}} {{'occupied': [{came}, {went}]}}"


def test_a_folder_is_followed(tmp_path: Path, spark: SparkSession) -> None:
    """Half of a file, a line cut in two, then another file beside it."""
    rows = cabs(6)
    header, out = ",".join(rows[0]) + "\n", tmp_path / "downtown.jsonl"
    answers = {
        tick: now for tick, now in last_by_tick(rows).items() if tick < max(map(int, last_by_tick(rows)))
    }
    incoming, script = tmp_path / "incoming", (EXAMPLES / "follow.sql").read_text()
    incoming.mkdir()
    seen: list[str] = []

    def add(name: str, text: str) -> None:
        with open(incoming / name, "a") as file:
            file.write(text)

    def story() -> Iterator[Callable[[], bool]]:
        yield lambda: any("waiting for readings" in line for line in seen)
        first = header + lines_of(rows[: len(rows) // 3])
        add("a.csv", first[:-7])
        yield lambda: out.exists() and out.stat().st_size > 0
        add("a.csv", first[-7:] + lines_of(rows[len(rows) // 3 : 2 * len(rows) // 3]))
        yield lambda: any(f" {2 * len(rows) // 3:,} rows" in line for line in seen)
        add("b.csv", header + lines_of(rows[2 * len(rows) // 3 :]))
        yield lambda: any(f" {len(rows):,} rows, {len(answers)} ticks" in line for line in seen)

    tale = story()
    waiting = [next(tale)]

    def is_over(status: Status) -> bool:
        seen.append(str(status))
        while waiting[0]():
            following = next(tale, None)
            if following is None:
                return True
            waiting[0] = following
        return False

    planner = Planner(data=tmp_path)
    planner.run_script(script)
    options = RunOptions(Targets(out, False, None), "local[2]", 2, None, data=tmp_path)
    follow_plan(planner.plan(), script, options, spark, is_over)

    told: dict[int, set[tuple[int, str]]] = {}
    for update in map(json.loads, out.read_text().splitlines()):
        minute = int(update["tick"][14:16])
        told.setdefault(minute, set()).add((update["sign"], update["row"]["cab_id"]))
    before: set[str] = set()
    for tick, now in answers.items():
        there = {
            key for key, row in now.items()
            if -122.41 <= float(row["lon"]) <= -122.39 and 37.79 <= float(row["lat"]) <= 37.80
        }  # fmt: skip
        changes = {(1, key) for key in there - before} | {(-1, key) for key in before - there}
        assert told.pop((tick - BEGIN) // 60, set()) == changes
        before = there
    assert not told and before
