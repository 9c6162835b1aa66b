"""BerlinMOD's range and temporal questions of an archive, by brute force over the readings."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from sanderling.ask.archive import ArchivePast
from sanderling.clock import show_time, tick_ends
from sanderling.ingest.files import find_files, unpack
from sanderling.plan.planner import Planner
from tests.ask.archived import archived, past_of
from tests.ask.asking import asked
from tests.ingest.streams import real
from tests.long import so_many

TICK_US = 10_000_000
STREAM = """CREATE STREAM trips (time TIMESTAMP, veh_id BIGINT, lon DOUBLE, lat DOUBLE)
  KEY veh_id TIME time LOCATION (lon, lat) WITH (path = '{path}', format = 'csv', tick = '10 seconds');"""


def micros(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


def column(name: str, which: str) -> list[str]:
    with open(real("berlinmod", name), newline="") as file:
        return [row[which] for row in csv.DictReader(file)]


class Plain:
    """All readings as columns; of one vehicle at one time the last."""

    def __init__(self, path: Path):
        with open(path, newline="") as file:
            found = {
                (micros(r["time"]), int(r["veh_id"])): (float(r["lon"]), float(r["lat"]))
                for r in csv.DictReader(file)
            }
        self.ts, self.who = (np.array(part) for part in zip(*found, strict=True))
        self.x, self.y = np.array([*found.values()]).T

    def as_of(self, at: int) -> dict[int, tuple[float, float]]:
        """Where everybody was at the end of the tick."""
        found = np.flatnonzero(self.ts <= tick_ends(np.array([at]), TICK_US)[0])
        found = found[np.argsort(self.ts[found], kind="stable")]
        return {int(self.who[i]): (float(self.x[i]), float(self.y[i])) for i in found}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plain, Planner, ArchivePast]:
    folder = tmp_path_factory.mktemp("berlinmod")
    (found,) = unpack(find_files(str(real("berlinmod", "brussels_trips.csv.gz"))), folder)
    planner = Planner()
    planner.run_script(STREAM.format(path=found.path))
    archive = archived(planner, "trips", folder, hours=True)
    return Plain(Path(found.path)), planner, past_of(archive)


def rows(world: tuple[Plain, Planner, ArchivePast], sql: str) -> list[tuple[Any, ...]]:
    _, planner, past = world
    return sorted(tuple(row.values()) for row in asked(planner, sql, past).to_pylist())


def test_at_instants(world: tuple[Plain, Planner, ArchivePast]) -> None:
    """Where everybody was, and who was in which region."""
    plain, regions = world[0], [shapely.from_wkt(t) for t in column("query_regions.csv", "geom")]
    first, last = int(plain.ts.min()), int(plain.ts.max())
    instants = [
        t for t in map(micros, column("query_instants.csv", "instant")) if first <= t < last - TICK_US
    ]
    assert len(instants) > 50
    several = instants[:: so_many(12, 1)]
    for number, at in enumerate(several):
        there = plain.as_of(at)
        said = rows(world, f"SELECT veh_id, lon, lat FROM trips AS OF '{show_time(at)}'")
        assert said == sorted((who, *place) for who, place in there.items())
        # A region around somebody, too: those of the data are small.
        own = shapely.Point(*there[min(there)]).buffer(0.02, quad_segs=3)
        for region in (regions[number % len(regions)], own):
            sql = f"SELECT veh_id FROM trips AS OF '{show_time(at)}' INSIDE {shapely.to_wkt(region, -1)}"
            inside = [who for who, place in there.items() if region.covers(shapely.Point(*place))]
            assert rows(world, sql) == sorted((who,) for who in inside), sql


def test_in_periods_and_regions(world: tuple[Plain, Planner, ArchivePast]) -> None:
    """Who was in a region in a period, and how many of their readings were."""
    plain = world[0]
    regions = [shapely.from_wkt(text) for text in column("query_regions.csv", "geom")]
    periods = [text.strip("[]()").split(", ") for text in column("query_periods.csv", "period")]
    first, last = int(plain.ts.min()), int(plain.ts.max())
    points = shapely.points(plain.x, plain.y)
    busy = sorted(regions, key=lambda r: -int(shapely.covers(r, points).sum()))[: so_many(3, 10)]
    seen = 0
    for begin, end in [(micros(a), micros(b)) for a, b in periods][: so_many(4, 100)]:
        begin, end = max(begin, first), min(end, last)
        if begin >= end:
            continue
        for region in busy:
            is_in = (plain.ts >= begin) & (plain.ts <= end) & shapely.covers(region, points)
            wanted = [(int(w), int((plain.who[is_in] == w).sum())) for w in np.unique(plain.who[is_in])]
            between = f"BETWEEN '{show_time(begin)}' AND '{show_time(end)}'"
            inside = f"INSIDE {shapely.to_wkt(region, -1)}"
            sql = f"SELECT veh_id, COUNT(*) AS n FROM trips {between} {inside} GROUP BY veh_id"
            assert rows(world, sql) == wanted, sql
            seen += len(wanted)
    assert seen
