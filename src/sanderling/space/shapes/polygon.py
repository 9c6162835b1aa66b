"""POLYGON and MULTIPOLYGON, all other outlines, and the regions of a table.

Numbers: left, low, right, high of the bounds; NaN where there is no shape. The outline is beside them, as
bytes (outline.py). Kernels know bounds, rasters and lines, GEOS the borders of polygons. Borders belong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import shapely

from sanderling.arrays import F64, Bools
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box
from sanderling.space.outlines.globe import bounds as globe_bounds
from sanderling.space.outlines.outline import ACROSS, AREA, law_of, still_of
from sanderling.space.outlines.outline import bounds as outline_bounds
from sanderling.space.shapes import box

POLYGON = 2
WORD = "polygon"


def numbers(outlines: Sequence[bytes | None]) -> tuple[F64, F64, F64, F64]:
    outlines = [None if o is None else still_of(o) for o in outlines]
    is_area = [o is not None and law_of(o) == AREA for o in outlines]
    areas = [o if yes else None for o, yes in zip(outlines, is_area, strict=True)]
    around = shapely.bounds(shapely.from_wkb(np.array(areas, dtype=object))).reshape(len(outlines), 4)
    for place, (outline, yes) in enumerate(zip(outlines, is_area, strict=True)):
        if outline is not None and not yes:
            find = outline_bounds if law_of(outline) < ACROSS else globe_bounds
            around[place] = find(outline)
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


def holds_exactly(shapes: npt.NDArray[np.object_], is_outer: Bools, x: F64, y: F64) -> Bools:
    """By pair of a prepared shape and a place whether the one, or its exterior, holds the other."""
    holds = np.empty(len(shapes), np.bool_)
    holds[~is_outer] = shapely.intersects_xy(shapes[~is_outer], x[~is_outer], y[~is_outer])
    holds[is_outer] = ~shapely.contains_xy(shapes[is_outer], x[is_outer], y[is_outer])
    return holds
