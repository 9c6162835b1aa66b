"""BerlinMOD's nine queries of a stream, over vehicles around Brussels, against brute force at every tick."""

from __future__ import annotations

import csv
import gzip
import json
import math
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun
from tests.long import so_many

FILE = DATA / "berlinmod" / "brussels_trips.csv.gz"
EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = (EXAMPLES / "berlinmod.sql").read_text()
PLACES = EXAMPLES / "berlinmod_places.geojson"
COLUMNS = ("time", "veh_id", "trip_id", "lon", "lat")
TICK = timedelta(seconds=10)
NO_TIME = timedelta()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARTH_M = 6_371_008.8
DAYS = so_many(1, 4)
POINT = (4.35, 50.86)
ROAD = ((4.33, 50.858), (4.35, 50.862), (4.38, 50.843))

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the real data sets are not beside the project")

# Of queries that are looked at now and then.
EVERY_S = {"q2_where": 300, "q4_windowed": 600, "q6_travelled": 3600, "q6_windowed": 600, "q9_apart": 600}

Place = tuple[float, float]
Answer = dict[tuple[Any, ...], tuple[float, ...]]  # rows, without the numbers that may round otherwise


@dataclass(frozen=True)
class Reading:
    at: datetime
    vehicle: int
    place: Place
    row: dict[str, str]


def readings() -> list[Reading]:
    """Those of the first days; of one vehicle at one time the last."""
    found: dict[tuple[datetime, int], Reading] = {}
    with gzip.open(FILE, "rt", newline="") as file:
        for row in csv.DictReader(file):
            if not row["time"] or int(row["time"][8:10]) > DAYS:
                continue
            at, vehicle = datetime.fromisoformat(row["time"]), int(row["veh_id"])
            found[at, vehicle] = Reading(at, vehicle, (float(row["lon"]), float(row["lat"])), row)
    return [found[at] for at in sorted(found)]


def metres(a: Place, b: Place) -> float:
    """The haversine formula, as any textbook has it."""
    (lon, lat), (to_lon, to_lat) = (tuple(map(math.radians, place)) for place in (a, b))
    part = math.sin((to_lat - lat) / 2) ** 2
    part += math.cos(lat) * math.cos(to_lat) * math.sin((to_lon - lon) / 2) ** 2
    return 2 * EARTH_M * math.asin(math.sqrt(part))


def leg(a: Place, b: Place) -> float:
    """In kilometres, of two that are side by side."""
    north, east = math.radians(b[1] - a[1]), math.radians(b[0] - a[0]) * math.cos(math.radians(b[1]))
    return EARTH_M / 1000 * math.hypot(north, east)


def in_box(place: Place) -> bool:
    return 4.36 <= place[0] <= 4.44 and 50.79 <= place[1] <= 50.87


def from_road(place: Place) -> float:
    """In metres, on a flat map around the place."""
    east = math.cos(math.radians(place[1]))
    unit = EARTH_M * math.pi / 180
    flat = [((lon - place[0]) * unit * east, (lat - place[1]) * unit) for lon, lat in ROAD]
    found = math.inf
    for (x, y), (u, v) in pairwise(flat):
        along = max(0.0, min(1.0, -(x * (u - x) + y * (v - y)) / ((u - x) ** 2 + (v - y) ** 2)))
        found = min(found, math.hypot(x + along * (u - x), y + along * (v - y)))
    return found


@dataclass
class Seen:
    """What has been seen so far, and the answers that are looked at now and then, as they were then."""

    last: dict[int, Place] = field(default_factory=dict)
    km: dict[int, float | None] = field(default_factory=dict)
    first: dict[tuple[str, int], datetime] = field(default_factory=dict)
    looked: dict[str, Answer] = field(default_factory=lambda: {name: {} for name in EVERY_S})
    places: dict[str, Place] = field(default_factory=dict)
    # Readings of the last ten minutes, each with the vehicle's one before.
    lately: list[tuple[Reading, Reading | None]] = field(default_factory=list)
    before: dict[int, Reading] = field(default_factory=dict)
    tick: datetime = EPOCH

    def take(self, r: Reading) -> None:
        if r.vehicle in self.last:
            self.km[r.vehicle] = (self.km[r.vehicle] or 0.0) + leg(self.last[r.vehicle], r.place)
        else:
            self.km[r.vehicle] = None
        self.last[r.vehicle] = r.place
        self.lately.append((r, self.before.get(r.vehicle)))
        self.before[r.vehicle] = r
        for name, place in self.places.items():
            if metres(place, r.place) <= 500:
                self.first.setdefault((name, r.vehicle), r.at)

    def look(self, tick: datetime) -> bool:
        self.tick = tick
        now = [
            name
            for name, seconds in EVERY_S.items()
            if (tick - EPOCH) % timedelta(seconds=seconds) == NO_TIME
        ]
        for name in now:
            self.looked[name] = getattr(self, name)()
        return bool(now)

    def q2_where(self) -> Answer:
        return {(4, *self.last[4]): ()} if 4 in self.last else {}

    def q6_travelled(self) -> Answer:
        return {
            (v,) if km is not None else (v, None): (km,) if km is not None else ()
            for v, km in self.km.items()
        }

    def in_window(self) -> Iterator[tuple[Reading, Reading | None]]:
        """What came in the last ten minutes, with the reading before if it did too."""
        begin = self.tick - timedelta(seconds=600)
        self.lately = [(r, before) for r, before in self.lately if r.at > begin]
        return (
            (r, before if before is not None and before.at > begin else None) for r, before in self.lately
        )

    def q4_windowed(self) -> Answer:
        legs = ((r, before) for r, before in self.in_window() if before is not None)
        return {(r.vehicle,): () for r, before in legs if in_box(r.place) and not in_box(before.place)}

    def q6_windowed(self) -> Answer:
        km: dict[int, float | None] = {}
        for r, before in self.in_window():
            so_far = km.setdefault(r.vehicle, None)
            if before is not None:
                km[r.vehicle] = (so_far or 0.0) + leg(before.place, r.place)
        return {
            (v,) if far is not None else (v, None): (far,) if far is not None else () for v, far in km.items()
        }

    def q9_apart(self) -> Answer:
        return {(): (metres(self.last[4], self.last[5]),)} if {4, 5} <= self.last.keys() else {}

    def answers(self) -> dict[str, Answer]:
        there, near = sorted(self.last.items()), {v for v, p in self.last.items() if metres(p, POINT) <= 3000}
        box = [v for v, place in there if in_box(place)]
        pairs = [
            (a, b) for (a, p), (b, q) in combinations(there, 2) if {a, b} <= near and metres(p, q) <= 500
        ]
        return self.looked | {
            "q1_seen": {(len(there),): ()},
            "q3_near": {(v,): () for v, p in there if metres(p, POINT) <= 2000},
            "q4_enters": {(v,): () for v in box},
            "q5_meet": {pair: () for pair in pairs},
            "q7_first": {(*key, at): () for key, at in self.first.items()},
            "q8_road": {(v,): () for v, p in there if from_road(p) <= 300},
        }


def ticks(told: list[Reading], places: dict[str, Place]) -> Iterator[tuple[str, dict[str, Answer]]]:
    """Answers at the end of each in which something came, or some window is looked at."""
    seen, at = Seen(places=places), 0
    tick = EPOCH - (EPOCH - told[0].at) // TICK * TICK
    end = EPOCH - (EPOCH - told[-1].at) // TICK * TICK
    while tick <= end:
        first = at
        while at < len(told) and told[at].at <= tick:
            seen.take(told[at])
            at += 1
        if seen.look(tick) or at > first:
            yield tick.strftime("%Y-%m-%dT%H:%M:%SZ"), seen.answers()
        tick += TICK


def split(query: str, row: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """What is compared as it is, and what is a sum or a distance."""
    if query == "q9_apart":
        return (), row
    if query in ("q6_travelled", "q6_windowed"):
        return (row, ()) if row[1] is None else (row[:1], row[1:])
    if query == "q7_first":
        return (*row[:2], datetime.fromisoformat(row[2])), ()
    return row, ()


def test_the_nine_queries_are_what_brute_force_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(PLACES, tmp_path)
    told = readings()
    path = tmp_path / "trips.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(r.row for r in told)
    planner = Planner(tmp_path)
    planner.run_script(SCRIPT)
    run = DirectRun(planner.plan(), shards=2, slice_bytes=300_000)
    run.feed_file("vehicles", path, is_last=True)
    assert not run.letters
    changes: dict[str, list[tuple[str, int, tuple[Any, ...]]]] = {}
    for update in map(json.loads, run.updates):
        row = tuple(update["row"].values())
        changes.setdefault(update["tick"], []).append((update["query"], update["sign"], row))
    places = {
        f["properties"]["name"]: tuple(f["geometry"]["coordinates"])
        for f in json.loads(PLACES.read_text())["features"]
    }
    held: Counter[tuple[str, tuple[Any, ...]]] = Counter()
    spoke: set[str] = set()
    for tick, wanted in ticks(told, places):
        for query, sign, row in changes.pop(tick, []):
            held[query, row] += sign
            spoke.add(query)
        held = +held
        found: dict[str, Answer] = {query: {} for query in wanted}
        for query, row in held.elements():
            known, numbers = split(query, row)
            assert known not in found[query]
            found[query][known] = numbers
        for query, rows in wanted.items():
            assert found[query].keys() == rows.keys(), (tick, query)
            for known, numbers in rows.items():
                pairs = zip(found[query][known], numbers, strict=True)
                assert all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6) for a, b in pairs), (tick, query)
    assert not changes and spoke == set(wanted)
