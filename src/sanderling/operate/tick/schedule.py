"""What is to be told later, by tick: added as it comes, taken as time passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.signed import Signed, put_together


class Schedule:
    """Promises (tests/operate/test_ticking.py): what is added and taken again before its tick is not held for
    long; adding and taking cost by what is added and taken, not by what is held.

    Runs in order of tick, each more than twice as long as the one behind it.
    """

    def __init__(self, types: Sequence[pa.DataType]):
        self.types = types
        self.runs: list[Signed] = []

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    @property
    def due(self) -> int | None:
        return min((int(run.tick[0]) for run in self.runs), default=None)

    def add(self, rows: Signed) -> None:
        self.runs.append(_in_order(rows))
        while len(self.runs) > 1 and len(self.runs[-2]) <= 2 * len(self.runs[-1]):
            both = [self.runs.pop(), self.runs.pop()]
            self.runs.append(_in_order(put_together(both).consolidated()))
        self.runs = [run for run in self.runs if len(run)]

    def take(self, to: int) -> Signed:
        """All up to this tick."""
        cuts = [int(np.searchsorted(run.tick, to, side="right")) for run in self.runs]
        taken = [_slice(run, 0, cut) for run, cut in zip(self.runs, cuts, strict=True) if cut]
        left = [_left(run, cut) for run, cut in zip(self.runs, cuts, strict=True)]
        self.runs = [run for run in left if len(run)]
        return put_together(taken) if taken else Signed.none(self.types)

    def all(self) -> Signed:
        return put_together([*self.runs, Signed.none(self.types)])

    def forget(self, queries: I64) -> None:
        kept = [run.take(np.flatnonzero(~np.isin(run.query, queries))) for run in self.runs]
        self.runs = [run for run in kept if len(run)]


def _in_order(rows: Signed) -> Signed:
    return rows.take(np.argsort(rows.tick, kind="stable"))


def _left(run: Signed, cut: int) -> Signed:
    """What is left of it; a view of a large array would hold on to all of it."""
    if not cut:
        return run
    rest = _slice(run, cut, len(run))
    is_small = 2 * len(rest) < (run.tick.base.size if run.tick.base is not None else len(run))
    return rest.take(np.arange(len(rest))) if is_small else rest


def _slice(rows: Signed, start: int, end: int) -> Signed:
    columns = [column.slice(start, end - start) for column in rows.columns]
    of = slice(start, end)
    return replace(rows, query=rows.query[of], tick=rows.tick[of], sign=rows.sign[of], columns=columns)
