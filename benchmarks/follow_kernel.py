"""Moving squares over moving objects: the kernel against an STRtree rebuilt, queried and diffed."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
import shapely

from benchmarks import pictures
from benchmarks.report import report
from sanderling.kernels.inside.cross import IS, WAS, Moves
from sanderling.kernels.inside.follow import FocalMoves, Followers, Meetings, Stage, follow
from sanderling.kernels.nearest.cells import no_cells, put_all
from sanderling.operate.inside.moving import OBJECT_CELL, REGION_CELL
from sanderling.space.shapes.centred import CENTRED

REASON = "squares around every object, over all objects: who entered and left, at each tick"

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


class Squares:
    """A square around each object, followed by the kernel."""

    def __init__(self, places: F64, side: float):
        n = len(places)
        cells = [no_cells(np.array([c * side]), np.zeros(n, np.int32)) for c in (REGION_CELL, OBJECT_CELL)]
        for each in cells:
            put_all(each, np.arange(n), places)
        self.places = places
        self.followers = Followers(
            np.arange(n + 1), np.arange(n), np.full(n, CENTRED, np.int8), np.zeros(n, np.int32),
            np.zeros(n, np.uint64), np.array([side / 2]), np.array([side / 2]),
        )  # fmt: skip
        aside = np.column_stack([places, np.full((n, 2), side / 2)])
        holds = np.ones((1, n), np.bool_)
        self.stage = Stage(cells[0], aside, cells[1], np.arange(n), np.arange(n), holds, np.array([n]))
        self.tick = 0

    def move(self, who: I64, new: F64) -> Meetings:
        self.tick += 1
        ticks, holds = np.full(len(who), self.tick), np.ones((1, len(who)), np.bool_)
        (x, y), (new_x, new_y) = self.places[who].T.copy(), new.T.copy()
        moves = Moves(who, x, y, new_x, new_y, np.zeros(len(who), np.uint64), holds, holds)
        found = follow(self.followers, self.stage, ticks, moves, who, FocalMoves(ticks, who, new_x, new_y))
        self.places = self.places.copy()
        self.places[who] = new
        return found


def tree_pairs(places: F64, side: float) -> I64:
    """Every pair of an object and a square of another that holds it, as one sorted number a pair."""
    x, y = places.T
    h = side / 2
    tree = shapely.STRtree(shapely.box(x - h, y - h, x + h, y + h))
    points, squares = tree.query(shapely.points(x, y), predicate="intersects")
    others = points != squares
    return np.sort(points[others] * len(places) + squares[others])


def run(
    objects: int = 100_000, side: float = 0.01, step: float = 0.0005, ticks: int = 7,
    shares: tuple[float, ...] = (1.0, 0.1, 0.01),
) -> dict[str, float]:  # fmt: skip
    rows, facts = [], {"objects": objects, "squares": objects, "side": side, "step": step}
    ratios = {}
    for share in shares:
        rng = np.random.default_rng(3)
        squares = Squares(rng.random((objects, 2)), side)
        before = tree_pairs(squares.places, side)
        squares.move(np.arange(1), squares.places[:1])  # compile
        ours, theirs, updates = [], [], 0
        for _ in range(ticks):
            who = np.sort(rng.choice(objects, max(1, int(share * objects)), replace=False))
            new = squares.places[who] + rng.normal(0, step, (len(who), 2))
            started = time.process_time()
            found = squares.move(who, new)
            ours.append(time.process_time() - started)
            started = time.process_time()
            after = tree_pairs(squares.places, side)
            came, went = np.setdiff1d(after, before, True), np.setdiff1d(before, after, True)
            theirs.append(time.process_time() - started)
            _check(found, came, went, objects, squares.places, side)
            before, updates = after, len(came) + len(went)
        kernel, tree = float(np.median(ours)), float(np.median(theirs))
        ratios[f"{share:.0%}"] = tree / kernel
        rows.append(
            {"objects that moved": f"{share:.0%}", "kernel, seconds a tick": kernel,
             "STRtree, seconds a tick": tree, "updates a tick": updates, "times faster": tree / kernel}
        )  # fmt: skip
    report("follow_kernel", REASON, rows, facts | {f"times faster, {s} moving": r for s, r in ratios.items()})
    pictures.follow_kernel(rows)
    return ratios


def _check(found: Meetings, came: I64, went: I64, n: int, places: F64, side: float) -> None:
    """The same pairs, but for places on a border: |x - c| <= h and c - h <= x round differently."""
    pairs = found.old_row * n + found.region
    for state, expected in ((IS, came), (WAS, went)):
        ours = np.sort(pairs[found.state == state])
        for odd in np.setxor1d(ours, expected, assume_unique=True):
            gap = np.abs(np.abs(places[odd // n] - places[odd % n]) - side / 2).min()
            assert gap < 1e-9, f"object {odd // n}, square {odd % n}"
