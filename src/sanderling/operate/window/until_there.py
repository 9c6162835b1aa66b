"""WINDOW UNTIL a condition that asks whether places are in regions, in a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.inside.held import held
from sanderling.operate.window.until import UntilHolder
from sanderling.plans.window import There, UntilThere
from sanderling.space.geometry import Geometry
from sanderling.space.outlines.polygons import NO_POLYGONS

if TYPE_CHECKING:
    from sanderling.operate.window.history import History


class UntilThereHolder(UntilHolder):
    """As UNTIL; whether a place is in a region is a column that is computed when it is asked for."""

    def __init__(self, window: UntilThere, history: History, leave: I64 | None):
        self.areas = {there.column: Area(there) for there in window.there}
        super().__init__(window, history, leave)

    def _column(self, name: str, rows: I64) -> pa.ChunkedArray | pa.Array:
        area = self.areas.get(name)
        if area is None:
            return super()._column(name, rows)
        return pa.array(area.holds(self.history.x[rows], self.history.y[rows]))


class Area:
    """A region that stands still, for many places."""

    def __init__(self, there: There):
        a, b, c, d = (np.array([number], np.float64) for number in there.numbers)
        self.geometry = Geometry(np.array([there.kind], np.int8), a, b, c, d)
        self.polygons = NO_POLYGONS.of(there.wkb)

    def holds(self, x: F64, y: F64) -> Bools:
        region = np.zeros(len(x), np.int64)
        found = held(self.geometry, region, x, y)
        if len(self.polygons):
            near = np.flatnonzero(found)
            found[near] = self.polygons.hold(region[near], x[near], y[near])
        return np.asarray(found)
