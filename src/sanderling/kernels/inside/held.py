"""Whether regions hold places, pair by pair."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit
from sanderling.space.coverages import holds_place, plain_holds_place
from sanderling.space.geometry import Geometry


@jit
def held(geometry: Geometry, region: I64, x: F64, y: F64) -> Bools:
    """Of a polygon, whether its bounds do; a place of NaN is nowhere."""
    kind, a, b, c, d, _ = geometry
    found = np.zeros(len(region), np.bool_)
    for i in range(len(region)):
        r = region[i]
        if not np.isnan(x[i]):
            found[i] = holds_place(kind[r], a[r], b[r], c[r], d[r], x[i], y[i])
    return found


def plain_held(geometry: Geometry, region: I64, x: F64, y: F64) -> Bools:
    """The reference twin of `held`."""
    kind, a, b, c, d, _ = geometry
    found = [
        not np.isnan(at) and plain_holds_place(kind[r], a[r], b[r], c[r], d[r], at, y[i])
        for i, (r, at) in enumerate(zip(region, x, strict=True))
    ]
    return np.array(found, np.bool_)
