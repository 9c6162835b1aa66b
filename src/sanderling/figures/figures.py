"""What operators have done, for EXPLAIN ANALYZE: rows in, rows out, rows held, seconds, by operator; and when
one is due, that speaks because time passes.

shards, merge partitions ──► the figures of one batch ──► the driver adds them up

An engine tells what it did in this very batch, so that no batch counts twice, however often it is
restored and wherever it goes on. Nothing of it is saved.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NewType

import numpy as np
import pyarrow as pa

from sanderling.figures.arrivals import Arrivals

# By which figures are told apart; all of them are made in plans/operator_ids.py.
OperatorId = NewType("OperatorId", str)

SCHEMA = pa.schema([
    ("operator", pa.string()), ("rows_in", pa.int64()), ("rows_out", pa.int64()), ("seconds", pa.float64()),
    ("held", pa.int64()), ("due", pa.int64()),
])  # fmt: skip


@dataclass(slots=True)
class Figure:
    """Of one operator; None: it does not hold, or count, any."""

    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0
    held: int | None = None
    due: int | None = None  # the tick at which it has something to tell though nothing comes

    def add(self, rows_in: int, rows_out: int, seconds: float) -> None:
        self.rows_in += rows_in
        self.rows_out += rows_out
        self.seconds += seconds


class Figures:
    """By operator. Those that work for all queries of a stream are named by it, others by their template."""

    def __init__(self) -> None:
        self._by_operator: dict[OperatorId, Figure] = {}

    def __len__(self) -> int:
        return len(self._by_operator)

    def add(
        self,
        operator: OperatorId,
        rows_in: int | np.integer[Any] = 0,
        rows_out: int | np.integer[Any] = 0,
        seconds: float = 0.0,
    ) -> None:
        self._by_operator.setdefault(operator, Figure()).add(int(rows_in), int(rows_out), seconds)

    def hold(self, operator: OperatorId, rows: int, due: int | None = None) -> None:
        """So many now, whatever there were before; and when it is due."""
        figure = self._by_operator.setdefault(operator, Figure())
        figure.held, figure.due = int(rows), due

    @contextmanager
    def timed(self, operator: OperatorId) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.add(operator, seconds=time.perf_counter() - started)

    def clear(self) -> None:
        self._by_operator.clear()

    def get(self, operator: OperatorId) -> Figure | None:
        return self._by_operator.get(operator)

    def table(self) -> pa.Table:
        rows = [
            (name, f.rows_in, f.rows_out, f.seconds, f.held, f.due) for name, f in self._by_operator.items()
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
        return pa.table([pa.array(c, t) for c, t in zip(columns, SCHEMA.types, strict=True)], schema=SCHEMA)


class Tally:
    """The figures of all batches, shards and merge partitions together."""

    def __init__(self) -> None:
        self._sums = Figures()
        # By operator, and by who holds it: how much, and when it is due.
        self._held: dict[tuple[OperatorId, int], tuple[int, int | None]] = {}
        self._arrivals: dict[str, Arrivals] = {}  # by stream

    def take(self, who: int, table: pa.Table) -> None:
        """What one of them did in a batch."""
        for row in table.to_pylist():
            self._sums.add(row["operator"], row["rows_in"], row["rows_out"], row["seconds"])
            if row["held"] is not None:
                self._held[row["operator"], who] = row["held"], row["due"]

    def arrive(self, arrivals: Mapping[str, Arrivals]) -> None:
        """What came in a batch, by stream."""
        for stream, came in arrivals.items():
            self._arrivals.setdefault(stream, Arrivals()).add(came)

    @property
    def arrivals(self) -> dict[str, Arrivals]:
        """What came of rows, by stream."""
        return {stream: replace(came) for stream, came in self._arrivals.items()}

    def warning(self, stream: str) -> str | None:
        """Where most of its readings were late, or ahead."""
        return self._arrivals[stream].warning(stream) if stream in self._arrivals else None

    def of(self, operators: Iterable[OperatorId]) -> Figure:
        """Of a line of a plan: of these operators together."""
        found = Figure()
        for operator in operators:
            one = self._sums.get(operator)
            if one is not None:
                found.add(one.rows_in, one.rows_out, one.seconds)
            held = [kept for (name, _), kept in list(self._held.items()) if name == operator]
            if held:
                found.held = (found.held or 0) + sum(rows for rows, _ in held)
            due = [tick for _, tick in held if tick is not None]
            found.due = min([*due, *([] if found.due is None else [found.due])], default=None)
        return found
