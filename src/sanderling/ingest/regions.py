"""The geometry of a feature as a region: an area without doubt about what is inside."""

from __future__ import annotations

import json
import math

import shapely

from sanderling.errors import QueryError
from sanderling.ingest.formats.geojson import Feature
from sanderling.space.outlines.outline import corridor
from sanderling.types import LARGEST

AREAS = ("Polygon", "MultiPolygon")
# Regions where it is said how far around them one is within.
THIN = ("LineString", "Point")


def region_of(
    feature: Feature, within: float | None = None, repairs: bool = False
) -> tuple[bytes, str | None]:
    """The feature's area as an outline, always of a valid geometry; corridors around lines and points.

    And what had to be mended, where that is asked for.
    """
    geometry = feature.geometry
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in (AREAS if within is None else (*AREAS, *THIN)):
        found = "no geometry" if geometry is None else f"the geometry {json.dumps(kind)}"
        hint = "a region is a Polygon or a MultiPolygon"
        if kind in THIN:
            hint += "; WITH (within = 5) makes corridors of lines, and circles of points"
        raise QueryError("query.bad_geometry", f"{feature} has {found}", hint)
    try:
        area = shapely.force_2d(shapely.from_geojson(json.dumps(geometry, allow_nan=False)))
    except ValueError as error:
        raise QueryError(
            "query.bad_geometry", f"{feature} has a coordinate that is not finite", _limit()
        ) from error
    except shapely.errors.GEOSException as error:
        raise QueryError("query.bad_geometry", f"{feature} has a broken geometry: {error}") from error
    if area.is_empty:
        raise QueryError("query.bad_geometry", f"{feature} has an empty geometry")
    if max(map(abs, area.bounds)) > LARGEST:
        raise QueryError("query.not_finite", f"{feature} has a coordinate that is too large", _limit())
    if kind in THIN and within is not None:
        return corridor(shapely.get_coordinates(area).tolist(), within), None
    valid, mended = _valid(area, feature, repairs)
    return bytes(shapely.to_wkb(valid)), mended


def _limit() -> str:
    return f"coordinates go up to {LARGEST:g}"


def _valid(area: shapely.Geometry, feature: Feature, repairs: bool) -> tuple[shapely.Geometry, str | None]:
    if shapely.is_valid(area):
        return area, None
    reason = shapely.is_valid_reason(area)
    mended = shapely.make_valid(area)
    # A border that touches itself is often drawn as one ring, though the standard asks for two: the same
    # points are inside. One that crosses itself leaves open what is inside, and only its author can say.
    if reason.startswith("Ring Self-intersection") and _is_same_area(area, mended):
        return mended, None
    if repairs:
        # What is left of it may have lines and points beside its areas.
        parts = [part for part in shapely.get_parts(mended) if part.geom_type in AREAS]
        areas = shapely.union_all(parts)
        if not areas.is_empty:
            return areas, f"{feature}, {reason}"
    raise QueryError(
        "query.invalid_geometry",
        f"{feature} has an invalid geometry: {reason}",
        "a border must not cross itself; repair = true takes what it encloses an odd number of times",
    )


def _is_same_area(area: shapely.Geometry, mended: shapely.Geometry) -> bool:
    return mended.geom_type in AREAS and math.isclose(area.area, mended.area, rel_tol=1e-12)
