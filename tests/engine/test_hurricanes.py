"""examples/hurricanes.sql over the real tracks, against every storm and every buoy of every tick."""

from __future__ import annotations

import csv
import gzip
import json
import math
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun
from tests.long import so_many

FILE = DATA / "hurdat2" / "atlantic.csv.gz"
EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT, BUOYS = (EXAMPLES / "hurricanes.sql").read_text(), EXAMPLES / "atlantic_buoys.csv"
YEARS = so_many(range(2003, 2006), range(1851, 2020))
COLUMNS = ("Key", "Name", "DateTime", "Status", "Lat", "Lon", "Wind")
TICK, STALE = timedelta(hours=6), timedelta(hours=12)
EARTH_M, MILE_M = 6_371_008.8, 1852.0

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the real data sets are not beside the project")

Row = dict[str, Any]


def rows() -> list[Row]:
    with gzip.open(FILE, "rt", newline="") as file:
        found = [r for r in csv.DictReader(file) if int(r["DateTime"][:4]) in YEARS and r["Key"] and r["Lon"]]
    for row in found:
        row["at"] = datetime.fromisoformat(row["DateTime"]).replace(tzinfo=UTC)  # type: ignore[assignment]
    return sorted(found, key=lambda r: (r["at"], r["Key"]))


def metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The haversine formula, as any textbook has it."""
    (lon, lat), (to_lon, to_lat) = (tuple(map(math.radians, place)) for place in (a, b))
    part = (
        math.sin((to_lat - lat) / 2) ** 2
        + math.cos(lat) * math.cos(to_lat) * math.sin((to_lon - lon) / 2) ** 2
    )
    return 2 * EARTH_M * math.asin(math.sqrt(part))


def answers(there: dict[str, Row], buoys: list[tuple[str, str, float, float]]) -> set[tuple[Any, ...]]:
    """Who is in which answer, as brute force has it."""
    place = {key: (float(r["Lon"]), float(r["Lat"])) for key, r in there.items()}
    found: set[tuple[Any, ...]] = set()
    for key, storm in there.items():
        for station, water, lon, lat in buoys:
            if storm["Status"] == "HU" and metres(place[key], (lon, lat)) <= 200 * MILE_M:
                found.add(("in_reach", storm["Name"], key, station, water))
        maria = place.get("AL142005")
        if maria and key != "AL142005" and metres(place[key], maria) <= 850 * MILE_M:
            found.add(("beside_maria", storm["Name"]))
    for a, b in combinations(sorted(there), 2):
        are_hurricanes = there[a]["Status"] == there[b]["Status"] == "HU"
        if are_hurricanes and metres(place[a], place[b]) <= 850 * MILE_M:
            found.add(("dancing", there[a]["Name"], there[b]["Name"]))
    return found


def test_who_was_in_the_way_is_what_brute_force_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readings = rows()
    path = tmp_path / "atlantic.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(readings)
    shutil.copy(BUOYS, tmp_path)
    planner = Planner(tmp_path)
    planner.run_script(SCRIPT)
    run = DirectRun(planner.plan(), shards=2, slice_bytes=30_000)
    run.feed_file("storms", path, is_last=True)
    told: dict[str, Counter[tuple[Any, ...]]] = {}
    for update in map(json.loads, run.updates):
        row = (update["query"], *update["row"].values())
        told.setdefault(update["tick"], Counter())[row] += update["sign"]
    with open(BUOYS, newline="") as file:
        buoys = [(b["station"], b["water"], float(b["lon"]), float(b["lat"])) for b in csv.DictReader(file)]
    assert len(buoys) == 11
    last: dict[str, Row] = {}
    held: Counter[tuple[Any, ...]] = Counter()
    at, end = 0, readings[-1]["at"]
    tick = readings[0]["at"].replace(hour=0, minute=0)
    while tick <= end + TICK:
        while at < len(readings) and readings[at]["at"] <= tick:
            last[readings[at]["Key"]] = readings[at]
            at += 1
        last = {key: r for key, r in last.items() if tick - r["at"] <= STALE}
        held.update(told.pop(tick.strftime("%Y-%m-%dT%H:%M:%SZ"), {}))
        held = Counter({row: n for row, n in held.items() if n})
        if at < len(readings):  # the last tick of a file closes no later one
            assert set(held) == answers(last, buoys), tick
        tick += TICK
    queries = {json.loads(line)["query"] for line in run.updates}
    assert not told and queries == {"in_reach", "beside_maria", "dancing"}
