"""Shapes as columns: what regions look like to the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sanderling.arrays import F64
from sanderling.language.statements import (
    CircleShape,
    FollowingShape,
    MovingCircleShape,
    MovingRectShape,
    OutlineShape,
    RectShape,
)
from sanderling.plan.query.relations import Shape
from sanderling.space.shapes import box, cap, centred, disc, everywhere, oblong, polygon, quadrangle
from sanderling.space.shapes.box import BOX
from sanderling.space.shapes.cap import CAP
from sanderling.space.shapes.centred import CENTRED
from sanderling.space.shapes.disc import DISC
from sanderling.space.shapes.everywhere import EVERYWHERE
from sanderling.space.outlines.globe import around_on_globe, on_globe
from sanderling.space.shapes.oblong import OBLONG
from sanderling.space.outlines.outline import word_of as outline_word
from sanderling.space.shapes.polygon import POLYGON
from sanderling.space.shapes.quadrangle import QUADRANGLE
from sanderling.space.sphere import FARTHEST_EAST, POLE

# Longitude and latitude go so far.
PLACE = (FARTHEST_EAST, POLE)


@dataclass(frozen=True, slots=True)
class Areas:
    """Regions of one kind; numbers as the file of the coverage explains them."""

    kind: int
    numbers: tuple[F64, F64, F64, F64]
    wkb: tuple[bytes | None, ...]

    def __len__(self) -> int:
        return len(self.wkb)

    def and_nowhere(self) -> Areas:
        """And one more, for what never lives."""
        a, b, c, d = (np.append(numbers, 0.0) for numbers in self.numbers)
        return Areas(self.kind, (a, b, c, d), (*self.wkb, None))

    def of(self, row: int) -> Areas:
        """One of them."""
        a, b, c, d = (numbers[row : row + 1] for numbers in self.numbers)
        return Areas(self.kind, (a, b, c, d), self.wkb[row : row + 1])


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


def coordinates_of(shape: Shape) -> tuple[float, ...]:
    """By number how far from 0 it may be on the globe: a longitude, a latitude, or a size."""
    match shape:
        case RectShape():
            return (*PLACE, *PLACE)
        case CircleShape():
            return (*PLACE, np.inf)
    return (np.inf,) * len(numbers_of(shape))


def area_of(shape: Shape, is_globe: bool) -> Areas:
    """One region."""
    return areas_like(shape, [np.array([number], np.float64) for number in numbers_of(shape)], 1, is_globe)


def areas_like(shape: Shape, written: Sequence[F64], n: int, is_globe: bool) -> Areas:
    """Regions of the same sort as this shape, with these numbers, on a plane or on the globe."""
    if is_globe:
        return _on_globe(shape, written, n)
    match shape:
        case RectShape():
            return _without_wkb(BOX, box.numbers(*written))
        case CircleShape():
            return _without_wkb(DISC, disc.numbers(*written))
        case MovingRectShape():
            return _without_wkb(CENTRED, centred.numbers(*written))
        case MovingCircleShape():
            return _without_wkb(DISC, disc.following(*written))
        case OutlineShape(outline) | FollowingShape(_, outline):
            return polygons([outline] * n)
    return _without_wkb(EVERYWHERE, everywhere.numbers(n))


def _on_globe(shape: Shape, written: Sequence[F64], n: int) -> Areas:
    match shape:
        case RectShape():
            return _without_wkb(QUADRANGLE, quadrangle.numbers(*written))
        case CircleShape():
            return _without_wkb(CAP, cap.numbers(*written))
        case MovingRectShape():
            return _without_wkb(OBLONG, oblong.numbers(*written))
        case MovingCircleShape():
            return _without_wkb(CAP, cap.following(*written))
        case OutlineShape(outline):
            return polygons([on_globe(outline)] * n)
        case FollowingShape(_, outline):
            return polygons([around_on_globe(outline)] * n)
    return _without_wkb(EVERYWHERE, everywhere.numbers(n))


def _without_wkb(kind: int, numbers: tuple[F64, F64, F64, F64]) -> Areas:
    """Numbers say it all."""
    return Areas(kind, numbers, (None,) * len(numbers[0]))


def polygons(outlines: Sequence[bytes | None]) -> Areas:
    """And all other outlines."""
    return Areas(POLYGON, polygon.numbers(outlines), tuple(outlines))


def circles(x: F64, y: F64, radius: float, is_globe: bool) -> Areas:
    """Around places."""
    kind, numbers = (CAP, cap.numbers) if is_globe else (DISC, disc.numbers)
    return _without_wkb(kind, numbers(x, y, np.full(len(x), radius)))


def word_of(shape: Shape) -> str:
    """What SHOW REGIONS calls it."""
    match shape:
        case OutlineShape(outline):
            return outline_word(outline)
        case FollowingShape(_, outline):
            return f"moving {outline_word(outline)}"
        case MovingRectShape():
            return "moving rectangle"
        case MovingCircleShape():
            return "moving circle"
    return "rect" if isinstance(shape, RectShape) else "circle"
