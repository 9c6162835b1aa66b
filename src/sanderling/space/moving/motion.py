"""Where regions are: still, where the plan says, or with their focal objects.

still    as written
focal    the first two numbers are where its focal object is, by the last reading of a tick; NaN: nowhere.
         Of a circle on the globe the first three, as a vector
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.space.geometry import Geometry

# Of focal objects by number, x and y; NaN where one is absent.
Places = tuple[F64, F64]


def placed(written: Geometry, focal: I64, places: Places) -> Geometry:
    """Regions as they are while their focal objects are at these places; the focal object -1 is none."""
    moving = np.flatnonzero(focal >= 0)
    if not len(moving):
        return written
    from sanderling.space.shapes.cap import CAP, middle_of  # kernels, which who only has a plan does not need

    a, b = written.a.copy(), written.b.copy()
    for middle, place in zip((a, b), places, strict=True):
        middle[moving] = place[focal[moving]]
    caps = moving[written.kind[moving] == CAP]
    if not len(caps):
        return written._replace(a=a, b=b)
    c = written.c.copy()
    a[caps], b[caps], c[caps] = middle_of(*(place[focal[caps]] for place in places))
    return written._replace(a=a, b=b, c=c)


def hidden(geometry: Geometry, is_hidden: Bools) -> Geometry:
    """The same regions, some of them nowhere."""
    a, b = (np.where(is_hidden, np.nan, middle) for middle in (geometry.a, geometry.b))
    return geometry._replace(a=a, b=b)
