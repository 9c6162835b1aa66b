"""A box outside of which nothing matters to a plan: of who is elsewhere its answer does not depend."""

from __future__ import annotations

import numpy as np

from sanderling.plans.plan import StreamPlan
from sanderling.space.coverages import bounds_of
from sanderling.space.outlines.outline import motion_of
from sanderling.storage.lately import Bounds


def bounds_in(part: StreamPlan) -> Bounds | None:
    """Of all regions of a stream's part; None: of some everybody matters, or it moves.

    Promise (tests/properties/test_once.py): no answer changes if readings elsewhere are left out, of objects
    whose last reading is elsewhere.
    """
    regions = part.regions
    is_still = not len(part.focals) and not any(
        w is not None and motion_of(w) is not None for w in regions.wkb
    )
    if not len(regions) or not is_still:
        return None
    columns = zip(
        regions.kind.tolist(), regions.a.tolist(), regions.b.tolist(), regions.c.tolist(), regions.d.tolist(),
        strict=True,
    )  # fmt: skip
    boxes = np.array([bounds_of(*column) for column in columns])
    boxes = boxes[~np.isnan(boxes).any(axis=1)]
    if not len(boxes) or not np.isfinite(boxes).all():
        return None
    if (boxes[:, :2] > boxes[:, 2:]).any():  # across the 180th meridian
        return None
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
