"""Regions as columns, for kernels: kind, and four numbers that the file of the coverage explains."""

from __future__ import annotations

from typing import NamedTuple

from sanderling.arrays import F64, I8


class Geometry(NamedTuple):
    """Regions by row. One that is nowhere at the moment has NaN for its first numbers."""

    kind: I8
    a: F64
    b: F64
    c: F64
    d: F64
