"""Patterns over real files, against the oracle: cabs go to town, ships sail, buses miss a stop."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun
from tests.oracle.patterns import Pattern, Position, Step, told
from tests.oracle.persistency import Persistency

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

SECOND = 1_000_000
MINUTE = 60 * SECOND
Box = tuple[float, float, float, float]
Steps = dict[str, Callable[["Reading"], bool]]


@dataclass(frozen=True)
class Reading:
    key: str
    second: int
    x: str
    y: str
    speed: float

    def is_in(self, box: Box) -> bool:
        return box[0] <= float(self.x) <= box[2] and box[1] <= float(self.y) <= box[3]


@dataclass(frozen=True)
class Case:
    """A file as readings in the order they came, the pattern, and what each step asks of a reading."""

    path: str
    reading: Callable[[dict[str, str]], Reading]
    tick_s: int
    sql: str
    steps: Steps
    pattern: Callable[[Callable[..., Step]], tuple[Step, tuple[Position, ...]]]
    least: int
    lateness: str = "0 seconds"


AIRPORT, DOWNTOWN = (-122.40, 37.60, -122.37, 37.63), (-122.42, 37.77, -122.39, 37.80)
SOUTH_WEST = (-122.52, 37.70, -122.42, 37.755)
# Two stops of a trolley line, one behind the other.
BEFORE, AFTER = (24.085, 56.945, 24.105, 56.957), (24.105, 56.948, 24.125, 56.962)


def box(area: Box) -> str:
    return f"INSIDE ({', '.join(map(str, area))})"


CASES = {
    "cabs dwell at the airport, then downtown, and not in the south-west in between": Case(
        "sf-cabs/cabs_2h.csv.gz",
        lambda r: Reading(r["cab_id"], int(r["unix_time"]), r["lon"], r["lat"], 0.0), 60,
        f"""WITH airport AS (SELECT id FROM fleet {box(AIRPORT)} PERSISTENCY 10 MINUTES),
        astray AS (SELECT id FROM fleet {box(SOUTH_WEST)}), downtown AS (SELECT id FROM fleet {box(DOWNTOWN)})
        SELECT id, OUTCOME() AS how FROM airport THEN NOT astray THEN downtown WITHIN 1 HOUR
        REPORT ALL WITH TIMEOUTS""",
        {"airport": lambda r: r.is_in(AIRPORT), "astray": lambda r: r.is_in(SOUTH_WEST),
         "downtown": lambda r: r.is_in(DOWNTOWN)},
        lambda step: (step("airport", 10 * MINUTE), (
            Position((step("downtown"),), nots=(step("astray"),), within_us=60 * MINUTE),)), 40,
    ),
    "ships lie at anchor for half an hour, and are under way within two hours": Case(
        "ais/marinecadastre_zone01_2017-01.csv",
        lambda r: Reading(r["MMSI"], second_of(r["BaseDateTime"]), r["LON"], r["LAT"], float(r["SOG"])), 300,
        """WITH lies AS (SELECT id FROM fleet WHERE speed < 0.5 PERSISTENCY 30 MINUTES),
        sails AS (SELECT id FROM fleet WHERE speed > 2)
        SELECT id, OUTCOME() AS how FROM lies THEN sails WITHIN 2 HOURS REPORT ALL WITH TIMEOUTS""",
        {"lies": lambda r: r.speed < 0.5, "sails": lambda r: r.speed > 2},
        lambda step: (step("lies", 30 * MINUTE), (
            Position((step("sails"),), within_us=120 * MINUTE),)), 10,
    ),
    "buses miss a stop that they should reach": Case(
        "riga/vehicle_positions.csv.gz",
        lambda r: Reading(r["vehicle_id"], int(r["timestamp"]), r["longitude"], r["latitude"], 0.0), 10,
        f"""WITH before AS (SELECT id FROM fleet {box(BEFORE)} PERSISTENCY 20 SECONDS),
        after AS (SELECT id FROM fleet {box(AFTER)})
        SELECT id, OUTCOME() AS how FROM before THEN NOT after WITHIN 5 MINUTES REPORT ALL WITH TIMEOUTS""",
        {"before": lambda r: r.is_in(BEFORE), "after": lambda r: r.is_in(AFTER)},
        lambda step: (step("before", 20 * SECOND), (
            Position((), nots=(step("after"),), within_us=5 * MINUTE),)), 40, "10 minutes",
    ),
}  # fmt: skip


def second_of(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def readings_of(case: Case) -> list[Reading]:
    data = (DATA / case.path).read_bytes()
    text = (gzip.decompress(data) if case.path.endswith(".gz") else data).decode()
    found = [case.reading(row) for row in csv.DictReader(io.StringIO(text))]
    return found if case.lateness != "0 seconds" else sorted(found, key=lambda r: r.second)


def wanted(case: Case, readings: list[Reading]) -> Iterator[tuple[str, str, str]]:
    """Object by object, each by its last reading up to each tick; of one time the last that came."""
    tick_us = case.tick_s * SECOND
    last_tick = max(-(-r.second // case.tick_s) for r in readings)
    by_key: dict[str, list[Reading]] = {}
    for r in sorted(readings, key=lambda r: r.second):
        by_key.setdefault(r.key, []).append(r)
    for key, mine in by_key.items():
        by_tick = {-(-r.second // case.tick_s): r for r in mine}
        now, answers = None, {name: dict[int, list[tuple[object, ...]]]() for name in case.steps}
        for tick in range(min(by_tick), last_tick + 1):
            now = by_tick.get(tick, now)
            for name, holds in case.steps.items():
                answers[name][tick * tick_us] = [(key,)] if now is not None and holds(now) else []

        def step(name: str, stay_us: int = 0, answers: object = answers) -> Step:
            by = () if name == next(iter(case.steps)) else ((next(iter(case.steps)), 0),)
            return Step(name, answers[name], Persistency(stay_us, (0,)), by)  # type: ignore[index]

        first, positions = case.pattern(step)
        for run in told(Pattern(first, positions, tick_us, has_timeouts=True)):
            yield show_time(run.tick), key, run.outcome


@pytest.mark.parametrize("name", CASES)
def test_what_is_told_is_what_the_oracle_says(name: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / "fleet.csv"
    readings = readings_of(case)
    rows = (f"{r.key},{r.second},{r.x},{r.y},{r.speed}\n" for r in readings)
    path.write_text("id,ts,x,y,speed\n" + "".join(rows))
    planner = Planner(tmp_path)
    planner.run_script(
        "CREATE STREAM fleet (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE) KEY id TIME ts "
        f"LOCATION (x, y) WITH (path = 'fleet.csv', tick = {case.tick_s}, lateness = '{case.lateness}');"
        f"REGISTER PATTERN told AS {case.sql}"
    )
    run = DirectRun(planner.plan(), shards=2, slice_bytes=500_000)
    run.feed_file("fleet", path, is_last=True)
    updates = [json.loads(line) for line in run.updates]
    got = Counter((u["tick"], u["row"]["id"], u["row"]["how"]) for u in updates)
    assert not run.letters or case.path.startswith("ais")
    assert got == Counter(wanted(case, readings))
    assert len(got) >= case.least and len({how for *_, how in got}) > 1
