"""How large regions are. Beside geometry.py, which plans know, and which has nothing to compile."""

from __future__ import annotations

from typing import Any

import numpy as np

from sanderling.arrays import F64, I8
from sanderling.kernels.jit import jit
from sanderling.space.coverages import reach_of, size_of
from sanderling.space.metric import box_around, chord_within, map_reach, vector_of
from sanderling.space.shapes.cap import CAP
from sanderling.space.sphere import RADIUS


@jit
def sizes(g: Any) -> F64:
    """How large the regions are; infinite where there is no end, NaN of one that is nowhere."""
    found = np.empty(len(g.kind))
    for i in range(len(found)):
        size = size_of(g.kind[i], g.a[i], g.b[i], g.c[i], g.d[i])
        found[i] = size if g.a[i] == g.a[i] else np.nan
    return found


@jit
def map_reaches(g: Any) -> F64:
    """How far regions that follow on the globe go on the flat map, along either axis, wherever they are."""
    found = np.empty(len(g.kind))
    for i in range(len(found)):
        # Along the parallel of its middle, then up or down: nothing in a rectangle is farther.
        square = g.d[i] if g.kind[i] == CAP else chord_within((g.c[i] + g.d[i]) * (1 + 1e-9) + 1e-3)
        found[i] = map_reach(square)
    return found


@jit
def map_boxes(g: Any) -> F64:
    """Boxes of the flat map around them, a line each; NaN of what is nowhere."""
    found, reach = np.full((len(g.kind), 4), np.nan), map_reaches(g)
    for i in range(len(found)):
        if g.a[i] != g.a[i]:
            continue
        x, y, z = (g.a[i], g.b[i], g.c[i]) if g.kind[i] == CAP else vector_of(g.a[i], g.b[i])
        scale = RADIUS / (abs(x) + abs(y) + abs(z))
        box = box_around(x * scale, y * scale, reach[i], reach[i])
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = box
    return found


@jit
def reaches(kind: I8, c: F64, d: F64) -> tuple[F64, F64]:
    """How far regions go from their focal objects, along either axis."""
    w, h = np.empty(len(kind)), np.empty(len(kind))
    for i in range(len(kind)):
        w[i], h[i] = reach_of(kind[i], c[i], d[i])
    return w, h
