"""('M', id, xdist, ydist) on the globe: so many metres along the parallel of its middle, and so many to north
and south. Borders belong.

Numbers: longitude and latitude of the middle, half the length in metres along the parallel, half the width.
Of one that follows, the plan has the middle 0, 0: see motion.py.
"""

from __future__ import annotations

import math

from sanderling.kernels.jit import jit_bare
from sanderling.space.metric import Box, degrees_around, is_beside_on_globe
from sanderling.space.shapes.centred import numbers as numbers
from sanderling.space.sphere import DEGREE, METRES_A_DEGREE, POLE

OBLONG = 6
WORD = "rectangle on the globe"


@jit_bare
def holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    return is_beside_on_globe(x, y, a, b, c, d)


@jit_bare
def bounds(a: float, b: float, c: float, d: float) -> Box:
    """All longitudes where the parallel is short enough, as it is at a pole."""
    across = math.cos(b * DEGREE) * METRES_A_DEGREE * (1 - 1e-9)
    along = c / across if across > 0 and abs(b) < POLE else math.inf
    return degrees_around(a, b, along, d / METRES_A_DEGREE)


@jit_bare
def size(a: float, b: float, c: float, d: float) -> float:
    """The longer side, in degrees of latitude."""
    return 2 * max(c, d) / METRES_A_DEGREE


def plain_holds(a: float, b: float, c: float, d: float, x: float, y: float) -> bool:
    """The reference twin of `holds`."""
    turn = min(abs(x - a), 360 - abs(x - a))
    return abs(y - b) * METRES_A_DEGREE <= d and turn * METRES_A_DEGREE * math.cos(b * DEGREE) <= c
