"""Where regions are: those that stand stay, those that follow are around their focal objects."""

from __future__ import annotations

import numpy as np

from sanderling.space.coverages import BOX, CENTRED, DISC, holds_place
from sanderling.space.geometry import Geometry
from sanderling.space.moving.motion import hidden, placed

WRITTEN = Geometry(
    np.array([BOX, CENTRED, DISC], np.int8), np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]),
    np.array([2.0, 0.5, 3.0]), np.array([2.0, 1.0, 0.0]),
)  # fmt: skip
FOCAL = np.array([-1, 1, 0])


def rows(geometry: Geometry) -> list[tuple[float, ...]]:
    return list(zip(*(column.tolist() for column in geometry[:5]), strict=True))


def test_what_follows_is_where_its_focal_object_is() -> None:
    now = placed(WRITTEN, FOCAL, (np.array([10.0, 20.0]), np.array([11.0, 21.0])))
    assert rows(now) == [(BOX, 1, 1, 2, 2), (CENTRED, 20, 21, 0.5, 1), (DISC, 10, 11, 3, 0)]
    assert rows(WRITTEN)[1] == (CENTRED, 0, 0, 0.5, 1), "what is written stays"


def test_nobody_is_in_a_region_whose_focal_object_is_absent_or_hidden() -> None:
    there = placed(WRITTEN, FOCAL, (np.array([np.nan, 0.0]), np.array([np.nan, 0.0])))
    gone = hidden(there, np.array([False, True, False]))
    assert [bool(holds_place(*row, 1.0, 1.0)) for row in rows(gone)] == [True, False, False]
    assert [bool(holds_place(*row, 0.0, 0.0)) for row in rows(there)] == [False, True, False]


def test_without_focal_objects_nothing_moves() -> None:
    nowhere = (np.empty(0), np.empty(0))
    assert placed(WRITTEN, np.full(3, -1), nowhere) is WRITTEN
