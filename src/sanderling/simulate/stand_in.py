"""A small city: ring roads and avenues, cars, buses and bikes that keep to them.

Where an object is at a time is a pure function of the seed, so any part of the stream can be made
again, in any order, by any worker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

F64 = npt.NDArray[np.float64]

KINDS = ("car", "bus", "bike")
# Top speeds in metres a second, and how many of ten objects are of the kind.
TOP_SPEED_MPS = (14.0, 9.0, 5.0)
SHARE = (0.6, 0.1, 0.3)

RINGS = 6
AVENUES = 12
CITY_RADIUS_M = 5_000.0


@dataclass(frozen=True, slots=True)
class City:
    """`objects` things that move on the roads of one seed; places in metres around the centre."""

    objects: int
    seed: int = 7

    def schema(self) -> pa.Schema:
        return pa.schema(
            [("id", pa.string()), ("ts", pa.timestamp("us")), ("x", pa.float64()), ("y", pa.float64()),
             ("speed", pa.float64()), ("type", pa.string())]
        )  # fmt: skip

    def readings(self, second: int) -> pa.Table:
        """What every object reports at one second since the epoch."""
        rng = np.random.default_rng(self.seed)
        n = self.objects
        kind = rng.choice(len(KINDS), n, p=SHARE)
        pace = np.array(TOP_SPEED_MPS)[kind] * rng.uniform(0.5, 1.0, n)
        start = rng.random(n)
        is_on_ring = rng.random(n) < 0.5
        road = np.where(is_on_ring, rng.integers(1, RINGS + 1, n), rng.integers(0, AVENUES, n))
        turn = rng.choice((-1.0, 1.0), n)
        ring_x, ring_y, ring_speed = _on_ring(road, start, pace * turn, second)
        way_x, way_y, way_speed = _on_avenue(road, start, pace, second)
        columns = [
            pa.array(np.char.add(np.array(KINDS)[kind], _numbers(kind).astype(str))),
            pa.array(np.full(n, second * 1_000_000), pa.timestamp("us")),
            pa.array(np.where(is_on_ring, ring_x, way_x)),
            pa.array(np.where(is_on_ring, ring_y, way_y)),
            pa.array(np.where(is_on_ring, ring_speed, way_speed)),
            pa.array(np.array(KINDS)[kind]),
        ]
        return pa.Table.from_arrays(columns, schema=self.schema())


def _numbers(kind: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Each object's number among its kind, from 0."""
    numbers = np.empty(len(kind), np.int64)
    for k in range(len(KINDS)):
        numbers[kind == k] = np.arange(int((kind == k).sum()))
    return numbers


def _on_ring(ring: npt.NDArray[np.int64], start: F64, pace: F64, second: int) -> tuple[F64, F64, F64]:
    """Round and round."""
    radius = ring * CITY_RADIUS_M / RINGS
    angle = 2 * np.pi * start + pace * second / np.maximum(radius, 1.0)
    return radius * np.cos(angle), radius * np.sin(angle), np.abs(pace)


def _on_avenue(avenue: npt.NDArray[np.int64], start: F64, pace: F64, second: int) -> tuple[F64, F64, F64]:
    """From the centre to the edge and back, slower in the centre, where everybody is."""
    phase = (start + pace * second / (2 * CITY_RADIUS_M)) % 1.0
    out = 1 - np.abs(2 * phase - 1)
    angle = 2 * np.pi * avenue / AVENUES
    radius = CITY_RADIUS_M * out
    return radius * np.cos(angle), radius * np.sin(angle), pace * (0.4 + 0.6 * out)
