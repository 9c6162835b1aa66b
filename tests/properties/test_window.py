"""WINDOW and PREVIOUS against the oracle: exact, however the input is cut, placed and interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.operate import asks, history, holders, readings, whereabouts, window
from tests.properties.runs import RELAXED, Cut, check, cuts, fences
from tests.properties.worlds import World, worlds

__all__ = ["fences"]


@RELAXED
@given(world=worlds(has_window=True), cut=cuts, is_restless=st.booleans())
def test_changes_are_the_difference_of_two_answers(
    world: World, cut: Cut, is_restless: bool, fences: Path, tmp_path: Path
) -> None:
    """Also where every condition is judged reading by reading, and everything is tidied up all the time."""
    with pytest.MonkeyPatch.context() as patch:
        if is_restless:
            patch.setattr(asks, "distinct_conditions", lambda template, constants: None)
            patch.setattr(holders, "AT_ONCE", 1)
            patch.setattr(window, "WORTH_A_GRID", 0)
            patch.setattr(whereabouts, "STRIDE", 1)
            for tidied in (readings, history, whereabouts):
                patch.setattr(tidied, "WORTH_COMPACTING", 0)
        check(world, cut, fences, tmp_path)
