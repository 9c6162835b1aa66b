"""The stream of the trigger benchmarks: buoys of the Pacific, repeated with shifted times and places."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from sanderling.kernels.trigger.solve import Events
from sanderling.plans.constraint_graph import Graph, between, complete, free, nearer

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "tao" / "tao_elnino.csv.gz"
DAY = 86_400_000_000
MEASURED = ("zon_winds", "mer_winds", "humidity", "air_temp", "sea_surface_temp")
VARIABLES = 3


class Stream(NamedTuple):
    """Readings in order of time. Each measurement by its rank among all, from 0 to 1; NaN: it is missing."""

    ts: I64
    x: F64
    y: F64
    ranks: F64  # by measurement and reading
    buoy: I64  # a buoy of each copy is one of its own


def stream(some: int) -> Stream:
    """At least so many readings: copies, each some hours and some tenths of a degree away."""
    table = csv.read_csv(DATA)
    days = pc.cast(pc.cast(table.column("date"), pa.timestamp("us")), pa.int64()).to_numpy()
    x, y = (table.column(c).to_numpy() for c in ("lon", "lat"))
    ranks = np.stack([_ranks(table.column(c).cast(pa.float64()).to_numpy()) for c in MEASURED])
    buoys = table.column("mooring_segment").to_numpy()
    copies = -(-some // len(days))
    rng = np.random.default_rng(5)
    ts = np.concatenate([days + n * DAY // copies for n in range(copies)])
    xs = np.concatenate([x + rng.normal(0, 0.5) for _ in range(copies)])
    ys = np.concatenate([y + rng.normal(0, 0.5) for _ in range(copies)])
    order = np.argsort(ts, kind="stable")
    buoy = np.concatenate([buoys * copies + n for n in range(copies)])
    return Stream(ts[order], xs[order], ys[order], np.tile(ranks, copies)[:, order], buoy[order])


def _ranks(values: F64) -> F64:
    is_there = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    order = np.argsort(values[is_there], kind="stable")
    ranks[np.flatnonzero(is_there)[order]] = np.arange(len(order)) / len(order)
    return ranks


class Wishes(NamedTuple):
    """Generated triggers: V1, V2 within `days` after it, V3 within `days` after that, near each other.

    A variable takes readings one of whose measurements is in a band, which is `wide` of all readings.
    """

    measured: I64  # by trigger and variable
    middle: F64
    wide: F64  # by trigger
    radius: F64
    days: float

    def graph(self) -> Graph:
        n = len(self.wide)
        graph = free([f"V{v + 1}" for v in range(VARIABLES)], n)
        for v in range(VARIABLES - 1):
            between(graph, v, v + 1, 0, int(self.days * DAY))
            nearer(graph, v, v + 1, self.radius, is_strict=True)
        return complete(graph)

    def some(self, chosen: I64 | slice) -> Wishes:
        return self._replace(
            measured=self.measured[chosen], middle=self.middle[chosen], wide=self.wide[chosen],
            radius=self.radius[chosen],
        )  # fmt: skip

    def bands(self) -> tuple[F64, F64]:
        """The least and the most rank, by trigger and variable."""
        wide = self.wide[:, None]
        low = (self.middle - wide / 2).clip(0, 1 - wide)
        return low, low + wide


MOST = 100


def wishes(triggers: int, days: float, measured: tuple[int, ...] | None = None) -> Wishes:
    """So many of a hundred; all variables of a number have the same measurement, or each its own."""
    rng = np.random.default_rng(7)
    any_of = rng.integers(0, len(MEASURED), (MOST, VARIABLES))
    middle, radius = rng.random((MOST, VARIABLES)), rng.uniform(0.5, 3.0, MOST)
    what = any_of if measured is None else np.tile(measured, (MOST, 1))
    return Wishes(what, middle, np.full(MOST, 0.02), radius, days).some(slice(triggers))


def judged(stream: Stream, wishes: Wishes) -> Events:
    """What shards do: the conditions of variables on all readings; what satisfies none goes no further."""
    events, masks = [], []
    low, high = wishes.bands()
    for t in range(len(wishes.wide)):
        is_of = np.zeros(len(stream.ts), np.uint64)
        for v in range(VARIABLES):
            rank = stream.ranks[wishes.measured[t, v]]
            is_in = (low[t, v] <= rank) & (rank <= high[t, v])
            is_of |= is_in.astype(np.uint64) << np.uint64(v)
        mine = np.flatnonzero(is_of)
        events.append(mine)
        masks.append(is_of[mine])
    n = len(stream.ts)
    return Events(
        np.arange(n), stream.ts, np.stack([stream.x, stream.y], axis=1), np.empty((n, 0), np.int64),
        np.zeros(n, np.int64), np.cumsum([0, *map(len, events)]), np.concatenate(events),
        np.concatenate(masks),
    )  # fmt: skip
