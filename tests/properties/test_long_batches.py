"""Hundreds of ticks in one batch: what they say is what they would say one by one, for everything there is.

Small worlds have few ticks, and what costs by the ticks of a batch, or mixes them up, does not show in them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.long import drawn
from tests.properties import test_sql, test_trigger_sql, trigger_tales
from tests.properties.chance import Chance, made_of
from tests.properties.runs import RELAXED, Cut, check, fences
from tests.properties.scenes import scenes
from tests.properties.worlds import World, long_worlds

__all__ = ["fences"]

# Such worlds do not become simple: that would take longer than all else.
FEW = settings(RELAXED, max_examples=drawn(3, 500), phases=(Phase.explicit, Phase.reuse, Phase.generate))
# In one batch, or two: what there was before the second is held, or restored.
whole = st.builds(
    Cut, st.just(1 << 20), st.sampled_from([1, 2, 7]), st.sampled_from(["never", "delta", "snapshot"]),
    st.just(False), st.just(False),
)  # fmt: skip


@FEW
@given(world=long_worlds(readings=500, ticks=400), cut=whole)
def test_regions_still_and_moving(world: World, cut: Cut, fences: Path, tmp_path: Path) -> None:
    check(world, cut, fences, tmp_path, is_fast=True)


@FEW
@given(world=long_worlds(readings=500, ticks=400, has_nearest=True), cut=whole)
def test_the_nearest(world: World, cut: Cut, fences: Path, tmp_path: Path) -> None:
    check(world, cut, fences, tmp_path, is_fast=True)


@FEW
@given(world=long_worlds(readings=120, ticks=300, has_window=True), cut=whole)
def test_windows(world: World, cut: Cut, fences: Path, tmp_path: Path) -> None:
    check(replace(world, asks=world.asks[:2]), cut, fences, tmp_path)


@FEW
@given(chance=made_of(lambda chance: chance), cut=whole)
def test_whole_queries(chance: Chance, cut: Cut, fences: Path, tmp_path: Path) -> None:
    """Joins, aggregates, tables that change."""
    test_sql.check(long_case(chance, cut), fences, tmp_path)


def long_case(chance: Chance, cut: Cut) -> test_sql.Case:
    scene = scenes(chance, readings=100, span=250)
    asked = [test_sql.queries(chance, scene, 0, test_sql.KINDS)]
    pieces = [(name, 0, len(stream.readings)) for name, stream in scene.streams.items()]
    return test_sql.Case(scene, asked, cut, pieces, chance.flip())


@pytest.mark.parametrize("is_near", [False, True])
@FEW
@given(chance=made_of(lambda chance: chance), cut=whole)
def test_triggers(is_near: bool, chance: Chance, cut: Cut, tmp_path: Path) -> None:
    world = trigger_tales.worlds(chance, is_near, events=120)
    pieces = [(name, 0, len(rows)) for name, rows in world.readings.items()]
    test_trigger_sql.check(replace(world, pieces=pieces), cut, tmp_path, 3 if is_near else 0)
