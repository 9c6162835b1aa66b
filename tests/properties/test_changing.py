"""Regions that change by themselves: as the same region, replaced in a table at each step; and in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate.inside import stretches
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.properties.globe_worlds import globe_worlds
from tests.properties.runs import RELAXED, Cut, check, cuts, declarations, engine_updates, fences, write_csv
from tests.properties.worlds import SECOND, World, worlds

__all__ = ["fences"]


@RELAXED
@given(
    world=worlds(kinds=("changing",)) | worlds(kinds=("changing",), has_nearest=True) | globe_worlds(),
    cut=cuts,
)
def test_steps_that_nobody_notices_are_passed_over(
    world: World, cut: Cut, fences: Path, tmp_path: Path
) -> None:
    """As if all steps between two reports were too many to look at each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "FEW", 0)
        check(world, cut, fences, tmp_path)


def rectangle(x: float, y: float, scale: float) -> str:
    return f"RECT ({x - 2 * scale}, {y - scale}, {x + 2 * scale}, {y + scale})"


def circle(x: float, y: float, scale: float) -> str:
    return f"CIRCLE ({x}, {y}, {2 * scale})"


def polygon(x: float, y: float, scale: float) -> str:
    corners = [(-2, -1), (2, -1), (2, 1), (0, 0), (-2, 1), (-2, -1)]
    return "POLYGON ((" + ", ".join(f"{x + u * scale} {y + v * scale}" for u, v in corners) + "))"


def corridor(x: float, y: float, scale: float) -> str:
    ends = [(x - 2 * scale, y - scale), (x + 2 * scale, y + scale)]
    return "ON LINE (" + ", ".join(f"{u} {v}" for u, v in ends) + f") WITHIN {scale}"


def exterior(x: float, y: float, scale: float) -> str:
    return f"EXTERIOR OF {polygon(x, y, scale)}"


@RELAXED
@given(
    world=worlds(kinds=("everywhere",)), cut=cuts, seed=st.integers(0, 10**6),
    written=st.sampled_from([rectangle, circle, polygon, corridor, exterior]),
)  # fmt: skip
def test_a_region_that_changes_is_the_same_as_one_replaced_at_each_step(
    world: World,
    cut: Cut,
    seed: int,
    written: Callable[[float, float, float], str],
    fences: Path,
    tmp_path: Path,
) -> None:
    chance = Random(seed)
    # Numbers of few bits, and sizes of two powers: nothing is rounded, whichever way it is worked out.
    x, y, dx, dy = (chance.choice([-1.0, 0.0, 0.5, 2.0]) for _ in range(4))
    begin, every, until = chance.randint(-4, 6), chance.choice([1, 2, 3]), chance.choice([None, 8, 9])
    motion, doubles = f"SHIFT BY ({dx}, {dy}, {every} SECONDS)", chance.choice([False, True])
    if doubles:
        motion, until = f"{motion} SCALE BY (1, 7 SECONDS)", begin + 13
    motion += f" FROM {begin}" + ("" if until is None else f" UNTIL {until}")
    rows = []
    for second in range(-10, max(r.ts for r in world.readings) // SECOND + 10):
        since = max(0, (second if until is None else min(second, until)) - begin)
        n, scale = since // every, 1.0 + (since // 7 if doubles else 0)
        rows.append((second, written(x + n * dx, y + n * dy, scale)))
    changes = [f"INSERT INTO fences VALUES ('it', {rows[0][1]})"]
    for (_, before), (second, after) in pairwise(rows):
        if before != after:
            changes.append(f"AT {second} DELETE FROM fences WHERE name = 'it'")
            changes.append(f"AT {second} INSERT INTO fences VALUES ('it', {after})")
    asked = [
        f"REGISTER QUERY changing AS SELECT id, speed FROM objects INSIDE {written(x, y, 1.0)} {motion}",
        "REGISTER QUERY replaced AS SELECT o.id, o.speed FROM objects o, fences f "
        "WHERE f.name = 'it' AND o.location INSIDE f.region",
    ]
    planner = Planner()
    planner.run_script(";\n".join([*declarations(world, fences), *changes, *asked]))
    run = DirectRun(planner.plan(), cut.shards, cut.bytes, cut.has_empty, cut.takes_turns)
    run.feed_file("objects", write_csv(tmp_path / "all.csv", world.readings))
    run.close_to("objects", max(r.ts for r in world.readings))
    told = [u for u in engine_updates(run) if u[1] in ("changing", "replaced")]
    changing, replaced = (
        Counter((tick, sign, row) for tick, name, sign, row in told if name == which)
        for which in ("changing", "replaced")
    )
    assert changing == replaced
