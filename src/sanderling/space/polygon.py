"""POLYGON and MULTIPOLYGON, and the regions of a table: kernels know bounds and rasters, GEOS the borders.

Numbers: left, low, right, high of the bounds; NaN where there is no shape. The shape is beside them, as WKB.
Borders belong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import shapely

from sanderling.arrays import F64, Bools
from sanderling.kernels.jit import jit_bare
from sanderling.space import box
from sanderling.space.metric import Box

POLYGON = 2
WORD = "polygon"


def numbers(wkb: Sequence[bytes | None]) -> tuple[F64, F64, F64, F64]:
    around = shapely.bounds(shapely.from_wkb(np.array(wkb, dtype=object))).reshape(len(wkb), 4)
    left, low, right, high = (np.ascontiguousarray(around[:, i]) for i in range(4))
    return left, low, right, high


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """Whether its bounds do. What they hold is judged by its raster, or else by `holds_exactly`."""
    return box.holds(a, b, c, d, x, y)


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    return box.bounds(a, b, c, d)


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """The longer side of its bounds."""
    return box.size(a, b, c, d)


plain_holds = box.plain_holds


def holds_exactly(shapes: npt.NDArray[np.object_], x: F64, y: F64) -> Bools:
    """By pair of a prepared shape and a place whether the one holds the other."""
    return np.asarray(shapely.intersects_xy(shapes, x, y), np.bool_)
