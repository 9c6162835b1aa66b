"""(c) The kernel alone against an STRtree rebuilt, queried and diffed at every tick."""

from __future__ import annotations

import time

import numpy as np
import shapely

from benchmarks.report import report
from benchmarks.worlds import random_boxes
from sanderling.kernels.inside.cross import IS, Moves, Rules, cross
from sanderling.kernels.inside.grid import build_grid
from sanderling.space.geometry import Geometry

REASON = "who entered and left which region, at each tick"


def run(
    objects: int = 100_000, queries: int = 10_000, side: float = 0.01, ticks: int = 5
) -> dict[str, float]:
    rng = np.random.default_rng(3)
    boxes = random_boxes(queries, side)
    geometry = Geometry(np.zeros(queries, np.int8), *(np.ascontiguousarray(boxes[:, i]) for i in range(4)))
    rules = Rules(np.zeros(queries, np.uint64), np.zeros(queries, np.int64), np.full(queries, -1))
    grid = build_grid(geometry)
    shapes = shapely.box(*boxes.T)
    x, y = rng.random(objects), rng.random(objects)
    holds = np.ones((1, objects), np.bool_)
    ids, nothing = np.arange(objects), np.zeros(objects, np.uint64)
    cross(Moves(ids, x, y, x, y, nothing, holds, holds), rules, geometry, grid, geometry, grid)  # compile
    before = _tree_pairs(shapes, x, y)
    ours, theirs = [], []
    for _ in range(ticks):
        new_x, new_y = x + rng.normal(0, 0.002, objects), y + rng.normal(0, 0.002, objects)
        started = time.process_time()
        move, region, state = cross(
            Moves(ids, x, y, new_x, new_y, nothing, holds, holds), rules, geometry, grid, geometry, grid
        )
        ours.append(time.process_time() - started)
        started = time.process_time()
        after = _tree_pairs(shapes, new_x, new_y)
        came, went = np.setdiff1d(after, before, True), np.setdiff1d(before, after, True)
        theirs.append(time.process_time() - started)
        pairs = move.astype(np.int64) * queries + region
        assert (np.sort(pairs[state == IS]) == came).all() and (np.sort(pairs[state != IS]) == went).all()
        x, y, before = new_x, new_y, after
    kernel, tree = float(np.median(ours)), float(np.median(theirs))
    rows = [
        {"way": "grid join kernel", "seconds a tick": kernel},
        {"way": "STRtree rebuilt, queried, diffed", "seconds a tick": tree},
    ]
    facts = {"objects": objects, "queries": queries, "times faster than STRtree": tree / kernel}
    report("range_kernel", REASON, rows, facts)
    return {"ratio": tree / kernel}


def _tree_pairs(shapes: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Every pair of a point and a box that holds it, as one sorted number a pair."""
    tree = shapely.STRtree(shapes)
    points, found = tree.query(shapely.points(x, y), predicate="intersects")
    return np.sort(points * len(shapes) + found)
