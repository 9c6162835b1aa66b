"""All coverages: their kinds, and which file answers for each.

Kernels and the plan know a coverage by its kind, a small number. A new one has a file of its own and a line
in each function here; nobody else asks what kind a region is.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I8, Bools
from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import LAT, LON, ON_PLANE, Box, map_bounds
from sanderling.space.shapes import box, cap, centred, disc, everywhere, oblong, polygon, quadrangle
from sanderling.space.shapes.box import BOX
from sanderling.space.shapes.cap import CAP
from sanderling.space.shapes.centred import CENTRED
from sanderling.space.shapes.disc import DISC
from sanderling.space.shapes.everywhere import EVERYWHERE
from sanderling.space.shapes.oblong import OBLONG
from sanderling.space.shapes.polygon import POLYGON
from sanderling.space.shapes.quadrangle import QUADRANGLE

# By kind, which is saved with plans: a number is given once.
COVERAGES = {
    BOX: box, DISC: disc, POLYGON: polygon, EVERYWHERE: everywhere, CENTRED: centred,
    CAP: cap, OBLONG: oblong, QUADRANGLE: quadrangle,
}  # fmt: skip


@jit_bare
def is_everywhere(kind: int) -> bool:
    """Whether any place will do: whoever asks first need not fetch the numbers."""
    return kind == EVERYWHERE


@jit_bare
def holds_place(kind: int, a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """Whether a region holds a place; of a polygon, whether its bounds do."""
    if kind == BOX:
        return box.holds(a, b, c, d, x, y)
    if kind == DISC:
        return disc.holds(a, b, c, d, x, y)
    if kind == CENTRED:
        return centred.holds(a, b, c, d, x, y)
    if kind == POLYGON:
        return polygon.holds(a, b, c, d, x, y)
    if kind == CAP:
        return cap.holds(a, b, c, d, x, y)
    if kind == QUADRANGLE:
        return quadrangle.holds(a, b, c, d, x, y)
    if kind == OBLONG:
        return oblong.holds(a, b, c, d, x, y)
    return everywhere.holds(a, b, c, d, x, y)


@jit_bare
def bounds_of(kind: int, a: float, b: float, c: float, d: float) -> Box:
    """A box that certainly holds every place that a region holds; NaN of one that is nowhere."""
    if kind == BOX:
        return box.bounds(a, b, c, d)
    if kind == DISC:
        return disc.bounds(a, b, c, d)
    if kind == CENTRED:
        return centred.bounds(a, b, c, d)
    if kind == POLYGON:
        return polygon.bounds(a, b, c, d)
    if kind == CAP:
        return cap.bounds(a, b, c, d)
    if kind == QUADRANGLE:
        return quadrangle.bounds(a, b, c, d)
    if kind == OBLONG:
        return oblong.bounds(a, b, c, d)
    return everywhere.bounds(a, b, c, d)


@jit_bare
def holds_at(kind: int, region: F64, q: int, x: float, y: float, places: F64, p: int) -> bool:
    """Whether region q holds place p, whose first two columns are x and y (metric.py, `spread`)."""
    a, b, c, d = region[q, 0], region[q, 1], region[q, 2], region[q, 3]
    if places.shape[1] == ON_PLANE:
        return holds_place(kind, a, b, c, d, x, y)
    return holds_place(kind, a, b, c, d, places[p, LON], places[p, LAT])


@jit_bare
def bounds_at(kind: int, region: F64, q: int, at: F64) -> Box:
    """As `bounds_of`, of region q, where places are as those of `at`; on the globe, of the map."""
    a, b, c, d = region[q, 0], region[q, 1], region[q, 2], region[q, 3]
    if at.shape[1] == ON_PLANE:
        return bounds_of(kind, a, b, c, d)
    if kind == CAP:
        return map_bounds(a, b, c, d)
    return everywhere.bounds(a, b, c, d)


@jit_bare
def follow_to(kind: int, region: F64, r: int, x: float, y: float, spots: F64, i: int) -> None:
    """Region r is around the place x, y from now on, which on the globe is that of line i."""
    if len(spots) == 0:
        region[r, 0], region[r, 1] = x, y
    elif kind == CAP:
        region[r, 0], region[r, 1], region[r, 2] = spots[i, 2], spots[i, 3], spots[i, 4]
    else:
        region[r, 0], region[r, 1] = spots[i, LON], spots[i, LAT]


@jit_bare
def size_of(kind: int, a: float, b: float, c: float, d: float) -> float:
    """How long it is, or how wide if that is more."""
    if kind == BOX:
        return box.size(a, b, c, d)
    if kind == DISC:
        return disc.size(a, b, c, d)
    if kind == CENTRED:
        return centred.size(a, b, c, d)
    if kind == POLYGON:
        return polygon.size(a, b, c, d)
    if kind == CAP:
        return cap.size(a, b, c, d)
    if kind == QUADRANGLE:
        return quadrangle.size(a, b, c, d)
    if kind == OBLONG:
        return oblong.size(a, b, c, d)
    return everywhere.size(a, b, c, d)


@jit_bare
def reach_of(kind: int, c: float, d: float) -> tuple[float, float]:
    """Of a region that may follow a focal object: how far it goes from it, along either axis."""
    if kind == DISC:
        return disc.reach(c, d)
    return centred.reach(c, d)


def plain_holds_place(kind: int, a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds_place`."""
    return bool(COVERAGES[int(kind)].plain_holds(*map(float, (a, b, c, d, x, y))))


def are_everywhere(kind: I8) -> Bools:
    """Of which any place will do."""
    return np.asarray(kind == EVERYWHERE)


def are_by_bounds(kind: I8) -> Bools:
    """Of which kernels know the bounds only: what these hold is judged by the shape itself."""
    return np.asarray(kind == POLYGON)


def word_of(kind: int) -> str:
    """What EXPLAIN calls it."""
    return str(COVERAGES[int(kind)].WORD)
