"""Triggers as SQL through the whole engine, against every combination of events."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from sanderling.clock import show_time, tick_end
from sanderling.errors import QueryError
from sanderling.operate.trigger import shown, solve
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.properties.chance import made_of
from tests.properties.runs import Cut, cuts
from tests.properties.test_sql import MANY, write
from tests.properties.trigger_tales import COLUMNS, STREAMS, Reading, Tale, World, worlds

SECOND = 1_000_000
Update = tuple[str, str, tuple[Any, ...]]


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not needed is forgotten all the time."""
    for module in (shown, solve):
        monkeypatch.setattr(module, "WORTH_COMPACTING", 0)


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
    for name in sorted(used):
        run.close_to(name, 100 * SECOND)
    got = [json.loads(line) for line in run.updates]
    assert all(u["sign"] == 1 for u in got)
    told = Counter((u["tick"], u["query"], tuple(u["row"].values())) for u in got)
    assert told == wanted, statements
    return run


def declared(world: World) -> Planner:
    """With the world's streams."""
    planner = Planner()
    key = "BIGINT" if world.is_integer_key else "STRING"
    for name in STREAMS:
        planner.run_script(
            f"CREATE STREAM {name} (id {key}, ts BIGINT, x DOUBLE, y DOUBLE, v DOUBLE, k STRING, "
            f"off BOOLEAN) KEY id TIME ts LOCATION (x, y) GONE off WITH (tick = {world.tick})"
        )
    return planner


def _copy(planner: Planner) -> Planner:
    """Another with the same streams."""
    other = Planner()
    for stream in planner.streams.values():
        other.streams.put(stream.name, stream)
    return other


# -- brute force ------------------------------------------------------------------


def events(world: World, name: str) -> list[tuple[tuple[int, str, Any], Reading]]:
    """By their order; of two readings of an object at one time the later counts, and it may say nothing."""
    last = {(r["ts"], name, r["id"]): r for r in world.readings[name]}
    return sorted(((order, r) for order, r in last.items() if not r["off"]), key=lambda e: e[0])


def expected(tale: Tale, world: World) -> Counter[Update]:
    def tick_of(ts: int) -> int:
        return tick_end(ts * SECOND, world.tick * SECOND)

    begin = None if tale.begin is None else tick_of(tale.begin)
    end = None if tale.end is None else tick_of(tale.end)
    domains = []
    for i, (name, size) in enumerate(zip(tale.streams, tale.sizes, strict=True)):
        mine = [
            (order, r)
            for order, r in events(world, name)
            if all(holds(r) for v, holds in tale.own if v == i)
            and (begin is None or tick_of(r["ts"]) >= begin)
        ]
        domains.append(list(itertools.combinations(mine, size)))
    found = []
    for chosen in itertools.product(*domains):
        if all(p.holds(a, b) for p in tale.pairs for a, b in _readings(chosen, p.i, p.j)):
            flat = [e for members in chosen for e in members]
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


def _readings(chosen: tuple[Any, ...], i: int, j: int) -> list[tuple[Reading, Reading]]:
    if i == j:
        return [(a, b) for (_, a), (_, b) in itertools.combinations(chosen[i], 2)]
    return [(a, b) for (_, a), (_, b) in itertools.product(chosen[i], chosen[j])]
