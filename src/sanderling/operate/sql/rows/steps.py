"""A batch of changes as steps: each group at each tick in which it changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.order import ordered_by
from sanderling.operate.sql.rows.order import by_row_and_time


@dataclass(frozen=True, slots=True)
class Steps:
    """By group, then tick: `group` and `tick` of each step; `step` is that of each change."""

    group: I64
    tick: I64
    step: I64

    @classmethod
    def of(cls, group: I64, tick: I64) -> Steps:
        order = by_row_and_time(group, tick)
        groups, ticks = group[order], tick[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (groups[1:] != groups[:-1]) | (ticks[1:] != ticks[:-1])
        step = np.empty(len(order), np.int64)
        step[order] = np.cumsum(is_new) - 1
        return cls(groups[is_new], ticks[is_new], step)

    def __len__(self) -> int:
        return len(self.group)

    @property
    def is_first(self) -> Bools:
        """Whether a step is the first of its group."""
        is_first = np.ones(len(self), np.bool_)
        is_first[1:] = self.group[1:] != self.group[:-1]
        return is_first

    def arranged(self, step: I64) -> tuple[I64, I64]:
        """Changes in the order of their steps, and where each step's begin."""
        order = ordered_by(np.arange(len(step)), step)
        starts = np.searchsorted(step[order], np.arange(len(self) + 1))
        return order, starts
