"""Random worlds through the engine, and through the oracle."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sanderling.operate.where.orders import ByCounts, Chooser
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from tests import oracle
from tests.engine.direct import DirectRun
from tests.long import drawn
from tests.oracle.oracle import comparable
from tests.properties.worlds import FENCES, World, wkt

RELAXED = settings(
    max_examples=drawn(12, 5000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def fences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    features = [
        {
            "type": "Feature", "properties": {"name": name},
            "geometry": {"type": "Polygon", "coordinates": [[*r, r[0]] for r in (outer, *holes)]},
        }
        for name, outer, holes in FENCES
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("fences") / "fences.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def declarations(world: World, fences: Path) -> list[str]:
    stale = f", stale_after = {world.stale_after_s}" if world.stale_after_s is not None else ""
    key = "BIGINT" if world.is_integer_key else "STRING"
    return [
        f"CREATE STREAM objects (id {key}, ts DOUBLE, x DOUBLE, y DOUBLE, gone BOOLEAN, speed DOUBLE, "
        f"kind STRING) KEY id TIME ts LOCATION (x, y){' ON GLOBE' if world.is_globe else ''} GONE gone "
        f"WITH (tick = {world.tick_s}, lateness = {world.lateness_s}{stale})",
        f"CREATE TABLE fences KEY name WITH (path = '{fences}')",
        *(f"CREATE REGION {name}_region AS {wkt(outer, holes)}" for name, outer, holes in FENCES),
    ]


def planned(world: World, fences: Path) -> Plan:
    planner = Planner()
    statements = [s for a in world.asks for s in a.statements()]
    planner.run_script(";\n".join([*declarations(world, fences), *statements]))
    return planner.plan()


def write_csv(path: Path, readings: list[oracle.Reading]) -> Path:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "ts", "x", "y", "gone", "speed", "kind"])
        for r in readings:
            v = r.values
            writer.writerow(
                [
                    v["id"],
                    r.ts / 1e6,
                    r.x,
                    r.y,
                    v["gone"],
                    "" if v["speed"] is None else v["speed"],
                    v["kind"] or "",
                ]
            )
    return path


def engine_updates(run: DirectRun) -> list[tuple[object, ...]]:
    return [_update(json.loads(line)) for line in run.updates]


def _update(u: dict[str, object]) -> tuple[object, ...]:
    return (u["tick"], u["query"], u["sign"], tuple(comparable(v) for v in u["row"].values()))  # type: ignore[attr-defined]


def oracle_updates(
    world: World, by: Callable[..., oracle.Result] = oracle.run
) -> tuple[list[tuple[object, ...]], int, int | None]:
    from sanderling.clock import show_time

    result = by(
        world.readings, [a.query for a in world.asks], world.tick_s * 1_000_000,
        lateness_us=world.lateness_s * 1_000_000,
        stale_after_us=None if world.stale_after_s is None else world.stale_after_s * 1_000_000,
    )  # fmt: skip
    return [(show_time(t), q, s, row) for t, q, s, row in result.updates], len(result.late), result.closed_to


def pairing(updates: list[tuple[object, ...]]) -> None:
    """Sum and pairing: a row goes out only if it is in, and what is in adds up to an answer."""
    held: Counter[tuple[object, object]] = Counter()
    for _, query, sign, row in updates:
        held[query, row] += sign  # type: ignore[operator]
        assert held[query, row] >= 0


@dataclass(frozen=True)
class Cut:
    """How the input is cut, placed and interrupted."""

    bytes: int
    shards: int
    restarts: str
    has_empty: bool
    takes_turns: bool


cuts = st.builds(
    Cut,
    st.sampled_from([1, 40, 200, 1 << 20]),
    st.sampled_from([1, 2, 7]),
    st.sampled_from(["never", "delta", "snapshot", "mixed"]),
    st.booleans(),
    st.booleans(),
)


def check(
    world: World, cut: Cut, fences: Path, folder: Path, chooser: Callable[[], Chooser] = ByCounts,
    is_fast: bool = False,
) -> DirectRun:  # fmt: skip
    """Oracle, chunking, sharding and recovery at once: each only multiplies the ways to be wrong."""
    plan = planned(world, fences)
    run = DirectRun(plan, cut.shards, cut.bytes, cut.has_empty, cut.takes_turns, chooser=chooser)
    half = len(world.readings) // 2
    for number, part in enumerate((world.readings[:half], world.readings[half:])):
        if part:
            run.feed_file("objects", write_csv(folder / "part.csv", part))
        if cut.restarts != "never":
            run.restart(is_snapshot=cut.restarts == "snapshot" or (cut.restarts == "mixed" and number == 0))
    run.close_to("objects", max(r.ts for r in world.readings))
    wanted, late, closed_to = oracle_updates(world, oracle.run_fast if is_fast else oracle.run)
    got = engine_updates(run)
    assert Counter(got) == Counter(wanted)
    assert [u[0] for u in got] == sorted(u[0] for u in got)  # type: ignore[type-var]
    assert sum(reason == "late" for _, reason, _ in run.letters) == late
    assert {e.streams["objects"].clock.closed_to for e in run.engines} == {closed_to}
    pairing(got)
    return run
