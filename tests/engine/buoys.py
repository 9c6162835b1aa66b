"""The triggers of examples/buoys.sql as brute force understands them, and the readings of the buoys.

Brute force looks at some days at a time, with as many before them as a trigger reaches back.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

from tests.conftest import DATA
from tests.oracle.triggers import Distance, Event, Time, Trigger, Values, solutions_early

FILE = DATA / "tao" / "tao_elnino.csv.gz"
SCRIPT = (Path(__file__).parents[2] / "examples" / "buoys.sql").read_text()
DAY = 86_400_000_000
ID, SST, LON = range(3)  # what events are compared by
DAYS_AT_ONCE = 8

Reading = dict[str, Any]
Update = tuple[str, str, tuple[Any, ...]]


def readings_of(years: Iterable[int]) -> list[Reading]:
    """In order of day and buoy; what is missing is None."""
    wanted = {str(year) for year in years}
    with gzip.open(FILE, "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["date"][:4] in wanted]
    found = [
        {name: None if text == "" else text if name == "date" else float(text) for name, text in row.items()}
        for row in rows
    ]
    for reading in found:
        reading["ts"] = (date.fromisoformat(reading["date"]) - date(1970, 1, 1)).days * DAY
        reading["id"] = int(reading["mooring_segment"])
    return sorted(found, key=lambda r: (r["ts"], r["id"]))


def write(path: Path, readings: list[Reading]) -> Path:
    names = SCRIPT[SCRIPT.index("mooring_segment INT") : SCRIPT.index("\n)")].split(",")
    with open(path, "w", newline="") as file:
        columns = [name.split()[0] for name in names]
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(["" if r[c] is None else r[c] for c in columns] for r in readings)
    return path


# ----- one event


def is_in(r: Reading, x1: float, y1: float, x2: float, y2: float) -> bool:
    return bool(x1 <= r["lon"] <= x2 and y1 <= r["lat"] <= y2)


def above(r: Reading, name: str, least: float) -> bool:
    return r[name] is not None and r[name] > least


def below(r: Reading, name: str, most: float) -> bool:
    return r[name] is not None and r[name] < most


def is_under_warmer_air(r: Reading) -> bool:
    air, sea = r["air_temp"], r["sea_surface_temp"]
    return air is not None and sea is not None and air > sea + 0.3


def wind_squared(r: Reading) -> float:
    east, north = r["zon_winds"], r["mer_winds"]
    return math.nan if east is None or north is None else east * east + north * north


# ----- a row


def keys_and_days(*chosen: Reading) -> tuple[Any, ...]:
    return tuple(v for r in chosen for v in (r["id"], r["date"]))


def of_easing(strong: Reading, easy: Reading, later: Reading) -> tuple[Any, ...]:
    warmer = later["sea_surface_temp"] - strong["sea_surface_temp"]
    return strong["id"], strong["date"], easy["date"], warmer


def of_storm(still: Reading, gale: Reading) -> tuple[Any, ...]:
    dx, dy = still["lon"] - gale["lon"], still["lat"] - gale["lat"]
    return still["id"], gale["id"], gale["date"], math.sqrt(dx * dx + dy * dy)


# ----- the triggers


@dataclass(frozen=True)
class Asked:
    name: str
    own: tuple[Callable[[Reading], bool], ...]  # by variable
    trigger: Trigger
    reach: int  # days, from the first of its events to the last
    is_first: bool = True
    row: Callable[..., tuple[Any, ...]] = keys_and_days
    is_of_one_buoy: bool = False  # all of its events: the others need not be tried

    def expected(self, readings: list[Reading]) -> Counter[Update]:
        if not self.is_of_one_buoy:
            return self._expected(readings)
        by_buoy = sorted(readings, key=lambda r: r["id"])
        return sum((self._expected(list(some)) for _, some in groupby(by_buoy, lambda r: r["id"])), Counter())

    def _expected(self, readings: list[Reading]) -> Counter[Update]:
        own = [frozenset(v for v, holds in enumerate(self.own) if holds(r)) for r in readings]
        pairs = [(r, mine) for r, mine in zip(readings, own, strict=True) if mine]
        told: Counter[Update] = Counter()
        for end, some in self._pieces(pairs):
            events = [
                Event(r["ts"], r["lon"], r["lat"], mine, (r["id"], r["sea_surface_temp"], r["lon"]))
                for r, mine in some
            ]
            for solution in solutions_early(self.trigger, events, self.is_first):
                chosen = [some[n][0] for n in solution]
                last = max(r["ts"] for r in chosen)
                if end - DAYS_AT_ONCE * DAY < last <= end:
                    told[f"{_day(last)}T00:00:00Z", self.name, self.row(*chosen)] += 1
        return told

    def _pieces(self, pairs: list[tuple[Reading, frozenset[int]]]) -> Iterator[tuple[int, list[Any]]]:
        times = [r["ts"] for r, _ in pairs]
        for end in range(times[0], times[-1] + DAYS_AT_ONCE * DAY, DAYS_AT_ONCE * DAY) if pairs else ():
            begin = end - (DAYS_AT_ONCE + self.reach) * DAY
            yield end, pairs[bisect_left(times, begin) : bisect_right(times, end)]


def _day(ts: int) -> date:
    return date(1970, 1, 1) + timedelta(days=ts // DAY)


def within(i: int, j: int, least: int, most: int) -> Time:
    return Time(i, j, least * DAY, most * DAY)


ASKED = (
    Asked(
        "warm_pool_moves_east",
        (
            lambda r: below(r, "sea_surface_temp", 28.2) and abs(r["lat"]) < 1,
            lambda r: above(r, "sea_surface_temp", 29.2) and abs(r["lat"]) < 1,
            lambda r: above(r, "sea_surface_temp", 29.4) and abs(r["lat"]) < 1,
        ),
        Trigger(
            3,
            (
                within(0, 2, 0, 10), within(2, 1, 1, 10), Values(1, ID, "=", 0, ID),
                Values(2, LON, "<", 1, LON), Distance(2, 1, ">=", 8), Distance(2, 1, "<=", 16),
            ),
        ),
        reach=20,
    ),
    Asked(
        "westerly_burst",
        3 * (lambda r: above(r, "zon_winds", 7) and is_in(r, 130, -6, 172, 6),),
        Trigger(
            3,
            tuple(
                c
                for i, j in combinations(range(3), 2)
                for c in (Distance(i, j, ">=", 1), Distance(i, j, "<=", 11), within(i, j, -1, 1))
            ),
            sets=((0, 1, 2),),
        ),
        reach=1,
        is_first=False,
    ),
    Asked(
        "trades_ease",
        (
            lambda r: below(r, "zon_winds", -7.5) and is_in(r, -160, -6, -90, 6),
            lambda r: above(r, "zon_winds", -1.5),
            lambda r: True,
        ),
        Trigger(
            3,
            (
                within(0, 1, 1, 10), within(1, 2, 1, 10), Values(1, ID, "=", 0, ID),
                Values(2, ID, "=", 0, ID), Values(2, SST, ">", 0, SST, 1.2),
            ),
        ),
        reach=20,
        row=of_easing,
        is_of_one_buoy=True,
    ),
    Asked(
        "cold_water_wells_up",
        (lambda r: is_in(r, -142, -3, -90, 3), is_under_warmer_air, is_under_warmer_air),
        Trigger(
            3,
            (
                Values(0, ID, "=", 1, ID), Values(0, SST, ">", 1, SST, 0.8), Time(0, 1, 1, 3 * DAY),
                Distance(1, 2, ">=", 1), Distance(1, 2, "<=", 5), within(1, 2, -1, 1),
            ),
        ),
        reach=4,
    ),
    Asked(
        "storm_after_stillness",
        (
            lambda r: above(r, "sea_surface_temp", 29) and above(r, "humidity", 84) and wind_squared(r) < 4,
            lambda r: wind_squared(r) > 81,
        ),
        Trigger(2, (within(0, 1, 1, 2), Distance(0, 1, "<=", 6))),
        reach=2,
        is_first=False,
        row=of_storm,
    ),
)  # fmt: skip


def expected(readings: list[Reading]) -> Counter[Update]:
    return sum((asked.expected(readings) for asked in ASKED), Counter())


def told(lines: Iterable[str]) -> Counter[Update]:
    updates = [json.loads(line) for line in lines]
    assert all(u["sign"] == 1 for u in updates)
    return Counter((u["tick"], u["query"], tuple(u["row"].values())) for u in updates)
