"""Triggers over the buoys' readings: events a second and live events, by verbosity, number and length.

The paper's figures 5, 6 and 7. Verbosity is alerts over readings, for each trigger; the bands of values that
its variables take are tuned to it. Times are the processor's, of one core: other work does not show in them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import pictures
from benchmarks.buoys import DAY, Stream, Wishes, judged, stream, wishes
from benchmarks.report import report
from sanderling.kernels.solve_plain import PlainSolver
from sanderling.merge.triggers import GRID, LISTS, LOOSE, TIGHT, Solutions, Solver

REASON = "three readings near each other and within days: how fast, and how many of them are held"
STRATEGIES = {"LOOSE": (LOOSE, GRID), "TIGHT": (TIGHT, GRID), "NoIndex": (TIGHT, LISTS)}
ROUNDS = 8  # of tuning


def solver_of(asked: Wishes, strategy: str) -> Solver:
    expiry, index = STRATEGIES[strategy]
    return Solver(np.arange(len(asked.wide)), asked.graph(), expiry=expiry, index=index)


def alerts(asked: Wishes, readings: Stream) -> npt.NDArray[np.int64]:
    """By trigger."""
    found = solver_of(asked, "TIGHT").advance(judged(readings, asked))
    return np.bincount(found.trigger, minlength=len(asked.wide))


def part(readings: Stream, begin: int, some: int) -> Stream:
    return Stream._make(column[..., begin : begin + some] for column in readings)


def tuned(asked: Wishes, readings: Stream, verbosity: float) -> Wishes:
    """With bands so wide that so many alerts come, judged by one quarter of a year in two years."""
    is_in = (readings.ts // (91 * DAY)) % 8 == 0
    sample = Stream._make(column[..., is_in] for column in readings)
    some = len(sample.ts)
    for _ in range(ROUNDS):
        told = alerts(asked, sample)
        # A solution needs an event in each of three bands.
        factor = np.cbrt(verbosity * some / np.maximum(told, 0.3)).clip(0.3, 2)
        asked = asked._replace(wide=np.minimum(asked.wide * factor, 0.5))
    return asked


def measure(asked: Wishes, readings: Stream, figure: str, value: float) -> list[dict[str, Any]]:
    """Each strategy over the same events; they find the same."""
    started = time.process_time()
    events = judged(readings, asked)
    judging = time.process_time() - started
    rows: list[dict[str, Any]] = []
    told: Solutions | None = None
    for strategy in STRATEGIES:
        solver = solver_of(asked, strategy)
        started = time.process_time()
        found = solver.advance(events)
        taken = time.process_time() - started
        assert told is None or all((a == b).all() for a, b in zip(told, found, strict=True))
        told, n = found, len(readings.ts)
        # Where lists are kept by variable, an event counts as often as it stands in one.
        held = solver.most_entries if strategy == "NoIndex" else solver.most_events
        rows.append(
            {"figure": figure, "value": value, "strategy": strategy, "triggers": len(asked.wide),
             "verbosity, %": 100 * len(found.ts) / n / len(asked.wide), "rows an event": len(events.ts) / n,
             "events a second": n / taken, "with judging": n / (taken + judging),
             "most held": held, "held, %": 100 * held / n}
        )  # fmt: skip
    return rows


def beside_the_twin(asked: Wishes, readings: Stream) -> float:
    """How often faster the kernel is than plain Python, over a part; both find the same."""
    solver = solver_of(asked, "TIGHT")
    plain, events = PlainSolver(solver.rules, solver.how), judged(readings, asked)
    started = time.process_time()
    found = solver.advance(events)
    between = time.process_time()
    twin = plain.advance(solver.rows(events))
    ended = time.process_time()
    assert [tuple(order) for order in found.order.tolist()] == [s[1:] for s in twin], "other solutions"
    assert solver.most_entries == plain.most_entries
    return (ended - between) / (between - started)


def run(
    events: int = 900_000,
    verbosities: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1),
    numbers: tuple[int, ...] = (5, 10, 25, 50, 100),
    lengths: tuple[float, ...] = (1, 2, 4, 8, 16),
    plain: int = 100_000,
) -> dict[str, float]:
    readings, usual = stream(events), 4.0
    solver_of(wishes(5, usual), "TIGHT").advance(judged(part(readings, 0, 99), wishes(5, usual)))  # compile
    rows = []
    for verbosity in verbosities:
        asked = tuned(wishes(5, usual), readings, verbosity)
        rows += measure(asked, readings, "verbosity, %", 100 * verbosity)
    for number in numbers:
        asked = tuned(wishes(number, usual), readings, 0.01)
        rows += measure(asked, readings, "triggers", number)
    for days in lengths:
        rows += measure(tuned(wishes(5, days), readings, 0.01), readings, "days", days)
    asked = tuned(wishes(5, usual), readings, 0.01)
    times = beside_the_twin(asked, part(readings, len(readings.ts) // 2, plain))
    facts = {"readings": len(readings.ts), "times faster than the plain twin": times}
    report("triggers", REASON, rows, facts)
    pictures.triggers(rows)
    return facts
