"""STAY_WITHIN and PASS_WITHIN through the engine against their definitions, however cut and interrupted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial import cKDTree

from sanderling.clock import show_time
from sanderling.plan.logical import Rule
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from tests.engine.direct import DirectRun
from tests.long import so_many
from tests.oracle import Box, Reading
from tests.oracle.oracle import Row, signed, tick_end
from tests.oracle.past import Stream
from tests.oracle.trajectories import Trail, nearest, passes, stays, ticks_of
from tests.properties.chance import Chance, made_of
from tests.properties.runs import fences, pairing
from tests.properties.scenes import SECOND, Scene
from tests.properties.test_sql import MANY, Case, case, declarations, updates_of

__all__ = ["fences"]

BOX = Box(0, 0, 4, 4)
OWN: dict[str, Callable[[Reading], bool]] = {
    "": lambda r: True,
    "{a}.speed > 0.5": lambda r: r.values["speed"] is not None and r.values["speed"] > 0.5,
    "{a}.location INSIDE (0, 0, 4, 4)": lambda r: BOX.holds(r.x, r.y),
    "EXTENT (0, 0, 4, 4)": lambda r: BOX.holds(r.x, r.y),
}
CROSS: dict[str, Callable[[Reading, Reading], bool]] = {
    "": lambda a, b: True,
    "a.id < b.id": lambda a, b: a.key < b.key,  # type: ignore[operator]
    "a.kind = b.kind": lambda a, b: a.values["kind"] is not None and a.values["kind"] == b.values["kind"],
}


NEAREST = (None, None, (1, True), (1, False), (2, False), (3, True))
SCALES = (None, None, (-0.5, 3, 2, 20), (0.5, 2, 1, 9), (1.0, 5, -3, 8), (-0.125, 1, 4, 11), (0.3, 4, 6, 7))


@dataclass(frozen=True)
class Asked:
    """A query, in words and in parts."""

    name: str
    is_pass: bool
    streams: tuple[str, str]
    own: tuple[str, str]
    cross: str
    range_s: int
    r: float
    scale: tuple[float, int, int, int] | None  # by how much, seconds a step, from, until
    nearest: tuple[int, bool] | None  # of those who stay so many; whether of others only
    begin_s: int | None
    end_s: int | None

    def statements(self) -> list[str]:
        scale = (
            "" if self.scale is None else " SCALE BY ({}, {} SECONDS) FROM {} UNTIL {}".format(*self.scale)
        )
        sources, conditions = [], [f"{'PASS' if self.is_pass else 'STAY'}_WITHIN(a, b, {self.r}{scale})"]
        for alias, stream, own in zip("ab", self.streams, self.own, strict=True):
            extent = f"{own} " if own.startswith("EXTENT") else ""
            sources.append(f"{stream} [{extent}RANGE {self.range_s} SECONDS] {alias}")
            conditions += [] if extent or not own else [own.format(a=alias)]
        conditions += [self.cross] if self.cross else []
        if self.nearest is not None:
            k, is_other = self.nearest
            conditions.append(f"NN(a, b, 'k={k}{', other' if is_other else ''}')")
        at = "" if self.begin_s is None else f"AT {self.begin_s} "
        drop = [] if self.end_s is None else [f"AT {self.end_s} DROP QUERY {self.name}"]
        return [
            f"{at}REGISTER QUERY {self.name} AS SELECT a.id AS one, b.id AS other, a.speed, b.kind "
            f"FROM {', '.join(sources)} WHERE {' AND '.join(conditions)}",
            *drop,
        ]

    def radius(self, tick: int) -> float:
        """As it is at a tick; below 0: nowhere."""
        if self.scale is None:
            return self.r
        growth, every, begin, until = self.scale
        steps = max(0, (min(tick, until * SECOND) - begin * SECOND) // (every * SECOND))
        times = 1 + steps * growth
        return self.r * times if times > 0 else -1.0

    def updates(self, scene: Scene, end: int | None) -> Counter[tuple[Any, ...]]:
        """Of the answers at all ticks of its life."""
        streams = [scene.streams[name] for name in self.streams]
        tick_us = scene.tick_s * SECOND
        firsts = [s.first_tick for s in streams if s.first_tick is not None]
        lasts = [s.closed_to for s in streams if s.closed_to is not None]
        first = max(min(firsts), tick_end((self.begin_s or -100) * SECOND, tick_us))
        trails = [Trail(s, OWN[own], first) for s, own in zip(streams, self.own, strict=True)]
        found: Counter[tuple[Any, ...]] = Counter()
        before: Counter[Row] = Counter()
        for tick in range(first, max(lasts if end is None else [*lasts, end]) + 1, tick_us):
            if self.end_s is not None and tick >= self.end_s * SECOND:
                break
            ticks = ticks_of(tick, self.range_s * SECOND, tick_us)
            pairs = (passes if self.is_pass else stays)(*trails, self.radius, ticks)
            if self.nearest is not None:
                pairs = nearest(pairs, *trails, ticks, *self.nearest)
            now = Counter(
                (a.key, b.key, a.values["speed"], b.values["kind"])
                for a, b in pairs
                if CROSS[self.cross](a, b)
            )
            change = Counter(now)
            change.subtract(before)
            found.update((show_time(t), q, s, row) for t, q, s, row in signed(tick, self.name, change))
            before = now
        return found


def asks(chance: Chance, number: int) -> Asked:
    own, is_pass = list(OWN), chance.flip()
    return Asked(
        f"q{number}", is_pass, ("objects", chance.choice(["objects", "objects", "others"])),
        (chance.choice(own), chance.choice(own)), chance.choice(list(CROSS)), chance.choice([2, 1, 3, 4, 6]),
        chance.constant([2.5, 1.0, 0.0, 0.5, 5.0]), chance.choice(SCALES),
        None if is_pass else chance.choice(NEAREST), chance.choice([None, None, 2, 5]),
        chance.choice([None, None, 9, 12]),
    )  # fmt: skip


@MANY
@given(chance=made_of(lambda chance: chance))
def test_as_it_is_defined(chance: Chance, fences: Path, tmp_path: Path) -> None:
    one = case(chance, has_changes=False)
    asked = [asks(chance, n) for n in range(chance.choice([1, 2, 3]))]
    # Without rules there is no company: it is PERSISTENCY over a join.
    check(one, asked, fences, tmp_path, chance.choice([RULES, RULES, ()]))


def check(one: Case, asked: list[Asked], fences: Path, folder: Path, rules: Sequence[Rule] = RULES) -> None:
    planner = Planner(rules=rules)
    said = [text for a in asked for text in a.statements()]
    planner.run_script(";\n".join([*declarations(folder, fences, one.scene), *said]))
    got = [json.loads(line) for line in updates_of(one, planner.plan(), folder)]
    told = [(u["tick"], u["query"], u["sign"], tuple(u["row"].values())) for u in got]
    end = None if one.has_ends else one.scene.last_tick()
    wanted = sum((a.updates(one.scene, end) for a in asked), Counter[tuple[Any, ...]]())
    assert Counter(told) == wanted, said
    pairing(told)


# ----- a second road


@pytest.mark.parametrize("kind", ["STAY_WITHIN", "PASS_WITHIN"])
def test_many_objects_against_trees_built_at_every_tick(kind: str) -> None:
    """By k-d trees over all places of a tick, or of the range; who has a place at each tick is an array."""
    n, ticks, length, r = 60, 40, 5, 1.5
    chance = np.random.default_rng(7)
    places = np.cumsum(chance.choice([-0.5, 0.0, 0.5], (ticks, n, 2)), axis=0) + chance.integers(
        0, 12, (n, 2)
    )
    readings = [
        Reading(k, (t + 1) * SECOND, *places[t, k], {"id": k}) for t in range(ticks) for k in range(n)
    ]  # fmt: skip
    trail = Trail(Stream(readings, SECOND), lambda reading: True, SECOND)
    since = np.full((n, n), ticks)
    for t in range(ticks):
        tree = cKDTree(places[t])
        near = np.zeros((n, n), np.bool_)
        near[tuple(tree.query_pairs(r, output_type="ndarray").T)] = True
        since = np.where(near | near.T, np.minimum(since, t), ticks)
        if t % 8 != 7:
            continue
        last = ticks_of((t + 1) * SECOND, length * SECOND, SECOND)
        if kind == "STAY_WITHIN":
            wanted = {(a, b) for a, b in zip(*np.nonzero(t - since >= length - 1), strict=True) if a != b}
            found = {(a.key, b.key) for a, b in stays(trail, trail, lambda _: r, last) if a.key != b.key}
        else:
            lately = places[max(0, t - length + 1) : t + 1].reshape(-1, 2)
            close = cKDTree(lately).query_pairs(r, output_type="ndarray") % n
            wanted = {(a, b) for a, b in np.vstack([close, close[:, ::-1]]) if a != b}
            found = {(a.key, b.key) for a, b in passes(trail, trail, lambda _: r, last) if a.key != b.key}
        assert found == wanted


# ----- what follows from the definitions


@pytest.mark.parametrize("seed", range(so_many(3, 200)))
def test_laws_of_trajectories(seed: int, tmp_path: Path) -> None:
    """Company of a tick is a join by DISTANCE; who stays passes; who passes is at first a trigger's alert."""
    chance, n, ticks, length = np.random.default_rng(seed), 14, 16, 4
    places = np.cumsum(chance.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (ticks, n, 2)), axis=0)
    places += chance.integers(-4, 5, (n, 2))
    lines = (f"{k},{t + 1},{places[t, k, 0]},{places[t, k, 1]}\n" for t in range(ticks) for k in range(n))
    (tmp_path / "cars.csv").write_text("id,ts,x,y\n" + "".join(lines))
    pairs = "SELECT a.id AS one, b.id AS other FROM cars [RANGE {0} SECONDS] a, cars [RANGE {0} SECONDS] b"
    planner = Planner(tmp_path)
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
        f"REGISTER QUERY now AS {pairs.format(1)} WHERE STAY_WITHIN(a, b, 1.5) AND a.id < b.id;"
        "REGISTER QUERY near AS SELECT a.id AS one, b.id AS other FROM cars a, cars b "
        "  WHERE DISTANCE(a, b) <= 1.5 AND a.id < b.id;"
        f"REGISTER QUERY stays AS {pairs.format(length)} WHERE STAY_WITHIN(a, b, 1.5) AND a.id < b.id;"
        f"REGISTER QUERY passes AS {pairs.format(length)} WHERE PASS_WITHIN(a, b, 1.5) AND a.id < b.id;"
        "CREATE TRIGGER first FOR cars AS a, cars AS b "
        f"  WHEN a.id < b.id AND DISTANCE(a, b) <= 1.5 AND ABS(b.ts - a.ts) < {length} "
        "  SELECT a.id AS one, b.id AS other REPORT ONCE PER (one, other);"
    )
    run = DirectRun(planner.plan(), shards=2, slice_bytes=300)
    run.feed_file("cars", tmp_path / "cars.csv", is_last=True)
    told = [
        (u["query"], u["tick"], u["sign"], tuple(u["row"].values())) for u in map(json.loads, run.updates)
    ]
    of = {
        name: [rest for query, *rest in told if query == name] for name in ("now", "near", "stays", "passes")
    }
    assert of["now"] == of["near"] and of["stays"]
    ticks_told = sorted({tick for name in ("stays", "passes") for tick, _, _ in of[name]})
    assert pairs_at(of["stays"], ticks_told) <= pairs_at(of["passes"], ticks_told)
    first: dict[Row, str] = {}
    for tick, sign, row in of["passes"]:
        first.setdefault(row, tick) if sign > 0 else None
    alerts = [(row, tick) for query, tick, _, row in told if query == "first"]
    assert dict(alerts) == first and len(alerts) == len(first) > 10


def pairs_at(updates: list[Any], ticks: list[str]) -> set[tuple[str, Row]]:
    """The pairs that are told at each of these ticks."""
    held, found = set[Row](), set[tuple[str, Row]]()
    for tick in ticks:
        for when, sign, row in updates:
            if when == tick:
                (held.add if sign > 0 else held.discard)(row)
        found |= {(tick, row) for row in held}
    return found
