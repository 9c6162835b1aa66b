"""Shapes as columns: what regions look like to the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from sanderling.arrays import F64
from sanderling.language.statements import (
    CircleShape,
    MovingCircleShape,
    MovingRectShape,
    PolygonShape,
    RectShape,
)
from sanderling.plan.query.relations import Shape
from sanderling.plans.plan import BOX, DISC, EVERYWHERE, POLYGON


@dataclass(frozen=True, slots=True)
class Areas:
    """Regions of one kind; `a, b, c, d` as `plans.Regions` tells them."""

    kind: int
    numbers: tuple[F64, F64, F64, F64]
    wkb: tuple[bytes | None, ...]

    def __len__(self) -> int:
        return len(self.wkb)


def numbers_of(shape: Shape) -> tuple[float, ...]:
    """The numbers that a shape is written with, in their order."""
    match shape:
        case RectShape(x1, y1, x2, y2):
            return (x1, y1, x2, y2)
        case CircleShape(x, y, radius):
            return (x, y, radius)
        case MovingRectShape(_, xdist, ydist):
            return (xdist, ydist)
        case MovingCircleShape(_, radius):
            return (radius,)
    return ()


def area_of(shape: Shape) -> Areas:
    """One region."""
    return areas_like(shape, [np.array([number], np.float64) for number in numbers_of(shape)], 1)


def areas_like(shape: Shape, written: Sequence[F64], n: int) -> Areas:
    """Regions of the same sort as this shape, with these numbers."""
    zero = np.zeros(n)
    nothing: tuple[bytes | None, ...] = (None,) * n
    match shape:
        case RectShape():
            x1, y1, x2, y2 = written
            return Areas(BOX, (*_lower(x1, x2, y1, y2), *_upper(x1, x2, y1, y2)), nothing)
        case CircleShape():
            return Areas(DISC, (written[0], written[1], written[2], zero), nothing)
        case MovingRectShape():
            return Areas(BOX, (written[0], written[1], zero, zero), nothing)
        case MovingCircleShape():
            return Areas(DISC, (written[0], zero, zero, zero), nothing)
        case PolygonShape(wkb):
            return polygons([wkb] * n)
    return Areas(EVERYWHERE, (zero, zero, zero, zero), nothing)


# Not np.minimum: of two equal numbers the first counts, so that 0 and -0 come out one way only.


def _lower(x1: F64, x2: F64, y1: F64, y2: F64) -> tuple[F64, F64]:
    return np.where(x2 < x1, x2, x1), np.where(y2 < y1, y2, y1)


def _upper(x1: F64, x2: F64, y1: F64, y2: F64) -> tuple[F64, F64]:
    return np.where(x2 > x1, x2, x1), np.where(y2 > y1, y2, y1)


def polygons(wkb: Sequence[bytes | None]) -> Areas:
    bounds = shapely.bounds(shapely.from_wkb(np.array(wkb, dtype=object))).reshape(len(wkb), 4)
    a, b, c, d = (np.ascontiguousarray(bounds[:, i]) for i in range(4))
    return Areas(POLYGON, (a, b, c, d), tuple(wkb))
