"""PREVIOUS(…) WITHIN WINDOW against brute force, however the input is cut and placed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.long import drawn

TICK = 2
# A window as it is written, how long it is, and how often it is looked at.
WINDOWS = (
    ("WINDOW 7 SECONDS", 7, TICK), ("WINDOW TUMBLE 6 SECONDS", 6, 6),
    ("WINDOW HOP 8 SECONDS EVERY 4 SECONDS", 8, 4),
)  # fmt: skip
STREAM = (
    "CREATE STREAM cars (id STRING, ts {type}, x DOUBLE, y DOUBLE, off BOOLEAN) KEY id TIME ts"
    " LOCATION (x, y) GONE off WITH (tick = '2 seconds');"
)
QUERIES = (
    "REGISTER QUERY rows{n} AS SELECT id, x, PREVIOUS(x) WITHIN WINDOW AS was FROM cars {window};"
    "REGISTER QUERY sums{n} AS SELECT id, COUNT(PREVIOUS(x) WITHIN WINDOW) AS n,"
    " SUM(x - PREVIOUS(x) WITHIN WINDOW) AS way FROM cars WHERE y < 3 {window} GROUP BY id;"
    "REGISTER QUERY went{n} AS SELECT id, x FROM cars WHERE x > PREVIOUS(x) WITHIN WINDOW {window};"
)

Reading = tuple[str, int, int, int, bool]
Row = tuple[Any, ...]
Held = tuple[Reading, Reading | None]  # with the reading before


def readings(random: Random) -> list[Reading]:
    """In order of time; at most one of an object at a time."""
    found: list[Reading] = []
    at = random.randint(-3, 3)
    for _ in range(random.randint(1, 40)):
        at += random.choice((0, 0, 1, 1, 2, 9))
        key = random.choice("abc")
        if any(r[0] == key and r[1] == at for r in found):
            continue
        found.append((key, at, random.randint(0, 4), random.randint(0, 4), random.random() < 0.1))
    return found


def with_before(told: list[Reading]) -> list[Held]:
    """Who is gone has nothing before it when it comes again."""
    last: dict[str, Reading] = {}
    found: list[Held] = []
    for reading in told:
        before = last.get(reading[0])
        if reading[4]:
            last.pop(reading[0], None)
            continue
        found.append((reading, before))
        last[reading[0]] = reading
    return found


def rows_of(held: list[Held], since: int) -> dict[str, Counter[Row]]:
    """What each query holds, of a window that holds readings later than this."""
    known = [(r, before if before is not None and before[1] > since else None) for r, before in held]
    rows = Counter((r[0], r[2], before[2] if before else None) for r, before in known)
    went = Counter((r[0], r[2]) for r, before in known if before is not None and r[2] > before[2])
    sums: Counter[Row] = Counter()
    low = sorted(((r, before) for r, before in known if r[3] < 3), key=lambda one: one[0][0])
    for key, some in groupby(low, key=lambda one: one[0][0]):
        ways = [r[2] - before[2] for r, before in some if before is not None]
        sums[key, len(ways), sum(ways) if ways else None] += 1
    return {"rows": rows, "sums": sums, "went": went}


def answers(told: list[Reading], size: int, every: int) -> Iterator[tuple[int, dict[str, Counter[Row]]]]:
    held, looked = with_before(told), -(10**9)
    first, last = (-(-told[i][1] // TICK) * TICK for i in (0, -1))
    now = rows_of([], 0)
    for tick in range(first, last + 1, TICK):
        look = tick // every * every
        if first <= look and looked < look:
            looked = look
            now = rows_of([one for one in held if look - size < one[0][1] <= look], look - size)
        yield tick, now


def wanted(told: list[Reading]) -> Counter[tuple[str, str, int, Row]]:
    found: Counter[tuple[str, str, int, Row]] = Counter()
    for n, (_, size, every) in enumerate(WINDOWS):
        before = rows_of([], 0)
        for tick, now in answers(told, size, every):
            for query, rows in now.items():
                for row in {*rows, *before[query]}:
                    change = rows[row] - before[query][row]
                    if change:
                        sign = 1 if change > 0 else -1
                        found[show_time(tick * 1_000_000), f"{query}{n}", sign, row] += abs(change)
            before = now
    return found


def told_by(path: Path, type_: str, shards: int, slice_bytes: int) -> Counter[tuple[str, str, int, Row]]:
    planner = Planner()
    queries = (QUERIES.format(n=n, window=window) for n, (window, *_) in enumerate(WINDOWS))
    planner.run_script(STREAM.format(type=type_) + "".join(queries))
    run = DirectRun(planner.plan(), shards, slice_bytes, takes_turns=True)
    run.feed_file("cars", path, is_last=True)
    found = map(json.loads, run.updates)
    return Counter((u["tick"], u["query"], u["sign"], tuple(u["row"].values())) for u in found)


@pytest.mark.parametrize("seed", range(drawn(25, 5000)))
def test_what_was_before_counts_as_long_as_it_is_in_the_window(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    told, path = readings(random), tmp_path / "cars.csv"
    type_ = random.choice(("BIGINT", "DOUBLE", "TIMESTAMP"))
    shown = (lambda ts: show_time(ts * 1_000_000)) if type_ == "TIMESTAMP" else str
    lines = [f"{id_},{shown(ts)},{x},{y},{off}" for id_, ts, x, y, off in told]
    path.write_text("\n".join(["id,ts,x,y,off", *lines]) + "\n")
    slices = random.choice((20, 100, 1 << 20))
    assert told_by(path, type_, random.choice((1, 3)), slices) == wanted(told)
