"""Who stays near whom: the kernel against a k-d tree that is rebuilt, asked and compared at every tick."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.report import report
from sanderling.kernels.trajectory.company import Moves
from sanderling.operate.trajectory.held import Held

REASON = "pairs that have stayed near each other for 60 ticks, by the share of objects that move"
SHARES = (1.0, 0.1, 0.01)
PARTNERS = 5
STEP = 0.05  # of the radius, along either axis: standard deviation

F64, I64 = npt.NDArray[np.float64], npt.NDArray[np.int64]


def run(objects: int = 100_000, stay: int = 59, ticks: int = 8) -> dict[str, float]:
    rows, ratios = [], {}
    for share in SHARES:
        row = measure(objects, share, stay, ticks)
        ratios[f"{share:g}"] = row["times faster"]
        rows.append(row)
    report("company_kernel", REASON, rows, {"objects": objects, "partners": PARTNERS, "step": STEP})
    pictures.company_kernel(rows)
    return ratios


def measure(objects: int, share: float, stay: int, ticks: int) -> dict[str, Any]:
    """Milliseconds a tick of both, after that at which those are told who were near at first; they tell the
    same. Each goes its whole way by itself: beside a tree the processor's caches would be full of the tree.
    """
    radius = float(np.sqrt(PARTNERS / np.pi / objects))
    ours, tree = Ours(radius, stay), Tree(radius, stay)
    taken, told, found = {"kernel": 0.0, "tree": 0.0}, [], 0
    for tick, who, places in walk(objects, share, radius, stay + 1 + ticks):
        moves = ours.moves(tick, who, places[who])
        started = time.process_time()
        rows = ours.held.walk(np.array([0]), np.array([0, len(who)]), moves, tick)
        taken["kernel"] += time.process_time() - started if tick > stay else 0.0
        if tick > stay:
            told.append(ours.as_signed(rows))
            found += len(rows)
    for tick, _, places in walk(objects, share, radius, stay + 1 + ticks):
        started = time.process_time()
        tree.walk(tick, places)
        taken["tree"] += time.process_time() - started if tick > stay else 0.0
        assert tick <= stay or told[tick - stay - 1] == tree.told, f"at tick {tick}"
    by_tick = {f"{name}, ms": 1000 * seconds / ticks for name, seconds in taken.items()}
    return {
        "moving": share, **by_tick, "times faster": taken["tree"] / taken["kernel"],
        "told a tick": found / ticks, "pairs": len(tree.codes),
    }  # fmt: skip


def walk(objects: int, share: float, radius: float, ticks: int) -> Iterator[tuple[int, I64, F64]]:
    """Tick by tick who moves, and where everybody is."""
    chance = np.random.default_rng(1)
    places = chance.random((objects, 2))
    for tick in range(ticks):
        who = np.arange(objects)
        if tick:
            who = np.sort(chance.choice(objects, int(objects * share), replace=False))
            places[who] += chance.normal(0, STEP * radius, (len(who), 2))
        yield tick, who, places


class Ours:
    def __init__(self, radius: float, stay: int):
        self.held = Held((pa.int64(), pa.int64()), is_self=True, is_globe=False)
        self.held.learn(np.array([0]), np.array([radius]), np.array([stay]))

    def moves(self, tick: int, who: I64, places: F64) -> Moves:
        placed = self.held.placed(np.zeros(len(who), np.int64), 0, pa.array(who), *places.T)
        order = np.argsort(placed.one)
        return Moves(np.full(len(who), tick), placed.one[order], placed.at[order], placed.cell[order])

    def as_signed(self, told: I64) -> set[tuple[int, int, int]]:
        """Each pair once: the smaller, the other, the sign."""
        keys = self.held.objects.rows[:, 1]
        one, other, sign = keys[told[:, 0]], keys[told[:, 1]], told[:, 3]
        is_first = one < other
        columns = (column[is_first].tolist() for column in (one, other, sign))
        return set(zip(*columns, strict=True))


@dataclass
class Tree:
    """The usual way: all pairs of a tick by a tree, sorted and compared with those of the tick before."""

    radius: float
    stay: int
    codes: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    since: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    parts: tuple[I64, I64] = (np.empty(0, np.int64), np.empty(0, np.int64))
    objects: int = 0

    def walk(self, tick: int, places: F64) -> None:
        self.objects = len(places)
        pairs = cKDTree(places).query_pairs(self.radius, output_type="ndarray")
        codes = np.sort(pairs[:, 0].astype(np.int64) * self.objects + pairs[:, 1])
        since, is_kept = np.full(len(codes), tick), np.zeros(len(self.codes), np.bool_)
        if len(self.codes):
            at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
            is_same = self.codes[at] == codes
            since[is_same] = self.since[at[is_same]]
            is_kept[at[is_same]] = True
        gone = self.codes[~is_kept & (self.since + self.stay < tick)]
        self.parts = (codes[since + self.stay == tick], gone)
        self.codes, self.since = codes, since

    @property
    def told(self) -> set[tuple[int, int, int]]:
        rows = [(part, sign) for part, sign in zip(self.parts, (1, -1), strict=True)]
        return {
            (code // self.objects, code % self.objects, sign) for part, sign in rows for code in part.tolist()
        }
