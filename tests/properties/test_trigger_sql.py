"""Triggers as SQL through the whole engine, against every combination of events."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from sanderling import arrays
from sanderling.clock import show_time, tick_end
from sanderling.errors import QueryError
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.properties.chance import made_of
from tests.properties.runs import Cut, cuts
from tests.properties.test_sql import MANY, write
from tests.properties.trigger_tales import COLUMNS, STREAMS, Reading, Tale, World, worlds

SECOND = 1_000_000
Update = tuple[str, str, tuple[Any, ...]]
Event = tuple[tuple[int, str, Any], Reading]


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not needed is forgotten all the time."""
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 0)


@MANY
@given(world=made_of(worlds), cut=cuts)
def test_alerts_are_the_combinations_that_satisfy_all_conditions(
    world: World, cut: Cut, tmp_path: Path
) -> None:
    check(world, cut, tmp_path)


def check(world: World, cut: Cut, folder: Path, partitions: int = 0) -> DirectRun | None:
    planner = declared(world)
    wanted: Counter[Update] = Counter()
    statements = []
    for tale in world.tales:
        alerts = expected(tale, world)
        try:
            Planner.run_script(_copy(planner), ";".join(tale.statements()[:1]))
        except QueryError as e:
            assert e.code == "query.trigger_unsatisfiable", e
            assert not alerts, tale.sql
            continue
        statements += tale.statements()
        wanted.update(alerts)
    if not statements:
        return None
    planner.run_script(";\n".join(statements))
    run = DirectRun(
        planner.plan(), cut.shards, cut.bytes, cut.has_empty, cut.takes_turns, partitions=partitions
    )
    used = {s.stream.name for s in run.plan.streams}
    for number, (name, a, b) in enumerate(world.pieces):
        if name in used:
            run.feed_file(name, write(folder / "part.csv", COLUMNS, world.readings[name][a:b]))
        if cut.restarts != "never":
            is_snapshot = cut.restarts == "snapshot" or (cut.restarts == "mixed" and number % 2 == 0)
            run.restart(is_snapshot)
    end = max(r["ts"] for rows in world.readings.values() for r in rows)
    for name in sorted(used):
        run.close_to(name, max(end, 100) * SECOND)
    got = [json.loads(line) for line in run.updates]
    assert all(u["sign"] == 1 for u in got)
    told = Counter((u["tick"], u["query"], tuple(u["row"].values())) for u in got)
    assert told == wanted, statements
    return run


def declared(world: World) -> Planner:
    """With the world's streams."""
    planner = Planner()
    key = "BIGINT" if world.is_integer_key else "STRING"
    globe = " ON GLOBE" if world.is_globe else ""
    for name in STREAMS:
        planner.run_script(
            f"CREATE STREAM {name} (id {key}, ts BIGINT, x DOUBLE, y DOUBLE, v DOUBLE, k STRING, "
            f"off BOOLEAN) KEY id TIME ts LOCATION (x, y){globe} GONE off WITH (tick = {world.tick})"
        )
    return planner


def _copy(planner: Planner) -> Planner:
    """Another with the same streams."""
    other = Planner()
    for stream in planner.streams.values():
        other.streams.put(stream.name, stream)
    return other


# -- brute force ------------------------------------------------------------------


def events(world: World, name: str) -> list[Event]:
    """By their order; of two readings of an object at one time the later counts, and it may say nothing."""
    last = {(r["ts"], name, r["id"]): r for r in world.readings[name]}
    return sorted(((order, r) for order, r in last.items() if not r["off"]), key=lambda e: e[0])


def expected(tale: Tale, world: World) -> Counter[Update]:
    def tick_of(ts: int) -> int:
        return tick_end(ts * SECOND, world.tick * SECOND)

    begin = None if tale.begin is None else tick_of(tale.begin)
    end = None if tale.end is None else tick_of(tale.end)
    grown: list[tuple[Event, ...]] = [()]
    variables = [i for i, size in enumerate(tale.sizes) for _ in range(size)]
    for n, i in enumerate(variables):
        mine = [
            (order, r)
            for order, r in events(world, tale.streams[i])
            if all(holds(r) for v, holds in tale.own if v == i)
            and (begin is None or tick_of(r["ts"]) >= begin)
        ]
        grown = [(*some, one) for some in grown for one in mine if _agrees(tale, variables[:n], some, i, one)]
    found = []
    for flat in grown:
        last = max(order for order, _ in flat)
        if end is None or tick_of(last[0]) < end:
            found.append((last, [order for order, _ in flat], flat))
    found.sort(key=lambda f: f[:2])
    if tale.is_first:
        found = [next(iter(same)) for _, same in itertools.groupby(found, key=lambda f: f[0])]
    return Counter(
        (show_time(tick_of(last[0])), tale.name, tuple(v for _, r in flat for v in (r["id"], r["ts"])))
        for last, _, flat in found
    )


def _agrees(tale: Tale, variables: list[int], some: tuple[Event, ...], i: int, one: Event) -> bool:
    """Whether one more event, of the variable `i`, satisfies all conditions with each of some others.

    The members of a set come in order.
    """
    for v, (order, other) in zip(variables, some, strict=True):
        if v == i and not order < one[0]:
            return False
        for pair in tale.pairs:
            if (pair.i, pair.j) == (v, i) and not pair.holds(other, one[1]):
                return False
            if v != i and (pair.i, pair.j) == (i, v) and not pair.holds(one[1], other):
                return False
    return True
