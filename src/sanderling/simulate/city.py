"""A town made on the spot: ring roads, avenues, side streets, parks and a river with few bridges.

Around the centre lie rings of junctions. Further out there is room for more of them: whenever the
blocks get twice as wide as they should be, a ring has twice the junctions of the one inside it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I64
from sanderling.simulate.network import Network

RADIUS_M = 5_000.0
AVENUES = 12
PARKS = 9
# A block is this wide in the centre and at the edge of the town.
BLOCK_M = (70.0, 160.0)

MOTORWAY, AVENUE, RING_ROAD, MAIN_STREET, STREET, SIDE_STREET, LANE = range(7)
# Where ring roads are, as parts of the radius; the outermost is a motorway.
RING_ROADS = (0.22, 0.48, 0.76)
# How many of the side streets were never built.
UNBUILT = 0.22


def make_city(seed: int, radius_m: float = RADIUS_M) -> Network:
    """The town of a seed, in metres around its centre; every junction can be reached from every other."""
    rng = np.random.default_rng([seed, 1])
    radii = _radii(radius_m)
    counts = _junctions(radii)
    ring = np.repeat(np.arange(len(radii)), counts)
    place = np.arange(len(ring)) - np.repeat(np.cumsum(counts) - counts, counts)
    x, y = _bent(radii[ring], 2 * np.pi * place / counts[ring], radius_m, rng)
    a, b, edge_class = _roads(ring, place, counts, radii / radius_m)
    is_built = rng.random(len(a)) > np.where(edge_class >= SIDE_STREET, UNBUILT, 0.0)
    is_built &= ~_in_park(x, y, a, b, edge_class, radius_m, rng)
    is_built &= ~_over_river(x, y, a, b, edge_class, radius_m, rng)
    length_m = np.hypot(x[a] - x[b], y[a] - y[b])
    whole = Network(x, y, a, b, edge_class, length_m)
    return whole.part(np.ones(len(x), np.bool_), is_built).largest_part()


def _radii(radius_m: float) -> F64:
    radii = [BLOCK_M[0]]
    while radii[-1] < radius_m:
        radii.append(radii[-1] + np.interp(radii[-1] / radius_m, (0, 1), BLOCK_M))
    return np.array(radii)


def _junctions(radii: F64) -> I64:
    """How many lie on each ring: as many as on the one inside it, or twice as many."""
    wide_m = 2 * np.pi * radii / AVENUES / np.interp(radii / radii[-1], (0, 1), BLOCK_M)
    doublings = np.maximum(np.floor(np.log2(wide_m * 1.2)), 0)
    return np.asarray(AVENUES * 2**doublings, np.int64)


def _bent(radius: F64, angle: F64, radius_m: float, rng: np.random.Generator) -> tuple[F64, F64]:
    """Places on rings, bent by slow waves and a little chance: nobody draws a town with compasses."""
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    bent = []
    for along, across in ((x, y), (y, x)):
        moved = along + rng.normal(0, 9.0, len(along))
        for waves in (1.3, 2.9):
            phase = rng.uniform(0, 2 * np.pi, 2)
            moved += radius_m * 0.05 / waves * np.sin(waves * np.pi * across / radius_m + phase[0])
            moved += radius_m * 0.03 / waves * np.sin(waves * np.pi * along / radius_m + phase[1])
        bent.append(moved)
    return bent[0], bent[1]


def _roads(ring: I64, place: I64, counts: I64, part: F64) -> tuple[I64, I64, I64]:
    """Along each ring and outwards from it: the junctions at both ends, and the class."""
    first = np.cumsum(counts) - counts
    along = first[ring] + (place + 1) % counts[ring]
    nodes = np.arange(len(ring))
    is_ring_road = np.isin(np.arange(len(part)), np.abs(part[:, None] - RING_ROADS).argmin(axis=0))
    ring_class = np.where(
        is_ring_road, RING_ROAD, np.where(np.arange(len(part)) % 5 == 0, STREET, SIDE_STREET)
    )
    ring_class[np.flatnonzero(is_ring_road)[-1]] = MOTORWAY
    ring_class[part < RING_ROADS[0] / 2] = LANE
    inner = nodes[ring < len(counts) - 1]
    outer_ring = ring[inner] + 1
    outer = first[outer_ring] + place[inner] * (counts[outer_ring] // counts[ring[inner]])
    way = place[inner] * AVENUES / counts[ring[inner]]
    half = np.where(way * 2 % 1 == 0, MAIN_STREET, SIDE_STREET)
    out_class = np.where(way % 1 == 0, AVENUE, half)
    # No way through the very middle is fast: who only passes takes a ring road.
    out_class[part[ring[inner]] < RING_ROADS[0] / 2] = LANE
    return np.r_[nodes, inner], np.r_[along, outer], np.r_[ring_class[ring], out_class]


def _in_park(
    x: F64, y: F64, a: I64, b: I64, edge_class: I64, radius_m: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Roads through a park, but for the large ones."""
    angle, far = rng.uniform(0, 2 * np.pi, PARKS), np.sqrt(rng.uniform(0.02, 0.9, PARKS)) * radius_m
    wide_m = rng.uniform(0.03, 0.075, PARKS) * radius_m
    middle_x, middle_y = (x[a] + x[b]) / 2, (y[a] + y[b]) / 2
    away_m = np.hypot(middle_x[:, None] - far * np.cos(angle), middle_y[:, None] - far * np.sin(angle))
    return np.asarray((away_m < wide_m).any(axis=1) & (edge_class > RING_ROAD))


def _over_river(
    x: F64, y: F64, a: I64, b: I64, edge_class: I64, radius_m: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Roads that would need a bridge, but for the large ones."""
    phase, turn = rng.uniform(0, 2 * np.pi), rng.uniform(0, np.pi)
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    bank = across > radius_m * (0.2 + 0.1 * np.sin(3 * along / radius_m + phase))
    return np.asarray((bank[a] != bank[b]) & (edge_class > RING_ROAD))
