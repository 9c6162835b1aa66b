"""How a coverage changes by itself, in three words: DESCRIBE REGION tells them, and nothing else asks.

mutability    stationary | moving: whether it changes its place
interaction   overlapping | contiguous | discontinuous: what its first two states have in common: some of
              their inside, only their borders, nothing
variability   permanent | distorted: whether it changes its size
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import shapely
from shapely import Geometry

from sanderling.arrays import F64
from sanderling.space.moving.drift import Motion, Motions
from sanderling.space.outlines import outline as o
from sanderling.space.sphere import DEGREE, METRES_A_DEGREE

STATIONARY, MOVING = "stationary", "moving"
OVERLAPPING, CONTIGUOUS, DISCONTINUOUS = "overlapping", "contiguous", "discontinuous"
PERMANENT, DISTORTED = "permanent", "distorted"
AS_ITS_OBJECT = "as its object moves"
WITHOUT_END = (o.SIDE, o.BAND)
# Lines that go on are drawn so many times as long as all that is written.
FAR = 1000.0


class Change(NamedTuple):
    mutability: str
    interaction: str
    variability: str


def change_of(outline: bytes | None, is_following: bool, is_globe: bool = False) -> Change:
    """Of a coverage with an outline, or of one without, which does not change by itself.

    Whether it is on the globe is known where a distance has a unit.
    """
    motion = None if outline is None else o.motion_of(outline)
    begins = [] if motion is None else _first_steps(motion)
    is_growing = motion is not None and motion.scale_us > 0 and motion.growth != 0 and bool(begins)
    variability = DISTORTED if is_growing else PERMANENT
    if is_following:
        return Change(MOVING, AS_ITS_OBJECT, variability)
    if outline is None or motion is None or not begins:
        return Change(STATIONARY, OVERLAPPING, PERMANENT)
    is_moving = motion.shift_us > 0 and (motion.dx, motion.dy) != (0, 0)
    met = _interaction(o.still_of(outline), motion, min(begins), is_globe)
    return Change(MOVING if is_moving else STATIONARY, met, variability)


def _first_steps(motion: Motion) -> list[int]:
    """When it shifts and scales for the first time, if it does."""
    found = [motion.begin + us for us in (motion.shift_us, motion.scale_us) if us > 0]
    return [time for time in found if time <= motion.until]


@np.errstate(all="ignore")  # of what is far without end, nothing is exact
def _interaction(outline: bytes, motion: Motion, tick: int, is_globe: bool) -> str:
    (dx,), (dy,) = (by.tolist() for by in Motions.of([motion]).shifted(tick))
    scale = float(Motions.of([motion]).scaled(tick)[0])
    if scale <= 0:
        return DISCONTINUOUS  # nowhere, then
    if o.word_of(outline).startswith("exterior"):
        return OVERLAPPING  # they have no end

    def moved(points: F64) -> F64:
        middle = np.array([motion.x, motion.y])
        return np.asarray((points - middle) * scale + middle + (dx, dy))

    if o.law_of(outline) == o.CORRIDOR:
        return _corridors(o.numbers_of(outline), moved, scale, motion.y if is_globe else None)
    if o.law_of(outline) in WITHOUT_END:
        one, other = _without_end(outline, (dx, dy))
    else:
        one = _drawn(outline)
        other = shapely.transform(one, moved)
    if not shapely.intersects(one, other):
        return DISCONTINUOUS
    return CONTIGUOUS if shapely.touches(one, other) else OVERLAPPING


def _corridors(numbers: F64, moved: Callable[[F64], F64], scale: float, lat: float | None) -> str:
    """All within a distance of a line, or of a point; on the globe in a flat map around this latitude."""
    points, width = numbers[1:].reshape(-1, 2), float(numbers[0])
    unit = np.ones(2) if lat is None else METRES_A_DEGREE * np.array([np.cos(lat * DEGREE), 1.0])
    one, other = _line(points * unit), _line(moved(points) * unit)
    apart, most = float(shapely.distance(one, other)), width * (1 + scale)
    return OVERLAPPING if apart < most or apart == 0 else CONTIGUOUS if apart == most else DISCONTINUOUS


def _line(points: F64) -> Geometry:
    return shapely.Point(points[0]) if len(points) == 1 else shapely.LineString(points)


def _drawn(outline: bytes) -> Geometry:
    law, numbers = o.law_of(outline), o.numbers_of(outline)
    if law == o.WITHIN_BOUNDS:
        return shapely.box(*numbers[:4])
    if law == o.SPOTS:
        return shapely.MultiPoint(numbers.reshape(-1, 2))
    return shapely.from_wkb(o.wkb_of(outline))


def _without_end(outline: bytes, by: tuple[float, float]) -> tuple[Geometry, Geometry]:
    """A side or a band as far as a frame that is much larger, before it is shifted and after."""
    lines, sides = _lines_of(outline)
    corners = np.concatenate(lines)
    middle = corners.mean(axis=0)
    size = FAR * float(np.abs(corners - middle).max() + np.abs(by).max())
    frame = shapely.box(*(middle - size), *(middle + size))
    one, other = (
        _cut([line + shift for line in lines], sides, frame, 4 * size) for shift in ((0.0, 0.0), by)
    )
    return one, other


def _lines_of(outline: bytes) -> tuple[list[F64], list[float]]:
    numbers = o.numbers_of(outline)
    if o.law_of(outline) == o.SIDE:
        return [numbers[1:].reshape(-1, 2)], [float(numbers[0])]
    middle = 3 + 2 * int(numbers[0])
    lines = [numbers[3:middle].reshape(-1, 2), numbers[middle:].reshape(-1, 2)]
    return lines, [float(numbers[1]), float(numbers[2])]


def _cut(lines: Sequence[F64], sides: Sequence[float], frame: Geometry, far: float) -> Geometry:
    """What is on these sides of lines that go on, within a frame."""
    drawn = [shapely.LineString(_going_on(line, far)) for line in lines]
    if sides == [o.ON]:
        return shapely.intersection(drawn[0], frame)
    edges = shapely.union_all([frame.boundary, *drawn])
    parts = shapely.get_parts(shapely.polygonize(shapely.get_parts(shapely.node(edges))))
    return shapely.union_all([part for part in parts if _is_held(part, lines, sides)])


def _is_held(part: Geometry, lines: Sequence[F64], sides: Sequence[float]) -> bool:
    place = shapely.point_on_surface(part)
    at = (float(place.x), float(place.y))
    written = [[(float(x), float(y)) for x, y in line] for line in lines]
    return all(o.side_of_place(line, at) == side for line, side in zip(written, sides, strict=True))


def _going_on(line: F64, far: float) -> F64:
    """With ends that are far away."""
    first, last = line[0] - line[1], line[-1] - line[-2]
    back, forth = (way / np.abs(way).max() * far for way in (first, last))
    return np.concatenate([[line[0] + back], line, [line[-1] + forth]])
