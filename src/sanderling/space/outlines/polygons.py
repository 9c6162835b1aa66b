"""The outlines of many regions, ready for many tests: by rasters and lines, and near borders by GEOS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import shapely

from sanderling.arrays import F64, I64, Bools, is_worth_compacting
from sanderling.space.moving.pose import NO_POSES, Poses
from sanderling.space.outlines.outline import OUTER_AREA, law_of, numbers_of, still_of, wkb_of
from sanderling.space.outlines.raster import (
    BORDER,
    FIRST,
    INSIDE,
    LAST,
    LAW,
    NO_RASTERS,
    Corners,
    Rasters,
    blank,
    rastered,
    sides_of,
    together,
)
from sanderling.space.shapes.polygon import holds_exactly

Shapes = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Polygons:
    """Shapes with their rasters; regions that have the same shape share it.

    Promises (tests/space/test_polygons.py):
      exact   with rasters or without: what GEOS says
      room    a raster takes 16 bytes a corner, but at least 256 bytes a shape and at most 16 kB
      cost    a shape gets its raster once, however many versions of a plan it lives in
    """

    shapes: Shapes
    rasters: Rasters
    number: dict[bytes, int]  # of shapes
    poses: Poses = NO_POSES  # where they are, by region

    def __len__(self) -> int:
        return len(self.shapes)

    def hold(self, region: I64, x: F64, y: F64) -> Bools:
        """By pair of a region and a place within its bounds, whether the one holds the other."""
        found = sides_of(self.rasters, region, x, y)
        holds, near = found == INSIDE, np.flatnonzero(found == BORDER)
        shape = self.rasters.shape[region[near]]
        is_outer = self.rasters.grid[shape, LAW] == OUTER_AREA
        holds[near] = holds_exactly(self.shapes[shape], is_outer, x[near], y[near])
        return np.asarray(holds)

    def rasters_of(self, regions: I64) -> Rasters:
        """Of some of the regions."""
        return self.rasters._replace(shape=self.rasters.shape[regions]) if len(self) else NO_RASTERS

    def of(
        self, outlines: Sequence[bytes | None], follows: Bools | None = None, is_globe: bool = False
    ) -> Polygons:
        """The outlines of other regions; shapes that are known are not made again.

        Some of the regions may follow focal objects.
        """
        follows = np.zeros(len(outlines), np.bool_) if follows is None else follows
        poses = Poses.of(outlines, follows, is_globe)
        wkb = [None if outline is None else still_of(outline) for outline in outlines]
        asked = dict.fromkeys(shape for shape in wkb if shape is not None)
        if not asked:
            return replace(NO_POLYGONS, poses=poses)
        known = NO_POLYGONS if is_worth_compacting(len(self), len(asked)) else self
        new = [shape for shape in asked if shape not in known.number]
        areas = np.array([wkb_of(outline) for outline in new], dtype=object)
        shapes = np.asarray(shapely.from_wkb(areas), dtype=object)
        shapely.prepare(shapes)
        number = known.number | {shape: len(known) + i for i, shape in enumerate(new)}
        shape_of = np.array([-1 if shape is None else number[shape] for shape in wkb], np.int32)
        rasters = together(known.rasters, _rastered(new, shapes), shape_of)
        return Polygons(np.concatenate([known.shapes, shapes]), rasters, number, poses)

    def without_rasters(self) -> Polygons:
        """The reference twin: every place within the bounds is judged by GEOS."""
        return replace(self, rasters=blank(self.rasters))


NO_POLYGONS = Polygons(np.empty(0, dtype=object), NO_RASTERS, {})


def _rastered(outlines: Sequence[bytes], shapes: Shapes) -> Rasters:
    """Of polygons, and of their exteriors, rasters; of others their numbers."""
    if not outlines:
        return NO_RASTERS
    law = np.array([law_of(outline) for outline in outlines])
    areas, lines = np.flatnonzero(law <= OUTER_AREA), np.flatnonzero(law > OUTER_AREA)
    grid, rasters = np.zeros((len(outlines), 8)), _of_areas(shapes[areas])
    grid[areas] = rasters.grid
    grid[:, LAW] = law
    numbers = [numbers_of(outlines[i]) for i in lines.tolist()]
    grid[lines, LAST] = ends = np.cumsum([len(own) for own in numbers])
    grid[lines, FIRST] = ends - [len(own) for own in numbers]
    return rasters._replace(grid=grid, numbers=np.concatenate([np.empty(0), *numbers]))


def _of_areas(shapes: Shapes) -> Rasters:
    if not len(shapes):
        return NO_RASTERS
    _, xy, offsets = shapely.to_ragged_array(shapes, include_z=False)
    corner, ring, *multi = (np.asarray(o, np.int64) for o in offsets)
    return rastered(shapely.bounds(shapes), Corners(ring[multi[0]] if multi else ring, corner, xy))
