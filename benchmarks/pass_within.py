"""Who has passed where another has been: PASS_WITHIN beside a k-d tree over all places of the window."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.engine import Whole
from benchmarks.report import report
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

REASON = "pairs that came within a radius of a place where the other was in the range, all objects moving"
PARTNERS = 5  # at an instant
STEP = 0.5  # of the radius, along either axis: standard deviation

F64, I64 = npt.NDArray[np.float64], npt.NDArray[np.int64]


def run(objects: int = 2_000, instants: int = 60, ticks: int = 4) -> dict[str, float]:
    """Seconds of processor time a tick of both, once the window is full; they tell the same."""
    radius = float(np.sqrt(PARTNERS / np.pi / objects))
    rng = np.random.default_rng(1)
    places, walk = rng.random((objects, 2)), []
    for _ in range(instants + ticks + 1):
        walk.append(places)
        places = places + rng.normal(0, STEP * radius, (objects, 2))
    engine = Whole(_plan(radius, instants))
    mine, told = [], []
    for where in walk:
        started = time.process_time()
        told.append(engine.tick({"id": np.arange(objects), "x": where[:, 0], "y": where[:, 1]})[1])
        mine.append(time.process_time() - started)
    other, before, changes = [], np.empty(0, np.int64), []
    for tick in range(instants - 1, len(walk) - 1):
        started = time.process_time()
        now = _pairs(np.concatenate(walk[tick - instants + 1 : tick + 1]), objects, radius)
        changes.append(len(np.setxor1d(now, before, assume_unique=True)))
        other.append(time.process_time() - started)
        before = now
    # A tick is told with the next one.
    assert told[instants + 1 :] == changes[1:], (told[instants + 1 :], changes[1:])
    ours, tree = float(np.median(mine[instants + 1 :])), float(np.median(other[1:]))
    rows = [
        {"objects": objects, "instants": instants, "ours, seconds a tick": ours, "k-d tree": tree,
         "times faster": tree / ours, "pairs": len(before), "updates a tick": float(np.mean(changes[1:]))}
    ]  # fmt: skip
    report("pass_within", REASON, rows, {"partners at an instant": PARTNERS})
    pictures.pass_within(rows)
    return {"times faster": tree / ours}


def _pairs(places: F64, objects: int, radius: float) -> I64:
    """Of different objects, the smaller first, each pair as one number; in order."""
    one, other = (cKDTree(places).query_pairs(radius, output_type="ndarray") % objects).T
    one, other = np.minimum(one, other), np.maximum(one, other)
    return np.unique((one * objects + other)[one != other])


def _plan(radius: float, instants: int) -> Plan:
    planner = Planner()
    side = f"cars [RANGE {instants} SECONDS]"
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);\n"
        f"REGISTER QUERY passed AS SELECT a.id AS one, b.id AS other FROM {side} a, {side} b "
        f"WHERE PASS_WITHIN(a, b, {radius!r}) AND a.id < b.id;"
    )
    return planner.plan()
