"""What the demo has seen so far: per query its answer's size and its last changes; and the pace."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sanderling.batches import Batch
from sanderling.clock import show_time
from sanderling.deliver.changes import gather
from sanderling.plans.nodes import is_told_only
from sanderling.plans.plan import Plan

TICKS_KEPT = 12
# The pace is that of the last batches: the first brings all that had waited for Spark.
BATCHES_KEPT = 10
# Of so many ticks, a minute, it is told how long their readings were on their way.
TICKS_TIMED = 60

Changes = Counter[tuple[str, int]]  # by query and sign


@dataclass
class Scene:
    """A sink: takes batches from the courier's thread; the page reads what is there."""

    plan: Plan
    held: Counter[str] = field(default_factory=Counter)
    recent: list[Changes] = field(default_factory=list)  # by tick, the last one last
    batches: list[tuple[float, int]] = field(default_factory=list)  # when, and how many readings by then
    rows: int = 0
    ticks: int = 0
    # Seconds from a reading's own time, which is the end of its tick here, to its updates; tick by tick.
    latencies_s: deque[float] = field(default_factory=lambda: deque(maxlen=TICKS_TIMED))
    began_at: float = 0.0
    delivered: int = -1
    # Those of them tell alerts: what they have told is counted, since they hold nothing.
    triggers: set[str] = field(init=False)
    # One a tick; bounded, since on a terminal nobody takes them.
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=10_000))

    def __post_init__(self) -> None:
        solving = [t.template.id for t in self.plan.trees if is_told_only(t.root)]
        self.triggers = {q.name for q in self.plan.queries if q.template in solving}

    def deliver(self, number: int, batches: list[Batch]) -> None:
        """The changes of a batch, tick by tick."""
        self.delivered = number
        (stream,) = self.plan.streams
        # Whoever looks at the map registers queries of their own: they are not on this page.
        outlets, ours = set(self.plan.outlets()), len(self.plan.queries)
        change = gather(self.plan, [b for b in batches if b.stream in outlets])[stream.stream.name]
        found: dict[int, Changes] = {}
        for table in change.rows.values():
            marks = np.stack([table.column(c).to_numpy().astype(np.int64) for c in ("tick", "query", "sign")])
            for (tick, query, sign), count in zip(*_counted(marks[:, marks[1] < ours]), strict=True):
                found.setdefault(tick, Counter())[self.plan.queries[query].name, sign] += count
        tick_us = stream.stream.tick_us
        closed = range(change.closed_to - (change.ticks - 1) * tick_us, change.closed_to + 1, tick_us)
        for tick in closed:
            self._tick(tick, found.get(tick, Counter()))
        now = time.time()
        if self.began_at:  # what waited for Spark to start is not timed
            self.latencies_s += [now - tick / 1e6 for tick in closed]
        self.began_at = self.began_at or now
        self.rows += change.rows_read
        self.ticks += change.ticks
        self.batches = [*self.batches[-BATCHES_KEPT:], (now, self.rows)]

    def _tick(self, tick: int, changes: Changes) -> None:
        for (name, sign), count in changes.items():
            self.held[name] += sign * count
        parts = "  ".join(self._said(q.name, changes) for q in self.plan.queries)
        self.lines.append(f"{show_time(tick)}  {parts}")
        self.recent = [*self.recent[1 - TICKS_KEPT :], changes]

    def _said(self, name: str, changes: Changes) -> str:
        came = f"{name} +{changes[name, 1]}"
        return came if name in self.triggers else f"{came} −{changes[name, -1]} ={self.held[name]}"

    def is_over(self, seconds: float | None) -> bool:
        """The time runs from the first batch on: until then Spark is still getting ready."""
        return seconds is not None and self.began_at > 0 and time.time() >= self.began_at + seconds

    def readings_a_second(self) -> float:
        if len(self.batches) < 2:
            return 0.0
        (first, rows_then), (last, rows_now) = self.batches[0], self.batches[-1]
        return (rows_now - rows_then) / max(last - first, 1e-9)

    def latency_s(self) -> tuple[float, float]:
        """What half of the readings were told within, and all but one in a hundred (p50, p99)."""
        p50, p99 = np.quantile(list(self.latencies_s) or [0.0], [0.5, 0.99])
        return float(p50), float(p99)


def _counted(marks: npt.NDArray[np.int64]) -> tuple[list[list[int]], list[int]]:
    """Each distinct column of numbers, and how often it is there."""
    distinct, counts = np.unique(marks, axis=1, return_counts=True)
    return distinct.T.tolist(), counts.tolist()
