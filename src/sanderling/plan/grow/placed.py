"""Rows of tables on the globe: their places and regions, looked at and taken as they are meant there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import float64_of
from sanderling.errors import QueryError
from sanderling.space.outlines.globe import fault_of, fault_of_place, on_globe


def placed_rows(
    rows: pa.Table, region: str | None, place: tuple[str, str] | None, is_globe: bool
) -> pa.Table:
    """The same rows with regions of the globe; one that has no place there is refused."""
    if not is_globe:
        return rows
    if place is not None:
        _refuse_off(rows, place)
    if region is None:
        return rows
    outlines = rows.column(region).to_pylist()
    for number, outline in enumerate(outlines, 1):
        if (fault := fault_of(outline)) is not None:
            code, message, hint = fault
            raise QueryError(code, f"row {number}: {message}", hint)
    found = pa.array([on_globe(outline) for outline in outlines], pa.binary())
    return rows.set_column(rows.column_names.index(region), region, found)


def _refuse_off(rows: pa.Table, place: tuple[str, str]) -> None:
    lon, lat = (float64_of(rows, name) for name in place)
    for number in np.flatnonzero((np.abs(lon) > 180) | (np.abs(lat) > 90)):
        fault = fault_of_place(float(lon[number]), float(lat[number]))
        assert fault is not None
        code, message, hint = fault
        raise QueryError(code, f"row {number + 1}: {message}", hint)
