"""Shapes as columns: what regions look like to the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sanderling.arrays import F64
from sanderling.language.statements import (
    CircleShape,
    MovingCircleShape,
    MovingRectShape,
    OutlineShape,
    RectShape,
)
from sanderling.plan.query.relations import Shape
from sanderling.space import box, centred, disc, everywhere, polygon
from sanderling.space.box import BOX
from sanderling.space.centred import CENTRED
from sanderling.space.disc import DISC
from sanderling.space.everywhere import EVERYWHERE
from sanderling.space.outline import word_of as outline_word
from sanderling.space.polygon import POLYGON


@dataclass(frozen=True, slots=True)
class Areas:
    """Regions of one kind; numbers as the file of the coverage explains them."""

    kind: int
    numbers: tuple[F64, F64, F64, F64]
    wkb: tuple[bytes | None, ...]

    def __len__(self) -> int:
        return len(self.wkb)

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


def area_of(shape: Shape) -> Areas:
    """One region."""
    return areas_like(shape, [np.array([number], np.float64) for number in numbers_of(shape)], 1)


def areas_like(shape: Shape, written: Sequence[F64], n: int) -> Areas:
    """Regions of the same sort as this shape, with these numbers."""
    match shape:
        case RectShape():
            return _without_wkb(BOX, box.numbers(*written))
        case CircleShape():
            return _without_wkb(DISC, disc.numbers(*written))
        case MovingRectShape():
            return _without_wkb(CENTRED, centred.numbers(*written))
        case MovingCircleShape():
            return _without_wkb(DISC, disc.following(*written))
        case OutlineShape(outline):
            return polygons([outline] * n)
    return _without_wkb(EVERYWHERE, everywhere.numbers(n))


def _without_wkb(kind: int, numbers: tuple[F64, F64, F64, F64]) -> Areas:
    """Numbers say it all."""
    return Areas(kind, numbers, (None,) * len(numbers[0]))


def polygons(outlines: Sequence[bytes | None]) -> Areas:
    """And all other outlines."""
    return Areas(POLYGON, polygon.numbers(outlines), tuple(outlines))


def word_of(shape: Shape) -> str:
    """What SHOW REGIONS calls it."""
    match shape:
        case OutlineShape(outline):
            return outline_word(outline)
        case MovingRectShape():
            return "moving rectangle"
        case MovingCircleShape():
            return "moving circle"
    return "rect" if isinstance(shape, RectShape) else "circle"
