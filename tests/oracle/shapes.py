"""Which points a shape holds. All borders belong to the shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

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


@dataclass(frozen=True)
class Side:
    """Left (1) or right (-1) of a directed line, or on it (0). Its first and last piece go on without end.

    The nearest piece decides. Where that is a corner, the side that the line turns away from.
    """

    line: Sequence[Point]
    which: int

    def holds(self, x: float, y: float) -> bool:
        side = self.side(x, y)
        return side in (0, self.which)

    def side(self, x: float, y: float) -> int:
        pieces = [((ax, ay), (bx - ax, by - ay)) for (ax, ay), (bx, by) in pairwise(self.line)]
        found = [self._seen(number, len(pieces), *piece, x, y) for number, piece in enumerate(pieces)]
        least = min(distance for distance, *_ in found)
        near = [number for number, (distance, *_) in enumerate(found) if distance == least]
        first = near[0]
        _, cross, at = found[first]
        if at == 1 and first + 1 < len(pieces) and first + 1 in near:
            if least == 0:
                return 0
            if found[first + 1][2] > 0:
                return _sign(found[first + 1][1])  # seems as near from far away, but is nearer
            (ux, uy), (vx, vy) = pieces[first][1], pieces[first + 1][1]
            return -_sign(ux * vy - uy * vx) or _sign(cross)
        return _sign(cross)

    @staticmethod
    def _seen(number: int, pieces: int, a: Point, u: Point, x: float, y: float) -> tuple[float, float, float]:
        """The square of the distance to a piece, which side of it, and where on it is nearest."""
        wx, wy = x - a[0], y - a[1]
        at = (wx * u[0] + wy * u[1]) / (u[0] * u[0] + u[1] * u[1])
        at = max(at, 0) if number > 0 else at
        at = min(at, 1) if number < pieces - 1 else at
        foot = (a[0] + u[0], a[1] + u[1]) if at == 1 else (a[0] + at * u[0], a[1] + at * u[1])
        dx, dy = x - foot[0], y - foot[1]
        return dx * dx + dy * dy, u[0] * wy - u[1] * wx, at


@dataclass(frozen=True)
class Corridor:
    """All within a distance of a line as it is drawn."""

    line: Sequence[Point]
    distance: float

    def holds(self, x: float, y: float) -> bool:
        return self.squared(x, y) <= self.distance * self.distance

    def squared(self, x: float, y: float) -> float:
        return min(Side._seen(1, 3, a, (b[0] - a[0], b[1] - a[1]), x, y)[0] for a, b in pairwise(self.line))


@dataclass(frozen=True)
class Both:
    """What two shapes hold together: a band between two lines."""

    one: Side
    other: Side

    def holds(self, x: float, y: float) -> bool:
        return self.one.holds(x, y) and self.other.holds(x, y)


@dataclass(frozen=True)
class Spots:
    places: Sequence[Point]

    def holds(self, x: float, y: float) -> bool:
        return (x, y) in self.places


@dataclass(frozen=True)
class Exterior:
    """All but the inside of a shape; its border is in both."""

    of: "Box | Disc | Area | Side | Corridor | Both"

    def holds(self, x: float, y: float) -> bool:
        match self.of:
            case Box(x1, y1, x2, y2):
                return not (min(x1, x2) < x < max(x1, x2) and min(y1, y2) < y < max(y1, y2))
            case Disc(cx, cy, r):
                dx, dy = x - cx, y - cy
                return dx * dx + dy * dy >= r * r
            case Corridor(_, r):
                return self.of.squared(x, y) >= r * r
            case Side():
                return self.of.side(x, y) != self.of.which
            case Both(one, other):
                return Exterior(one).holds(x, y) or Exterior(other).holds(x, y)
            case Area(polygons):
                return not any(
                    _side(x, y, outer) > 0 and not any(_side(x, y, hole) >= 0 for hole in holes)
                    for outer, holes in polygons
                )


@dataclass(frozen=True)
class Own:
    """A shape that is elsewhere, and larger or smaller: a place is taken back to where it would have been."""

    of: "Still"
    far: Point = (0.0, 0.0)
    middle: Point = (0.0, 0.0)
    scale: float = 1.0

    def holds(self, x: float, y: float) -> bool:
        if self.scale <= 0:
            return False
        x, y = x - self.far[0], y - self.far[1]
        if self.scale != 1:
            x = (x - self.middle[0]) / self.scale + self.middle[0]
            y = (y - self.middle[1]) / self.scale + self.middle[1]
        return self.of.holds(x, y)


@dataclass(frozen=True)
class Around:
    """A shape that follows its focal object, which is its 0, 0."""

    focal: object
    of: "Still"

    def holds(self, x: float, y: float, focal_x: float, focal_y: float) -> bool:
        return self.of.holds(x - focal_x, y - focal_y)


@dataclass(frozen=True)
class Changing:
    """A shape that shifts and scales by itself, in steps from a time on; times in microseconds."""

    of: "Still | Around"
    begin: int
    until: int | None = None
    shift: tuple[float, float, int] | None = None
    scale: tuple[float, int] | None = None

    def steps(self, tick: int) -> tuple[int, int]:
        """How often it has shifted, and scaled."""
        since = max(0, (tick if self.until is None else min(tick, self.until)) - self.begin)
        return since // self.shift[2] if self.shift else 0, since // self.scale[1] if self.scale else 0

    def at(self, tick: int) -> "Own | Around":
        n, m = self.steps(tick)
        scale = 1 + m * self.scale[0] if self.scale else 1.0
        if isinstance(self.of, Around):
            return Around(self.of.focal, Own(self.of.of, scale=scale))
        far = (n * self.shift[0], n * self.shift[1]) if self.shift else (0.0, 0.0)
        return Own(self.of, far, _middle(self.of) if self.scale else (0.0, 0.0), scale)


Still = Everywhere | Box | Disc | Area | Side | Corridor | Both | Spots | Exterior | Own
Following = MovingBox | MovingDisc | Around
Shape = Still | Following | Changing


def focal_of(shape: Shape) -> object:
    """None of what follows nobody."""
    inner = shape.of if isinstance(shape, Changing) else shape
    return inner.focal if isinstance(inner, Following) else None


def _middle(shape: "Still") -> Point:
    """Of the bounds of what is drawn."""
    match shape:
        case Exterior(inner):
            return _middle(inner)
        case Box(x1, y1, x2, y2):
            points: list[Point] = [(x1, y1), (x2, y2)]
        case Disc(x, y):
            points = [(x, y)]
        case Area(polygons):
            points = [point for outer, _ in polygons for point in outer]
        case Corridor(line):
            points = list(line)
        case Spots(places):
            points = list(places)
        case _:
            raise ValueError(f"{shape} has no middle")
    bounds = _bounds(points)
    return bounds.x1 / 2 + bounds.x2 / 2, bounds.y1 / 2 + bounds.y2 / 2


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


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
