"""What a session has done since it was connected: rows, ticks, dead letters, updates, and its lag."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.batches import Batch, Kind
from sanderling.clock import NOTHING_YET, show_time
from sanderling.deliver.changes import REFUSED
from sanderling.deliver.status import FOLLOWING, Status
from sanderling.deliver.warnings import warnings_of
from sanderling.figures.arrivals import Arrivals
from sanderling.plans.plan import ALWAYS, Plan


class Metrics:
    """Counts what the courier brings; may be asked from any thread."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}  # by stream
        self.ticks: dict[str, int] = {}
        self.closed_to: dict[str, int] = {}
        self.letters: dict[str, int] = {}  # by reason
        self.batches = 0
        self._came = np.zeros((2, 0), np.int64)  # + and −, by number of query

    def take(self, batches: Sequence[Batch]) -> None:
        self.batches += 1
        for batch in batches:
            if batch.kind == Kind.COUNTS:
                self.rows[batch.stream] = self.rows.get(batch.stream, 0) + batch.rows
                self.ticks[batch.stream] = self.ticks.get(batch.stream, 0) + batch.ticks
                if batch.closed_to != NOTHING_YET:
                    self.closed_to[batch.stream] = batch.closed_to
            elif batch.kind == Kind.LETTERS:
                for found in pc.value_counts(batch.table.column("reason")).to_pylist():
                    self._refuse(found["values"], found["counts"])
            elif batch.kind in REFUSED:
                self._refuse(str(batch.kind), batch.table.num_rows)
            elif batch.kind == Kind.DELTAS:
                self._count(*(batch.table.column(name).to_numpy() for name in ("query", "sign")))

    def _refuse(self, reason: str, rows: int) -> None:
        self.letters[reason] = self.letters.get(reason, 0) + rows

    def _count(self, query: I64, sign: I64) -> None:
        n = max(self._came.shape[1], int(query.max(initial=-1)) + 1)
        came = np.zeros((2, n), np.int64)
        came[:, : self._came.shape[1]] = self._came
        for at, wanted in enumerate((1, -1)):
            came[at] += np.bincount(query[sign == wanted], minlength=n)
        self._came = came

    @property
    def status(self) -> Status:
        came, went = self._came.sum(axis=1).tolist()
        return Status(
            FOLLOWING, rows=sum(list(self.rows.values())), ticks=sum(list(self.ticks.values())),
            letters=dict(self.letters), came=came, went=went,
        )  # fmt: skip

    def shown(self, plan: Plan | None, arrivals: dict[str, Arrivals]) -> dict[str, Any]:
        came, now = self._came, time.time()
        return {
            "rows": dict(self.rows),
            "ticks": dict(self.ticks),
            "closed_to": {name: show_time(tick) for name, tick in list(self.closed_to.items())},
            "lag_seconds": {name: round(now - tick / 1e6, 3) for name, tick in list(self.closed_to.items())},
            "dead_letters": dict(self.letters),
            "updates": {} if plan is None else _by_name(plan, came),
            "batches": self.batches,
            "warnings": [] if plan is None else warnings_of(plan, arrivals, came.sum(axis=0)),
        }


def _by_name(plan: Plan, came: I64) -> dict[str, list[int]]:
    """Of those that are there."""
    numbers = np.flatnonzero(plan.queries.end != ALWAYS)
    whole = np.zeros((2, len(plan.queries)), np.int64)
    n = min(came.shape[1], whole.shape[1])
    whole[:, :n] = came[:, :n]
    return {str(plan.queries.names[int(i)]): whole[:, i].tolist() for i in numbers}
