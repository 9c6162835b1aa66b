"""Triggers over the buoys' readings: events a second and live events, by verbosity, number and length.

The paper's figures 5, 6 and 7. Verbosity is alerts over readings, for each trigger; the bands of values that
its variables take are tuned to it over the whole stream. Times are the processor's, of one core: other work
does not show in them.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import pictures
from benchmarks.buoys import DAY, VARIABLES, Stream, Wishes, judged, stream, wishes
from benchmarks.report import report
from sanderling.kernels.trigger.solve import Events
from sanderling.kernels.trigger.solve_plain import PlainSolver
from sanderling.operate.trigger.triggers import GRID, LISTS, LOOSE, TIGHT, Solutions, Solver

REASON = "three readings near each other and within days: how fast, and how many of them are held"
STRATEGIES = {"LOOSE": (LOOSE, GRID), "TIGHT": (TIGHT, GRID), "NoIndex": (TIGHT, LISTS)}
ROUNDS = 16  # of tuning, at most
NEAR = 0.04  # of the verbosity that was asked for

F64 = npt.NDArray[np.float64]


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
    """With bands so wide that each trigger tells that much of the whole stream, or as near as it comes."""
    wanted, wide = np.log(verbosity * len(readings.ts)), asked.wide.copy()
    # Two widths with the alerts that they give, the one too narrow and the other too wide.
    narrow, broad = np.full((len(wide), 2), -np.inf), np.full((len(wide), 2), np.inf)
    open_ = np.arange(len(wide))
    for _ in range(ROUNDS):
        told = np.log(np.maximum(alerts(asked.some(open_)._replace(wide=wide[open_]), readings), 0.3))
        is_few = told < wanted
        narrow[open_[is_few]] = np.stack([np.log(wide[open_]), told], axis=1)[is_few]
        broad[open_[~is_few]] = np.stack([np.log(wide[open_]), told], axis=1)[~is_few]
        is_off = np.abs(told - wanted) > NEAR
        open_, told = open_[is_off], told[is_off]
        if not len(open_):
            break
        wide[open_] = np.exp(_between(narrow[open_], broad[open_], np.log(wide[open_]), told, wanted))
        wide = np.minimum(wide, 1.0)
    return asked._replace(wide=wide)


def _between(narrow: F64, broad: F64, wide: F64, told: F64, wanted: float) -> F64:
    """The width to try next, as logarithms: between the two, or, where there is one, by a cube."""
    is_known = np.isfinite(narrow[:, 0]) & np.isfinite(broad[:, 0])
    with np.errstate(invalid="ignore"):
        share = ((wanted - narrow[:, 1]) / (broad[:, 1] - narrow[:, 1])).clip(0.1, 0.9)
        line = narrow[:, 0] + share * (broad[:, 0] - narrow[:, 0])
    # A solution needs an event in each of three bands.
    cube = wide + ((wanted - told) / VARIABLES).clip(-1.2, 0.7)
    return np.where(is_known, line, cube)


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
        held = most_held(solver_of(asked, strategy), events, is_by_list=strategy == "NoIndex")
        by_trigger = np.bincount(found.trigger, minlength=len(asked.wide))
        rows.append(
            {"figure": figure, "value": value, "strategy": strategy, "triggers": len(asked.wide),
             "verbosity, %": 100 * len(found.ts) / n / len(asked.wide),
             "least, %": float(100 * by_trigger.min() / n), "most, %": float(100 * by_trigger.max() / n),
             "rows an event": len(events.ts) / n,
             "events a second": n / taken, "with judging": n / (taken + judging),
             "most held": held, "held, %": 100 * held / n}
        )  # fmt: skip
    return rows


def most_held(solver: Solver, events: Events, is_by_list: bool) -> int:
    """Live events after the day that leaves the most; in lists one counts as often as it stands in them."""
    days = np.flatnonzero(np.diff(events.ts // DAY)) + 1
    by_event = np.argsort(events.event, kind="stable")
    in_order, most = events.event[by_event], 0
    for begin, end in pairwise([0, *days.tolist(), len(events.ts)]):
        rows = np.sort(by_event[slice(*np.searchsorted(in_order, (begin, end)))])
        own = (column[begin:end] for column in events[:5])
        start = np.searchsorted(rows, events.start)
        solver.advance(Events(*own, start, events.event[rows] - begin, events.is_of[rows]))
        most = max(most, solver.entries if is_by_list else solver.events)
    return most


def beside_the_twin(asked: Wishes, readings: Stream) -> float:
    """How often faster the kernel is than plain Python, over a part; both find the same."""
    solver = solver_of(asked, "TIGHT")
    plain, events = PlainSolver(solver.rules, solver.how), judged(readings, asked)
    started = time.process_time()
    found = solver.advance(events)
    between = time.process_time()
    twin = plain.advance(events)
    ended = time.process_time()
    assert [tuple(order) for order in found.order.tolist()] == [s[2:] for s in twin], "other solutions"
    assert solver.entries == sum(map(len, plain.live.values()))
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
    many = tuned(wishes(max(numbers), usual), readings, 0.01)
    for number in numbers:
        rows += measure(many.some(slice(number)), readings, "triggers", number)
    for days in lengths:
        rows += measure(tuned(wishes(5, days), readings, 0.01), readings, "days", days)
    asked = many.some(slice(5))
    times = beside_the_twin(asked, part(readings, len(readings.ts) // 2, plain))
    facts = {"readings": len(readings.ts), "times faster than the plain twin": times}
    report("triggers", REASON, rows, facts)
    pictures.triggers(rows)
    return facts
