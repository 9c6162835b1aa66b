"""INSIDE against the oracle: exact, however the input is cut, placed and interrupted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from tests.properties.runs import RELAXED, Cut, check, cuts, fences
from tests.properties.worlds import World, worlds

__all__ = ["fences"]


@RELAXED
@given(world=worlds(), cut=cuts)
def test_changes_are_the_difference_of_two_answers(
    world: World, cut: Cut, fences: Path, tmp_path: Path
) -> None:
    check(world, cut, fences, tmp_path)
