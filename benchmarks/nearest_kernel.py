"""Moving kNN queries over moving objects: the kernel against a k-d tree rebuilt, queried and diffed."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks.report import report
from sanderling.kernels.nearest.choose import compare
from sanderling.kernels.nearest.influence import advance, begin_all
from sanderling.kernels.nearest.seekers import Changes, FocalPlaces, Lists, new_scene, new_seekers, new_sights
from sanderling.space.shapes.everywhere import EVERYWHERE

REASON = "the 10 nearest to each of 10,000 of the objects: whose list changed, and how, at each tick"

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


class Neighbours:
    """The k nearest to each of the first objects, kept by the kernel."""

    def __init__(self, places: F64, queries: int, k: int):
        n = len(places)
        self.places, self.k, self.tick = places, k, 0
        self.mark = np.arange(n)
        usual = float(np.sqrt(k / (np.pi * n)))
        focal, none = np.arange(queries), np.full(queries, -1)
        self.seekers = new_seekers(
            np.full(queries, k),
            np.zeros(queries, np.int32),
            np.zeros(queries, np.uint64),
            focal,
            none,
            queries,
        )
        self.scene = new_scene(n, 1, queries, usual)
        self.scene.own[:] = focal
        self.sights = new_sights(
            self.seekers, np.full((queries, 2), np.nan), np.full(queries, EVERYWHERE, np.int8),
            np.zeros((queries, 4)), 1, usual,
        )  # fmt: skip
        self.move(np.arange(n), places)
        _, rows, _ = begin_all(focal.astype(np.int32), self.seekers, self.sights, self.scene)
        self.lists = rows.reshape(queries, k)

    def move(self, who: I64, new: F64) -> Lists:
        self.tick += 1
        ticks, (x, y) = np.full(len(who), self.tick), new.T.copy()
        holds = np.ones((1, len(who)), np.bool_)
        changes = Changes(ticks, who, x, y, who, np.zeros(len(who), np.uint64), holds)
        is_focal = who < len(self.seekers.k)
        focals = FocalPlaces(ticks[is_focal], who[is_focal], x[is_focal], y[is_focal])
        self.places[who] = new
        return advance(self.seekers, self.sights, self.scene, changes, focals)

    def diff(self, queries: npt.NDArray[np.int32], lists: I64) -> tuple[I64, I64]:
        """Who came into and who left these lists, by the kernel of the merge stage."""
        both = np.stack([self.lists[queries], lists], axis=1).ravel()
        offsets = np.arange(0, len(both) + 1, self.k)
        is_new = np.arange(2 * len(queries)) % 2 == 1
        moment, before, after = compare(offsets, both, is_new, self.mark)
        query = queries.astype(np.int64)[moment // 2] * len(self.mark)
        return (query + after)[after >= 0], (query + before)[before >= 0]


def diff(before: I64, after: I64, n: int) -> tuple[I64, I64]:
    """Who came into and who left the lists, as one number for a query and an object."""
    query = np.arange(len(before))[:, None] * n
    old, new = np.sort((query + before).ravel()), np.sort((query + after).ravel())
    return np.setdiff1d(new, old, True), np.setdiff1d(old, new, True)


def tree_lists(places: F64, queries: int, k: int) -> I64:
    """The k nearest others of each of the first objects."""
    _, found = cKDTree(places).query(places[:queries], k + 1, workers=1)
    own = np.arange(queries)[:, None]
    is_other = found != own
    # Where somebody stands on the very same place, the object itself may be missing.
    is_other[is_other.all(axis=1), -1] = False
    return np.asarray(found[is_other].reshape(queries, k))


def run(
    objects: int = 100_000, queries: int = 10_000, k: int = 10, step: float = 0.0005, ticks: int = 7,
    shares: tuple[float, ...] = (1.0, 0.1, 0.01),
) -> dict[str, float]:  # fmt: skip
    rows, facts = [], {"objects": objects, "queries": queries, "k": k, "step": step}
    ratios = {}
    for share in shares:
        rng = np.random.default_rng(3)
        neighbours = Neighbours(rng.random((objects, 2)), queries, k)
        before = tree_lists(neighbours.places, queries, k)
        assert (neighbours.lists == before).all()
        neighbours.move(np.arange(1), neighbours.places[:1])  # compile
        neighbours.diff(np.arange(1, dtype=np.int32), neighbours.lists[:1])
        ours, theirs, updates = [], [], 0
        for _ in range(ticks):
            who = np.sort(rng.choice(objects, max(1, int(share * objects)), replace=False))
            new = neighbours.places[who] + rng.normal(0, step, (len(who), 2))
            started = time.process_time()
            found = neighbours.move(who, new)
            lists = found.row.reshape(-1, k)
            told = neighbours.diff(found.query, lists)
            neighbours.lists[found.query] = lists
            ours.append(time.process_time() - started)
            started = time.process_time()
            after = tree_lists(neighbours.places, queries, k)
            came, went = diff(before, after, objects)
            theirs.append(time.process_time() - started)
            assert (neighbours.lists == after).all(), "other neighbours"
            assert all((np.sort(a) == b).all() for a, b in zip(told, (came, went), strict=True))
            before, updates = after, len(came) + len(went)
        kernel, tree = float(np.median(ours)), float(np.median(theirs))
        ratios[f"{share:.0%}"] = tree / kernel
        rows.append(
            {"objects that moved": f"{share:.0%}", "kernel, seconds a tick": kernel,
             "k-d tree, seconds a tick": tree, "updates a tick": updates, "times faster": tree / kernel}
        )  # fmt: skip
    report(
        "nearest_kernel", REASON, rows, facts | {f"times faster, {s} moving": r for s, r in ratios.items()}
    )
    return ratios
