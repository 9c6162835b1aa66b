"""A coverage that changes by itself sweeps over the readings of a range: those in it as it is now.

readings that come and go ──┐
steps of the coverage     ──┴─► who is there, and in it as it is then ──► signed rows

The steps are known beforehand; at each of them all readings of the range are judged again.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.clock import NEVER, tick_end, tick_ends
from sanderling.operate.sql.rows.codes import Column, as_doubles
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.trajectory.turning import Turning, Turns
from sanderling.plans import nodes
from sanderling.space.geometry import Geometry
from sanderling.space.moving.pose import own_places
from sanderling.space.outlines.outline import motion_of
from sanderling.space.outlines.polygons import NO_POLYGONS
from sanderling.space.shapes.polygon import POLYGON, numbers

NOBODY = np.empty(0), np.empty(0)


class Swept(Turns):
    """Promises (tests/operate/test_swept.py): exact at every tick, however batches are cut, also where
    nothing comes; what is gone is freed. Cost: at each step all readings of the range.
    """

    def __init__(self, node: nodes.Swept):
        self.node = node

    def new_state(self, at: None) -> Turning:
        return Sweep(self.node)


class Sweep(Turning):
    """Readings of a range with their places, and the coverage."""

    def __init__(self, node: nodes.Swept):
        self.node = node
        (outline,) = node.outlines
        motion = motion_of(outline)
        assert motion is not None
        self.motion = motion
        self.polygons = NO_POLYGONS.of([outline])
        a, b, c, d = numbers([outline])
        self.written = Geometry(np.array([POLYGON], np.int8), a, b, c, d)
        super().__init__([t.arrow for t in node.types])

    def _begin(self) -> None:
        super()._begin()
        self._place = Grown(np.nan, np.float64, 2)

    def _learn(self, rows: I64, columns: list[Column]) -> None:
        at = self._place.up_to(len(self.numbered))
        for axis, column in enumerate(self.node.place):
            values, is_null = as_doubles(columns[column])
            at[rows, axis] = np.where(is_null, np.nan, values)

    def _turns(self, there: I64, first: int, last: int) -> tuple[I64, I64]:
        rows, ticks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        steps = [self._steps(every, first, last) for every in self._periods]
        x, y = self._place.up_to(len(self.numbered))[there].T
        was = self._hold(first - 1, x, y) if any(map(len, steps)) else None
        for tick in np.unique(np.concatenate([*steps, np.empty(0, np.int64)])).tolist():
            now = self._hold(tick, x, y)
            rows.append(there[now != was])
            ticks.append(np.full(len(rows[-1]), tick))
            was = now
        return np.concatenate(rows), np.concatenate(ticks)

    @property
    def _periods(self) -> list[int]:
        """How long steps take."""
        return [every for every in (self.motion.shift_us, self.motion.scale_us) if every]

    def _steps(self, every: int, first: int, last: int) -> I64:
        """The ticks in between, both of which count, at which steps of this length may be over."""
        begin, until, tick_us = self.motion.begin, self.motion.until, self.node.tick_us
        if every < tick_us:  # several in a tick
            low = tick_end(max(first, begin + every), tick_us)
            return np.arange(low, min(last, tick_end(until, tick_us)) + 1, tick_us)
        low = max(1, (first - begin) // every)
        ticks = tick_ends(begin + np.arange(low, (min(last, until) - begin) // every + 1) * every, tick_us)
        return ticks[(ticks >= first) & (ticks <= last)]

    def _are_in(self, row: I64, tick: I64) -> Bools:
        found = np.zeros(len(row), np.bool_)
        _, motions = self.polygons.poses.motions_of(np.array([0]))
        steps = np.column_stack([motions.shifts(tick), motions.scales(tick)])
        _, firsts, which = np.unique(steps, axis=0, return_index=True, return_inverse=True)
        x, y = self._place.up_to(len(self.numbered))[row].T
        for number, first in enumerate(firsts):
            some = np.flatnonzero(which.ravel() == number)
            found[some] = self._hold(int(tick[first]), x[some], y[some])
        return found

    def _hold(self, tick: int, x: F64, y: F64) -> Bools:
        """Whether the coverage holds places as it is at a tick."""
        now = self.polygons.poses.at(self.written, np.array([0]), np.array([-1]), NOBODY, tick)
        with np.errstate(invalid="ignore"):
            holds = np.asarray((now.a[0] <= x) & (x <= now.c[0]) & (now.b[0] <= y) & (y <= now.d[0]))
        near = np.flatnonzero(holds)
        region = np.zeros(len(near), np.int64)
        holds[near] = self.polygons.hold(region, *own_places(now.pose, region, x[near], y[near]))
        return holds

    def look_ahead(self) -> None:
        self.next_due = NEVER
        if not len(self.alive):
            return
        for every in self._periods:
            far = max(self.walked_to, self.motion.begin) + every + 2 * self.node.tick_us
            self.next_due = int(self._steps(every, self.walked_to + 1, far).min(initial=self.next_due))
