"""Poses: where the outlines of regions are that are not where they are written.

by itself    it drifts, grows or shrinks (drift.py)
following    written around its focal object, which is its 0, 0

By region a line of numbers: how far it has come, its middle, how many times as large it is, and in which
space that is so (globe_pose.py). An outline judges a place by where that would be, had the region stayed as
it was written: its own place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sanderling.arrays import F64, I32, I64, Bools
from sanderling.kernels.jit import jit_bare
from sanderling.space.coverages import are_by_bounds
from sanderling.space.geometry import Geometry
from sanderling.space.moving.drift import Motions
from sanderling.space.moving.globe_pose import (
    CHORD,
    DEGREES,
    METRES,
    PLANE,
    all_own_on_globe,
    once_round,
    own_boxes_on_globe,
    own_on_globe,
    posed_on_globe,
    turned_bounds,
)
from sanderling.space.moving.motion import Places, placed
from sanderling.space.outlines.outline import BEYOND_CHORD, WITHIN_CHORD, law_of, motion_of, still_of
from sanderling.space.sphere import FARTHEST_EAST

SHIFT_X, SHIFT_Y, MIDDLE_X, MIDDLE_Y, SCALE, SPACE = range(6)
# What bounds are widened by, of the numbers that they are made of: far more than rounding can do.
SLACK = 1e-12


@jit_bare
def own_place(pose: F64, r: int, x: float, y: float) -> tuple[float, float]:
    """Where a place would be, had the region stayed as it was written."""
    if pose[r, 5] != PLANE:
        return own_on_globe(
            pose[r, 5], pose[r, 0], pose[r, 1], pose[r, 2], pose[r, 3], pose[r, 4], x, y
        )  # fmt: skip
    x, y, scale = x - pose[r, 0], y - pose[r, 1], pose[r, 4]
    if scale != 1:
        return (x - pose[r, 2]) / scale + pose[r, 2], (y - pose[r, 3]) / scale + pose[r, 3]
    return x, y


def own_places(pose: F64, region: I32 | I64, x: F64, y: F64) -> tuple[F64, F64]:
    """The same for pairs of a region and a place; of no poses, the places themselves."""
    if not len(pose):
        return x, y
    if pose[0, SPACE] != PLANE or (pose[:, SPACE] != PLANE).any():  # all of a stream, or none
        return all_own_on_globe(pose, region.astype(np.int64), x, y)
    dx, dy, mx, my, scale, _ = pose[region].T
    x, y = x - dx, y - dy
    with np.errstate(all="ignore"):
        scaled = (x - mx) / scale + mx, (y - my) / scale + my
    return np.where(scale != 1, scaled[0], x), np.where(scale != 1, scaled[1], y)


@dataclass(frozen=True, slots=True)
class Poses:
    """Which regions are not where they are written, and how each of them changes by itself."""

    is_posed: Bools  # by region
    motion: I32  # by region its number among the motions, -1 for none; empty where there are no motions
    motions: Motions
    space: F64 = field(default_factory=lambda: np.empty(0))  # by region, on the globe; empty on a plane

    @classmethod
    def of(cls, outlines: Sequence[bytes | None], follows: Bools, is_globe: bool = False) -> Poses:
        """Of regions that follow, those with an outline are posed."""
        written = [None if outline is None else motion_of(outline) for outline in outlines]
        moves = np.array([motion is not None for motion in written], np.bool_)
        has_outline = np.array([outline is not None for outline in outlines], np.bool_)
        number = np.where(moves, np.cumsum(moves) - 1, -1).astype(np.int32)
        motions = Motions.of([motion for motion in written if motion is not None])
        is_posed = moves | (has_outline & follows)
        if not is_posed.any():  # as it mostly is: that takes no room
            is_posed = np.broadcast_to(np.zeros(1, np.bool_), len(is_posed))
        space = np.empty(0)
        if is_globe and is_posed.any():
            space = np.where(follows, METRES, DEGREES)
            space[[o is not None and law_of(still_of(o)) in CHORDS for o in outlines]] = CHORD
        return cls(is_posed, number if moves.any() else np.empty(0, np.int32), motions, space)

    def motions_of(self, ids: I64) -> tuple[I64, Motions]:
        """Which of some regions change by themselves, by their place among these, and how."""
        number = self.motion[ids] if len(self.motion) else np.full(len(ids), -1, np.int32)
        changing = np.flatnonzero(number >= 0)
        return changing, self.motions.take(number[changing].astype(np.int64))

    def at(self, written: Geometry, ids: I64, focal: I64, places: Places, tick: int) -> Geometry:
        """Regions as they are at a tick while their focal objects are at these places; -1 follows nobody."""
        if not self.is_posed[ids].any():
            return placed(written, focal, places)
        by_numbers = np.where(are_by_bounds(written.kind), -1, focal)
        pose = self.pose_of(ids, np.where(by_numbers < 0, focal, -1), places, tick)
        return posed(placed(written, by_numbers, places), pose, self.is_posed[ids])

    def pose_of(self, ids: I64, focal: I64, places: Places, tick: int) -> F64:
        """By region; of what follows nobody, and does not change by itself, that it is as written."""
        pose = np.tile([0.0, 0.0, 0.0, 0.0, 1.0, PLANE], (len(ids), 1))
        follows = np.flatnonzero(focal >= 0)
        for column, place in zip((SHIFT_X, SHIFT_Y), places, strict=True):
            pose[follows, column] = place[focal[follows]]
        changing, motions = self.motions_of(ids)
        for column, far in zip((SHIFT_X, SHIFT_Y), motions.shifted(tick), strict=True):
            pose[changing, column] += far
        pose[changing, MIDDLE_X], pose[changing, MIDDLE_Y] = motions.x, motions.y
        pose[changing, SCALE] = motions.scaled(tick)
        if len(self.space):
            pose[:, SPACE] = self.space[ids]
            # A circle is where its middle is.
            alone = np.flatnonzero((pose[:, SPACE] == CHORD) & (focal < 0))
            pose[alone, SHIFT_X] += pose[alone, MIDDLE_X]
            pose[alone, SHIFT_Y] += pose[alone, MIDDLE_Y]
            pose[:, SHIFT_X] = once_round(pose[:, SHIFT_X])
        return pose


CHORDS = (WITHIN_CHORD, BEYOND_CHORD)
NO_POSES = Poses(np.empty(0, np.bool_), np.empty(0, np.int32), Motions.of([]))


def posed(written: Geometry, pose: F64, is_posed: Bools) -> Geometry:
    """Bounds around outlines where they are now; NaN of one that is nowhere, or as far as no number goes."""
    dx, dy, mx, my, scale, space = pose.T
    is_there = np.isfinite(dx) & np.isfinite(dy) & np.isfinite(scale) & (scale > 0)
    left, right = _bounds(written.a, written.c, dx, mx, scale)
    low, high = _bounds(written.b, written.d, dy, my, scale)
    if (space != PLANE).any():
        # What is written with all longitudes keeps them.
        is_round = (written.a <= -FARTHEST_EAST) & (written.c >= FARTHEST_EAST) & np.isfinite(written.a)
        left, right = (
            np.where(is_round, end, turned)
            for end, turned in zip((-FARTHEST_EAST, FARTHEST_EAST), turned_bounds(left, right), strict=True)
        )
        some = np.flatnonzero(is_there & ((space == METRES) | (space == CHORD)))
        own = written.a[some], written.b[some], written.c[some], written.d[some]
        left[some], low[some], right[some], high[some] = posed_on_globe(own, pose[some])
    now = [np.where(is_there, side, np.nan) for side in (left, low, right, high)]
    a, b, c, d = (
        np.where(is_posed, side, as_written)
        for side, as_written in zip(now, written[1:5], strict=True)
    )  # fmt: skip
    return Geometry(written.kind, a, b, c, d, pose)


def _bounds(least: F64, most: F64, far: F64, middle: F64, scale: F64) -> tuple[F64, F64]:
    """A stretch that holds whatever has its own place between these two."""
    with np.errstate(all="ignore"):
        ends = [middle + (end - middle) * scale + far for end in (least, most)]
        slack = [
            SLACK * (np.abs(end) + np.abs(far) + np.abs(middle) + np.abs(own) * scale) + 1e-150
            for end, own in zip(ends, (least, most), strict=True)
        ]
    return (
        np.where(np.isfinite(ends[0]), ends[0] - slack[0], -np.inf),
        np.where(np.isfinite(ends[1]), ends[1] + slack[1], np.inf),
    )


def own_boxes(
    poses: Poses, one: I64, focal: I64, places: Places, begin: int, end: int, x: F64, y: F64
) -> tuple[F64, F64, F64, F64] | None:  # fmt: skip
    """Of one region: boxes in which the own places of these are from one tick to another.

    None where it takes no step, or is nowhere all the time.
    """
    _, motions = poses.motions_of(one)
    is_same = motions.shifts(begin) == motions.shifts(end)
    if (is_same & (motions.scales(begin) == motions.scales(end))).all():
        return None
    (first,), (last,) = (poses.pose_of(one, focal, places, tick) for tick in (begin, end))
    least, most = min(first[SCALE], last[SCALE]), max(first[SCALE], last[SCALE])
    if most <= 0 or np.isnan([*first, *last]).any():
        return None
    if least <= 0 or not np.isfinite([*first, *last]).all():
        far = np.full(len(x), np.inf)
        return -far, -far, far, far
    if first[SPACE] != PLANE:
        dx, dy = (
            float(after[0] - before[0])
            for before, after in zip(motions.shifted(begin), motions.shifted(end), strict=True)
        )
        return own_boxes_on_globe(first, (dx, dy), (least, most), x, y)
    left, right = _own_stretch(x, sorted((first[SHIFT_X], last[SHIFT_X])), first[MIDDLE_X], least, most)
    low, high = _own_stretch(y, sorted((first[SHIFT_Y], last[SHIFT_Y])), first[MIDDLE_Y], least, most)
    return left, low, right, high


def _own_stretch(x: F64, far: list[float], middle: float, least: float, most: float) -> tuple[F64, F64]:
    with np.errstate(all="ignore"):
        ends = [x - far[1] - middle, x - far[0] - middle]
        found = [end / scale + middle for end in ends for scale in (least, most)]
        # Of large numbers that are nearly the same, little is left: as much as they were rounded by.
        slack = SLACK * (np.abs(x) + abs(far[0]) + abs(far[1]) + abs(middle)) / least
    return np.minimum.reduce(found) - slack, np.maximum.reduce(found) + slack
