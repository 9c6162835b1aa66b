"""PLACE's figure 6: how much is told by changes, beside how much telling every answer anew would be."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks import pictures
from benchmarks.follow_kernel import Squares
from benchmarks.report import report
from sanderling.simulate.city import make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

REASON = "rows of all answers, beside rows that came or went, in ticks of 5 seconds in the simulated city"

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
SIDES = (0.01, 0.0125, 0.015, 0.0175, 0.02)


def run(
    objects: int = 100_000,
    ticks: int = 3,
    shares: tuple[float, ...] = SHARES,
    sides: tuple[float, ...] = SIDES,
) -> list[dict[str, Any]]:
    steps = _steps(objects, ticks + 1)
    span = float(np.ptp(steps[0], axis=0).max())
    rows = [_row("share", steps, span, share, sides[0]) for share in shares]
    rows += [_row("side", steps, span, share, side) for share in (shares[0], shares[-1]) for side in sides]
    most = max(r["times"] for r in rows)
    report("answer_size", REASON, rows, {"objects": objects, "queries": objects, "most times": most})
    pictures.answer_size(rows)
    return rows


def _steps(objects: int, n: int) -> list[np.ndarray]:  # type: ignore[type-arg]
    settings = TrafficSettings(objects=objects, new=0, step_us=5_000_000, keeps_going=True)
    traffic = Traffic(make_city(settings.seed), settings)
    tables = [traffic.step() for _ in range(n)]
    return [np.column_stack([t.column("x").to_numpy(), t.column("y").to_numpy()]) for t in tables]


def _row(varied: str, steps: list[np.ndarray], span: float, share: float, side: float) -> dict[str, Any]:  # type: ignore[type-arg]
    """The median tick, when a share of the objects reports where it is."""
    rng = np.random.default_rng(6)
    squares = Squares(steps[0], side * span)
    complete = _pairs(steps[0], side * span)
    sizes, changes = [], []
    for places in steps[1:]:
        who = np.sort(rng.choice(len(places), max(1, int(share * len(places))), replace=False))
        found = squares.move(who, places[who])
        complete += int((found.state == 2).sum()) - int((found.state == 1).sum())
        sizes.append(complete)
        changes.append(len(found.tick))
    assert complete == _pairs(squares.places, side * span), "the changes do not add up to the answer"
    size, change = float(np.median(sizes)), float(np.median(changes))
    return {
        "varied": varied, "share that moved": share, "side": side, "complete answer, rows": size,
        "incremental answer, rows": change, "times": size / max(change, 1.0),
    }  # fmt: skip


def _pairs(places: np.ndarray, side: float) -> int:  # type: ignore[type-arg]
    """How many rows all answers have, by another road; nobody is in the square around itself."""
    tree = cKDTree(places)
    found = tree.query_ball_point(places, side / 2, p=np.inf, return_length=True, workers=2)
    return int(found.sum()) - len(places)
