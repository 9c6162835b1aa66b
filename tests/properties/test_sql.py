"""Whole queries through the engine against the oracle and DuckDB, however cut, placed and interrupted."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sanderling.clock import show_time
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from tests.engine.direct import DirectRun
from tests.long import drawn
from tests.oracle.duck import Duck, agree
from tests.oracle.oracle import Row, comparable
from tests.oracle.select import Registered
from tests.oracle.sql import run
from tests.oracle.times import has_coming, has_nn, is_of_time, looks_around, refreshes, ticks_that_matter
from tests.properties.chance import Chance, made_of
from tests.properties.queries import KINDS, Asked, queries
from tests.properties.runs import Cut, fences, pairing
from tests.properties.scenes import COLUMNS, SECOND, SITES, Scene, scenes
from tests.properties.worlds import FENCES, wkt

__all__ = ["fences"]

MANY = settings(
    max_examples=drawn(12, 5000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

STREAM = (
    "CREATE STREAM {name} (id {key}, ts DOUBLE, x DOUBLE, y DOUBLE, gone BOOLEAN, speed DOUBLE, kind STRING, "
    "n BIGINT) KEY id TIME ts LOCATION (x, y) GONE gone WITH (tick = {tick}, lateness = {late}{stale})"
)


def declarations(folder: Path, fences: Path, scene: Scene) -> list[str]:
    found = []
    for name, stream in scene.streams.items():
        stale_us = stream.stale_after_us
        found.append(
            STREAM.format(
                name=name, key="BIGINT" if scene.is_integer_key else "STRING", tick=scene.tick_s,
                late=stream.lateness_us // SECOND,
                stale="" if stale_us is None else f", stale_after = {stale_us // SECOND}",
            )
        )  # fmt: skip
    write(folder / "sites.csv", SITES, scene.changes[0].rows)
    return [
        *found,
        "CREATE TABLE sites (name STRING, kind STRING, size BIGINT, price DOUBLE, x DOUBLE, y DOUBLE) "
        f"KEY name LOCATION (x, y) WITH (path = '{folder / 'sites.csv'}')",
        f"CREATE TABLE fences KEY name WITH (path = '{fences}')",
        *(f"CREATE REGION {name}_region AS {wkt(outer, holes)}" for name, outer, holes in FENCES),
    ]


def write(path: Path, names: tuple[str, ...], rows: list[dict[str, Any]]) -> Path:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([["" if row[name] is None else row[name] for name in names] for row in rows])
    return path


@pytest.fixture(scope="module")
def kinds() -> tuple[str, ...]:
    """To look at some only: SANDERLING_WITHOUT='streams,distance'."""
    without = os.environ.get("SANDERLING_WITHOUT", "").split(",")
    return tuple(kind for kind in (*KINDS, "changes") if kind not in without)


# -- one case ---------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    scene: Scene
    asked: list[Asked]
    cut: Cut
    pieces: list[tuple[str, int, int]]  # which readings of which stream are fed, in which order
    has_ends: bool = False  # each stream ends with its last reading, or time goes on for all of them

    def registered(self) -> list[Registered]:
        return [query for asked in self.asked for query in (*asked.bases, asked.registered)]


def case(chance: Chance, kinds: tuple[str, ...] = KINDS, has_changes: bool = True) -> Case:
    """A query, maybe others, and maybe the first again with other constants."""
    scene = scenes(chance, has_changes=has_changes)
    at = chance.at
    asked = [queries(chance, scene, 0, kinds)]
    if chance.flip():
        asked.append(queries(chance.again(at), scene, 1, kinds))
    asked += [queries(chance, scene, 2 + n, kinds) for n in range(chance.choice([0, 0, 1, 2]))]
    cut = Cut(
        chance.choice([1 << 20, 300, 120, 1]), chance.choice([1, 2, 7]),
        chance.choice(["never", "never", "delta", "snapshot", "mixed"]), chance.flip(), chance.flip(),
    )  # fmt: skip
    return Case(scene, asked, cut, pieces(chance, scene), chance.flip())


def pieces(chance: Chance, scene: Scene) -> list[tuple[str, int, int]]:
    """Both streams in up to four pieces each, one before the other or in turns."""
    found = []
    for name, stream in scene.streams.items():
        n = len(stream.readings)
        edges = [0, *sorted(chance.some(range(n + 1), 0, 3)), n]
        found.append([(name, a, b) for a, b in pairwise(edges) if a < b])
    one, other = found
    if chance.flip():
        return [*one, *other]
    turns = [piece for pair in zip(one, other, strict=False) for piece in pair]
    return [*turns, *one[len(other) :], *other[len(one) :]]


def planned(case: Case, folder: Path, fences: Path) -> Plan:
    planner = Planner()
    statements = declarations(folder, fences, case.scene)
    statements += [s for asked in case.asked for s in asked.statements()]
    statements += [f"AT {change.at_s} {change.sql}" for change in case.scene.changes[1:]]
    planner.run_script(";\n".join(statements))
    return planner.plan()


@MANY
@given(chance=made_of(lambda chance: chance))
def test_changes_are_the_difference_of_two_answers(
    chance: Chance, kinds: tuple[str, ...], fences: Path, tmp_path: Path
) -> None:
    check(case(chance, kinds, "changes" in kinds), fences, tmp_path)


def check(case: Case, fences: Path, folder: Path) -> None:
    end = None if case.has_ends else case.scene.last_tick()
    compare(case, updates_of(case, planned(case, folder, fences), folder), end)


def updates_of(case: Case, plan: Plan, folder: Path) -> list[str]:
    """What comes of a plan."""
    return run_of(case, plan, folder).updates


def run_of(case: Case, plan: Plan, folder: Path) -> DirectRun:
    """A plan that has run."""
    scene, cut = case.scene, case.cut
    direct = DirectRun(plan, cut.shards, cut.bytes, cut.has_empty, takes_turns=cut.takes_turns)
    used = {stream.stream.name for stream in direct.plan.streams}
    for number, (name, a, b) in enumerate(case.pieces):
        if name not in used:
            continue  # nobody reads it
        rows = [reading.values for reading in scene.streams[name].readings[a:b]]
        is_last = case.has_ends and b == len(scene.streams[name].readings)
        direct.feed_file(name, write(folder / "part.csv", COLUMNS, rows), is_last)
        if cut.restarts != "never":
            is_snapshot = cut.restarts == "snapshot" or (cut.restarts == "mixed" and number % 2 == 0)
            direct.restart(is_snapshot)
    end = None if case.has_ends else scene.last_tick()
    for name in sorted(used) if end is not None else ():
        direct.close_to(name, end)
    return direct


def compare(case: Case, updates: list[str], end: int | None) -> None:
    """With the oracle update by update, with DuckDB what they add up to. `end`: how far time went on."""
    got = [json.loads(line) for line in updates]
    told = [(u["tick"], u["query"], u["sign"], tuple(comparable(v) for v in u["row"].values())) for u in got]
    wanted = run(case.scene.past, case.registered(), end).updates
    said = [text for asked in case.asked for text in asked.statements()]
    assert Counter(told) == Counter((show_time(t), q, s, row) for t, q, s, row in wanted), said
    pairing(told)
    if not case.scene.is_rough:
        compare_with_duckdb(case, told, end)


def compare_with_duckdb(case: Case, told: list[tuple[Any, ...]], end: int | None) -> None:
    duck = Duck(case.scene.past, case.scene.is_integer_key)
    for query in case.registered():
        if is_of_time(query.query) or refreshes(query.query):
            continue  # it has windows of one tick, and others of an earlier one
        if has_coming(query.query) and query.begin is not None:
            continue  # it does not know when a query began
        if has_nn(query.query) or looks_around(query.query):
            continue  # SciPy looks at these
        updates = [(tick, sign, row) for tick, name, sign, row in told if name == query.name]
        for tick in ticks_that_matter(case.scene.past, query, end):
            held: Counter[Row] = Counter()
            for when, sign, row in updates:
                held[row] += sign if when <= show_time(tick) else 0
            assert agree(+held, duck.answer(query.query, tick)), (query.name, show_time(tick))
