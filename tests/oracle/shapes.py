"""Which points a shape holds. All borders belong to the shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

Point = tuple[float, float]
Ring = Sequence[Point]  # closed (last point = first) or not
Polygon = tuple[Ring, Sequence[Ring]]  # outer ring, holes


@dataclass(frozen=True)
class Everywhere:
    """No INSIDE clause: holds every point."""

    def holds(self, x: float, y: float) -> bool:
        return True


@dataclass(frozen=True)
class Box:
    """A rectangle by two opposite corners, in any order."""

    x1: float
    y1: float
    x2: float
    y2: float

    def holds(self, x: float, y: float) -> bool:
        in_x = min(self.x1, self.x2) <= x <= max(self.x1, self.x2)
        in_y = min(self.y1, self.y2) <= y <= max(self.y1, self.y2)
        return in_x and in_y


@dataclass(frozen=True)
class Disc:
    """A circle; squares are compared in doubles, as the language defines it."""

    x: float
    y: float
    r: float

    def holds(self, x: float, y: float) -> bool:
        return _is_near(x, y, self.x, self.y, self.r)


@dataclass(frozen=True)
class MovingBox:
    """A rectangle of that length and width centred on the focal object."""

    focal: object
    xdist: float
    ydist: float

    def holds(self, x: float, y: float, focal_x: float, focal_y: float) -> bool:
        # Not Box(focal_x - xdist / 2, ...): that rounds differently from the definition.
        return abs(x - focal_x) <= self.xdist / 2 and abs(y - focal_y) <= self.ydist / 2


@dataclass(frozen=True)
class MovingDisc:
    """A circle around the focal object."""

    focal: object
    r: float

    def holds(self, x: float, y: float, focal_x: float, focal_y: float) -> bool:
        return _is_near(x, y, focal_x, focal_y, self.r)


@dataclass(frozen=True)
class Area:
    """One or more polygons with holes; the borders of holes belong to the area too.

    Promises (test_shapes.py): exact for the doubles given, no rounding anywhere.
    """

    polygons: Sequence[Polygon]

    @cached_property
    def _bounded(self) -> list[tuple[Box, Polygon]]:
        return [(_bounds(outer), (outer, holes)) for outer, holes in self.polygons if outer]

    def holds(self, x: float, y: float) -> bool:
        return any(
            bounds.holds(x, y)
            and _side(x, y, outer) >= 0
            and not any(_side(x, y, hole) > 0 for hole in holes)
            for bounds, (outer, holes) in self._bounded
        )


Shape = Everywhere | Box | Disc | Area | MovingBox | MovingDisc


def _is_near(x: float, y: float, center_x: float, center_y: float, r: float) -> bool:
    # float(): squares of whole numbers given as int would not be squares of doubles.
    dx, dy, r = float(x) - float(center_x), float(y) - float(center_y), float(r)
    return dx * dx + dy * dy <= r * r


def _bounds(ring: Ring) -> Box:
    xs, ys = [x for x, _ in ring], [y for _, y in ring]
    return Box(min(xs), min(ys), max(xs), max(ys))


def _side(x: float, y: float, ring: Ring) -> int:
    """+1 strictly inside the ring, 0 on it, -1 outside.

    Counts the edges that a ray from (x, y) towards larger x crosses: odd is inside.
    Comparing doubles is exact; only an edge whose box holds the point needs fractions.
    """
    inside = False
    ax, ay = ring[-1]
    for bx, by in ring:
        if (ay < y and by < y) or (ay > y and by > y) or (ax < x and bx < x):
            pass  # the ray does not meet the edge
        elif ax > x and bx > x:
            # One end strictly above, one not: a vertex on the ray counts once, not twice.
            inside ^= (ay > y) != (by > y)
        else:
            turn = _turn(ax, ay, bx, by, x, y)
            if turn == 0:
                return 0
            if (ay > y) != (by > y):
                # The edge lies to the right if the point is left of it going up, right of it going down.
                inside ^= (turn > 0) == (by > ay)
        ax, ay = bx, by
    return 1 if inside else -1


def _turn(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> Fraction:
    """Positive if (x, y) is left of the line from a to b, zero on it; exact."""
    ax_, ay_ = Fraction(ax), Fraction(ay)
    return (Fraction(bx) - ax_) * (Fraction(y) - ay_) - (Fraction(by) - ay_) * (Fraction(x) - ax_)
