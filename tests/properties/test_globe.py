"""The globe against the oracle: exact, however the input is cut, placed and interrupted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from tests.properties.globe_worlds import globe_worlds
from tests.properties.runs import RELAXED, Cut, check, cuts, fences
from tests.properties.worlds import World

__all__ = ["fences"]


@RELAXED
@given(world=globe_worlds(), cut=cuts)
def test_who_is_inside(world: World, cut: Cut, fences: Path, tmp_path: Path) -> None:
    check(world, cut, fences, tmp_path)


@RELAXED
@given(world=globe_worlds(has_window=True), cut=cuts)
def test_who_was_inside(world: World, cut: Cut, fences: Path, tmp_path: Path) -> None:
    check(world, cut, fences, tmp_path)


@RELAXED
@given(world=globe_worlds(has_nearest=True), cut=cuts)
def test_who_is_nearest(world: World, cut: Cut, fences: Path, tmp_path: Path) -> None:
    check(world, cut, fences, tmp_path)
