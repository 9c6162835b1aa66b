"""What 10,000 queries with PERSISTENCY, and 10,000 patterns of Q1's shape, cost beside plain range queries.

100,000 objects of the simulated city, all of which move, without Spark. Ways take turns, step by step, and
times are the processor's: so the ratios hold on a busy machine.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.patterns import STEP_S, Run, Square, planned, world
from benchmarks.report import report
from sanderling.simulate.city import RADIUS_M

REASON = "10,000 queries with PERSISTENCY and 10,000 patterns, times their range queries alone"
RANGES, STAYS, PATTERNS, NOBODY = "range queries", "with PERSISTENCY", "patterns", "patterns nobody enters"


def squares(count: int, side_m: float, seed: int = 3) -> list[tuple[Square, Square]]:
    """Each with another beside it."""
    rng = np.random.default_rng(seed)
    at = rng.uniform(-RADIUS_M, RADIUS_M, (count, 2))
    near = at + np.array([2 * side_m, 0])
    return [(_around(a, side_m), _around(b, side_m)) for a, b in zip(at.tolist(), near.tolist(), strict=True)]


def _around(middle: Sequence[float], side_m: float) -> Square:
    (x, y), half = middle, side_m / 2
    return x - half, y - half, x + half, y + half


def inside(square: Square) -> str:
    return f"INSIDE ({', '.join(f'{v:.3f}' for v in square)})"


def statements(way: str, where: Sequence[tuple[Square, Square]], stay_s: int) -> list[str]:
    if way in (RANGES, STAYS):
        stay = f" PERSISTENCY {stay_s} SECONDS" if way == STAYS else ""
        return [
            f"REGISTER QUERY q{i} AS SELECT id FROM people {inside(one)}{stay}"
            for i, (one, _) in enumerate(where)
        ]
    far = [((1e6 + i, 1e6, 1e6 + i + 1, 1e6 + 1), other) for i, (_, other) in enumerate(where)]
    chosen = where if way == PATTERNS else far
    return [pattern_of(f"p{i}", *two, stay_s) for i, two in enumerate(chosen)]


def pattern_of(name: str, one: Square, other: Square, stay_s: int) -> str:
    stay = f"PERSISTENCY {stay_s} SECONDS"
    return (
        f"REGISTER PATTERN {name} AS WITH a AS (SELECT id FROM people {inside(one)} {stay}), "
        f"b AS (SELECT id FROM people {inside(other)} {stay}) "
        "SELECT id FROM a AS visit THEN b WITHIN 1 HOUR THEN ENTERING a AS back WITHIN 1 DAY OF visit"
    )


def run(
    objects: int = 100_000, queries: int = 10_000, side_m: float = 50.0, stay_s: int = 40, warm: int = 12,
    measured: int = 12,
) -> dict[str, float]:  # fmt: skip
    made, where = world(objects, warm + measured), squares(queries, side_m)
    runs = {way: Run(planned(statements(way, where, stay_s))) for way in (RANGES, STAYS, PATTERNS, NOBODY)}
    for number, readings in enumerate(made.steps):
        if number == warm:
            gc.collect()
            gc.freeze()
        for one in runs.values():
            one.step(readings)
    gc.unfreeze()
    seconds = {way: float(np.median(one.seconds[warm:])) for way, one in runs.items()}
    rows: list[dict[str, Any]] = [
        {"way": way, "processor's ms a tick": 1000 * s, "times range queries": s / seconds[RANGES],
         "told a tick": sum(runs[way].rows.values()) / len(made.steps)}
        for way, s in seconds.items()
    ]  # fmt: skip
    facts = {"objects": objects, "queries": queries, "seconds between ticks": STEP_S}
    ratios = {row["way"]: row["times range queries"] for row in rows}
    report("patterns_at_scale", REASON, rows, facts)
    return ratios
