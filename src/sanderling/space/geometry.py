"""Regions as columns, for kernels: kind, and four numbers that the file of the coverage explains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I8

NO_POSE = np.empty((0, 6))


class Geometry(NamedTuple):
    """Regions by row. One that is nowhere at the moment has NaN for its first numbers.

    Where outlines are not as they are written, `pose` has a line for each region (pose.py); else none.
    """

    kind: I8
    a: F64
    b: F64
    c: F64
    d: F64
    pose: F64 = NO_POSE
