"""How regions change by themselves: a coverage that drifts, grows or shrinks, step by step.

SHIFT BY (dx, dy, dt)   at each step farther by (dx, dy)
SCALE BY (g, dt)        at step n 1 + n·g times as large as written, about its middle; nowhere from 0 on

A region of which this is said is judged in its own coordinates: a place is taken back to where it would be
as the coverage was written. So one rule is good for all coverages, and for exteriors alike. Steps are
counted from a time that its author gives: where it is follows from the tick alone.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64

FOREVER = 2**62
FORMAT = struct.Struct("<4q5d")


class Motion(NamedTuple):
    """Times in microseconds; of what does not shift, or scale, `shift_us` or `scale_us` is 0."""

    begin: int
    until: int = FOREVER
    shift_us: int = 0
    scale_us: int = 0
    dx: float = 0.0
    dy: float = 0.0
    growth: float = 0.0
    x: float = 0.0  # the middle, which stays where it is when sizes change
    y: float = 0.0

    def packed(self) -> bytes:
        return FORMAT.pack(*self)

    @classmethod
    def unpacked(cls, packed: bytes) -> Motion:
        return cls(*FORMAT.unpack(packed))


class Motions(NamedTuple):
    """Several, as columns."""

    begin: I64
    until: I64
    shift_us: I64
    scale_us: I64
    dx: F64
    dy: F64
    growth: F64
    x: F64
    y: F64

    @classmethod
    def of(cls, motions: list[Motion]) -> Motions:
        times = np.array([motion[:4] for motion in motions], np.int64).reshape(-1, 4)
        numbers = np.array([motion[4:] for motion in motions], np.float64).reshape(-1, 5)
        return cls._make([*times.T, *numbers.T])

    def take(self, which: I64) -> Motions:
        return Motions._make(column[which] for column in self)

    def shifts(self, tick: int | I64) -> I64:
        """How many steps each has shifted at a tick."""
        return steps(self.begin, self.until, self.shift_us, tick)

    def scales(self, tick: int | I64) -> I64:
        return steps(self.begin, self.until, self.scale_us, tick)

    def shifted(self, tick: int) -> tuple[F64, F64]:
        """How far each has come: a product, so that nothing adds up that was rounded."""
        n = self.shifts(tick)
        with np.errstate(over="ignore"):
            return n * self.dx, n * self.dy

    def scaled(self, tick: int) -> F64:
        """How many times as large each is."""
        with np.errstate(over="ignore"):
            return np.asarray(1 + self.scales(tick) * self.growth)


def steps(begin: I64, until: I64, every: I64, tick: int | I64) -> I64:
    """How many steps of this length are over at a tick; none of what takes none."""
    since = np.maximum(np.minimum(tick, until), begin) - begin
    return np.asarray(np.where(every > 0, since // np.maximum(every, 1), 0))
