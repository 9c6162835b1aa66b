"""What scans ask that differs from query to query, as columns: where, and nearest to what."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from sanderling.catalog import Stream
from sanderling.language.statements import NearestTarget, focal_of
from sanderling.plan.build.areas import Areas, area_of
from sanderling.plan.build.nearest import Neighbours, neighbours_of
from sanderling.plan.query.relations import Shape


@dataclass(frozen=True, slots=True)
class Written:
    """As its author wrote it, which says where each number stands."""

    shape: Shape
    nearest: NearestTarget | None
    is_globe: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """By region; where queries join no table, that is by query. `written` is of one query by itself."""

    areas: Areas
    focals: pa.Array | None
    nearest: Neighbours | None
    written: Written | None = None

    def of(self, row: int) -> Asked:
        """One of them."""
        focals = None if self.focals is None else self.focals.slice(row, 1)
        return Asked(self.areas.of(row), focals, self.nearest and self.nearest.of(row))


def asked_of(shape: Shape, nearest: NearestTarget | None, stream: Stream) -> Asked:
    """What one query asks of a stream."""
    key = stream.key_type.arrow
    focal = focal_of(shape)
    focals = None if focal is None else pa.array([focal.value], key)
    found = None if nearest is None else neighbours_of(nearest, key)
    written = Written(shape, nearest, stream.is_globe)
    return Asked(area_of(shape, stream.is_globe), focals, found, written)
