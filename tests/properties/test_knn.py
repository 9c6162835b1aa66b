"""kNN against the oracle, among range queries: exact, however the input is cut, placed and interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from sanderling.operate.nearest import neighbourhood
from sanderling.operate.where.orders import ByCounts
from tests.engine.direct import ByPair
from tests.properties.runs import RELAXED, Cut, check, cuts, fences
from tests.properties.worlds import World, worlds

__all__ = ["fences"]


@pytest.mark.parametrize("is_judged", [False, True])
@RELAXED
@given(world=worlds(has_nearest=True), cut=cuts)
def test_the_nearest_are_told_as_they_change(
    is_judged: bool, world: World, cut: Cut, fences: Path, tmp_path: Path
) -> None:
    """Also where every condition is judged object by object, and cells are made anew all the time."""
    with pytest.MonkeyPatch.context() as patch:
        if is_judged:
            patch.setattr(neighbourhood, "FIT_LASTS", 0)
            patch.setattr(neighbourhood, "WORTH_FITTING", 0)
        check(world, cut, fences, tmp_path, ByPair if is_judged else ByCounts)
