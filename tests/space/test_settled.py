"""Boxes in which nobody crosses a border: all places of one are in, or none is."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from sanderling.space.moving.settled import are_settled
from sanderling.space.outlines.outline import band, circle, corridor, exterior, rectangle, side, spots
from sanderling.space.outlines.polygons import NO_POLYGONS

RING = shapely.to_wkb(
    shapely.MultiPolygon([([(0, 0), (6, 0), (6, 6), (0, 6)], [[(2, 2), (4, 2), (4, 4), (2, 4)]])])
)
BENT = [(0.0, 0.0), (3.0, 1.0), (3.0, 4.0)]
OUTLINES = {
    "rectangle": rectangle(0, 0, 4, 3),
    "circle": circle(1, 2, 2.5),
    "polygon": RING,
    "corridor": corridor(BENT, 1.0),
    "spots": spots([(1.0, 1.0), (2.0, 5.0)]),
    "side": side(1.0, BENT),
    "band": band([(0.0, 0.0), (1.0, 0.0)], 1.0, [(0.0, 3.0), (1.0, 3.0)], -1.0),
}


@pytest.mark.parametrize("is_outer", [False, True])
@pytest.mark.parametrize("name", OUTLINES)
def test_what_is_settled_is_all_in_or_all_out(name: str, is_outer: bool) -> None:
    outline = exterior(OUTLINES[name]) if is_outer else OUTLINES[name]
    if outline is None:
        return
    chance, n = np.random.default_rng(7), 400
    low, size = chance.uniform(-3, 8, (2, n)), chance.choice([0.0, 0.01, 0.5, 2.0], (2, n))
    boxes = (low[0], low[1], low[0] + size[0], low[1] + size[1])
    settled = are_settled(outline, boxes)
    polygons, region = NO_POLYGONS.of([outline]), np.zeros(n, np.int64)
    share = np.linspace(0, 1, 9)
    held = np.stack([
        polygons.hold(region, low[0] + u * size[0], low[1] + v * size[1]) for u in share for v in share
    ])  # fmt: skip
    is_one = held.all(axis=0) | ~held.any(axis=0)
    assert is_one[settled].all()
    assert settled.sum() > n // 4, "it knows some"


def test_endless_boxes_are_not_settled_where_a_border_is() -> None:
    far = np.array([np.inf])
    for outline in OUTLINES.values():
        assert not are_settled(outline, (-far, -far, far, far)).any()
