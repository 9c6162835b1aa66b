"""What a newcomer asks of real data: the scripts of examples/first_hour, against brute force."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from tests.conftest import DATA
from tests.engine.direct import DirectRun
from tests.long import so_many

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data sets are not beside the project")

SECOND, EARTH_M = 1_000_000, 6_371_008.8
MILE = 1852.0
Row = dict[str, str]
Told = Counter[tuple[str, int, tuple[Any, ...]]]

SCRIPTS = Path(__file__).parents[2] / "examples" / "first_hour"


def rows_of(name: str, is_wanted: Callable[[Row], bool] = lambda row: True) -> list[Row]:
    with gzip.open(DATA / name, "rt", newline="") as file:
        return [row for row in csv.DictReader(file) if is_wanted(row)]


def written(folder: Path, rows: Sequence[Row], name: str = "part.csv") -> Path:
    path = folder / name
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def unpacked(folder: Path, name: str) -> Path:
    """As the command does it by itself."""
    path = folder / "whole.csv"
    path.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    return path


def told_by(name: str, query: str, shards: int = 3, **paths: Path) -> tuple[Told, DirectRun]:
    """What a query of an example says: when, with which sign, and what. `paths` are of streams and tables."""
    planner, script = Planner(), (SCRIPTS / name).read_text()
    for relation, path in paths.items():
        declared = rf"(CREATE (?:STREAM|TABLE) {relation} [^;]*?path = )'[^']*'"
        script, n = re.subn(declared, rf"\1'{path}'", script)
        assert n == 1
    planner.run_script(script)
    run = DirectRun(planner.plan(), shards, 1 << 20)
    for stream in planner.streams.values():
        assert stream.path is not None
        run.feed_file(stream.name, Path(stream.path), is_last=True)
    found = [u for u in map(json.loads, run.updates) if u["query"] == query]
    return Counter((u["tick"], u["sign"], tuple(u["row"].values())) for u in found), run


def changes(answers: Iterable[tuple[int, Counter[Any]]]) -> Told:
    """The difference of each answer and the one before, by tick in seconds."""
    told: Told = Counter()
    before: Counter[Any] = Counter()
    for tick, now in answers:
        for row in {*now, *before}:
            if now[row] != before[row]:
                assert abs(now[row] - before[row]) == 1
                told[show_time(tick * SECOND), int(np.sign(now[row] - before[row])), row] += 1
        before = now
    return told


def last_by_tick(
    rows: Sequence[Row], key: str, time: Callable[[Row], int], tick: int
) -> dict[int, dict[str, Row]]:
    """Each object's last reading, at every tick."""
    by_tick: dict[int, list[Row]] = {}
    for row in sorted(rows, key=time):  # stable: of one time the later arrival counts
        by_tick.setdefault(-(-time(row) // tick) * tick, []).append(row)
    found: dict[int, dict[str, Row]] = {}
    now: dict[str, Row] = {}
    for at in range(min(by_tick), max(by_tick) + 1, tick):
        now = now | {row[key]: row for row in by_tick.get(at, [])}
        found[at] = now
    return found


def cabs(minutes: int) -> tuple[list[Row], dict[int, dict[str, Row]]]:
    begin = 1211569200
    rows = rows_of("sf-cabs/cabs_2h.csv.gz", lambda r: int(r["unix_time"]) <= begin + 60 * minutes)
    return rows, last_by_tick(rows, "cab_id", lambda r: int(r["unix_time"]), 60)


def vectors(rows: Sequence[Row], lon: str, lat: str) -> np.ndarray:
    a, b = (np.radians([float(row[name]) for row in rows]) for name in (lon, lat))
    return np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], axis=1)


def within(places: np.ndarray, metres: float) -> list[tuple[int, int]]:
    """Pairs of places, by their chords."""
    square = ((places[:, None, :] - places[None, :, :]) ** 2).sum(axis=2)
    reach = (2 * np.sin(metres / EARTH_M / 2)) ** 2
    assert not (np.abs(square - reach) < 1e-15).any(), "too near to say"
    return [(i, j) for i, j in np.argwhere(square <= reach).tolist() if i < j]


def test_occupied_cabs_by_neighbourhood(tmp_path: Path) -> None:
    rows, answers = cabs(so_many(30, 120))
    polygons = DATA / "polygons/san-francisco.geojson"
    told, _ = told_by("occupied.sql", "occupied", cabs=written(tmp_path, rows), hoods=polygons)
    features = json.loads(polygons.read_text())["features"]
    hoods = [(f["properties"]["name"], shapely.from_geojson(json.dumps(f["geometry"]))) for f in features]

    def counted(now: dict[str, Row]) -> Counter[Any]:
        busy = [row for row in now.values() if row["occupied"] == "1"]
        x, y = (np.array([float(row[name]) for row in busy]) for name in ("lon", "lat"))
        counts = [(name, int(shapely.intersects_xy(hood, x, y).sum())) for name, hood in hoods]
        return Counter(count for count in counts if count[1])

    assert told == changes((tick, counted(now)) for tick, now in answers.items()) and told


def test_cabs_that_stay_at_the_airport(tmp_path: Path) -> None:
    rows, answers = cabs(so_many(40, 120))
    ring = [
        (-122.405, 37.612),
        (-122.375, 37.605),
        (-122.372, 37.625),
        (-122.398, 37.630),
        (-122.405, 37.612),
    ]
    told, _ = told_by("airport.sql", "waiting", cabs=written(tmp_path, rows))
    airport, since = shapely.Polygon(ring), dict[str, int]()

    def staying(tick: int, now: dict[str, Row]) -> Counter[Any]:
        for key, row in now.items():
            if not shapely.intersects_xy(airport, float(row["lon"]), float(row["lat"])):
                since.pop(key, None)
            else:
                since.setdefault(key, tick)
        return Counter((key,) for key, begin in since.items() if tick - begin >= 600)

    assert told == changes((tick, staying(tick, now)) for tick, now in answers.items()) and told


def test_the_nearest_free_cabs_to_a_customer_of_another_stream(tmp_path: Path) -> None:
    rows, answers = cabs(so_many(20, 120))
    with open(SCRIPTS / "customers.csv", newline="") as file:
        path = [row for row in csv.DictReader(file) if int(row["ts"]) <= max(answers)]
    customers = written(tmp_path, path, "customers.csv")
    told, _ = told_by("nearest.sql", "nearest", cabs=written(tmp_path, rows), customers=customers)
    where = last_by_tick(path, "id", lambda r: int(r["ts"]), 60)

    def nearest(tick: int, now: dict[str, Row]) -> Counter[Any]:
        free = sorted((row for row in now.values() if row["occupied"] == "0"), key=lambda row: row["cab_id"])
        zoe = where[min(tick, max(where))]["zoe"]
        chords = ((vectors(free, "lon", "lat") - vectors([zoe], "lon", "lat")) ** 2).sum(axis=1)
        first = np.argsort(chords, kind="stable")
        assert np.diff(chords[first[2:4]]) > 1e-15, "too near to say"
        return Counter((free[i]["cab_id"],) for i in first[:3])

    assert told == changes((tick, nearest(tick, now)) for tick, now in answers.items()) and told


def test_a_query_that_becomes_another_while_it_runs(tmp_path: Path) -> None:
    rows, answers = cabs(25)
    told, _ = told_by("change.sql", "near", cabs=written(tmp_path, rows))
    middle: Row = {"lon": "-122.42", "lat": "37.78"}
    ten, twenty = (1211569200 + 60 * minute for minute in (10, 20))

    def near(tick: int, now: dict[str, Row]) -> Counter[Any]:
        cabs = list(now.values())
        chords = ((vectors(cabs, "lon", "lat") - vectors([middle], "lon", "lat")) ** 2).sum(axis=1)
        reach = (2 * np.sin((500 if tick < ten else 1000) / EARTH_M / 2)) ** 2
        return Counter((cabs[i]["cab_id"],) for i in np.flatnonzero(chords <= reach))

    before = ((tick, near(tick, now)) for tick, now in answers.items() if tick < twenty)
    assert told == changes(before) and told


def test_ships_near_each_other_straight_from_their_file(tmp_path: Path) -> None:
    """Its times are written 26/04/2026 00:00:00, and a latitude of 91 says that there is none."""
    told, run = told_by("ships.sql", "near", ships=unpacked(tmp_path, "ais/danish_raw_97s.csv.gz"))

    def second(row: Row) -> int:
        return int(datetime.strptime(row["# Timestamp"], "%d/%m/%Y %H:%M:%S").replace(tzinfo=UTC).timestamp())

    rows = rows_of("ais/danish_raw_97s.csv.gz")
    known = [row for row in rows if float(row["Latitude"]) <= 90]
    assert {reason for _, reason, _ in run.letters} == {"bad_place"}
    assert len(run.letters) == len(rows) - len(known)

    def near(now: dict[str, Row]) -> Counter[Any]:
        ships = sorted(now.values(), key=lambda row: int(row["MMSI"]))
        pairs = within(vectors(ships, "Longitude", "Latitude"), 2000.0)
        return Counter((int(ships[i]["MMSI"]), int(ships[j]["MMSI"])) for i, j in pairs)

    answers = last_by_tick(known, "MMSI", second, 20)
    assert told == changes((tick, near(now)) for tick, now in answers.items()) and told


def test_flights_that_come_near_once_per_encounter(tmp_path: Path) -> None:
    hours = so_many(3, 17)
    rows = rows_of("flights/switzerland.csv.gz", lambda r: r["timestamp"] < f"2018-08-01 {5 + hours:02}")
    told, _ = told_by("flights.sql", "near", flights=written(tmp_path, rows))
    wanted, last = Counter(), dict[tuple[str, str], int]()
    by_time: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["longitude"] and row["latitude"]:
            by_time.setdefault(row["timestamp"], {})[row["icao24"]] = row
    for time, now in sorted(by_time.items()):
        second = int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp())
        tick = -(-second // 10) * 10
        planes = sorted((row for row in now.values() if row["altitude"]), key=lambda row: row["icao24"])
        near = within(vectors(planes, "longitude", "latitude"), 5 * MILE) if planes else []
        for i, j in near:
            pair = planes[i]["icao24"], planes[j]["icao24"]
            is_level = abs(float(planes[i]["altitude"]) - float(planes[j]["altitude"])) <= 1000
            if is_level and tick - last.get(pair, -(10**9)) >= 600:
                last[pair] = tick
                wanted[show_time(tick * SECOND), 1, pair] += 1
    assert told == wanted and told


def test_buses_that_fall_silent(tmp_path: Path) -> None:
    """They arrive up to ten minutes late, and some lines come twice."""
    told, run = told_by("silent.sql", "silent", buses=unpacked(tmp_path, "riga/vehicle_positions.csv.gz"))
    assert not run.letters
    seen: dict[int, set[int]] = {}
    for row in rows_of("riga/vehicle_positions.csv.gz"):
        seen.setdefault(int(row["vehicle_id"]), set()).add(int(row["timestamp"]))
    end = -(-max(map(max, seen.values())) // 10) * 10
    wanted: Told = Counter()
    for bus, times in seen.items():
        in_order = sorted(times)
        for at, following in zip(in_order, [*in_order[1:], None], strict=True):
            silent = (at + 300) // 10 * 10 + 10
            again = end + 10 if following is None else -(-following // 10) * 10
            if silent <= end and silent < again:
                wanted[show_time(silent * SECOND), 1, (bus, at)] += 1
                if again <= end:
                    wanted[show_time(again * SECOND), -1, (bus, at)] += 1
    assert told == wanted and told
