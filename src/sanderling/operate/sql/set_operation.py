"""INTERSECT and EXCEPT: rows of the left side by how often they are on the right.

left  ──► how often, before and after ─┐
right ──► how often, before and after ─┴─► how often it is told, before and after ──► minus ──► signed rows
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.kernels.sql.steps import walk_counts
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.rows.remembered import RemembersRows
from sanderling.operate.sql.rows.steps import Steps
from sanderling.operate.sql.signed import Signed, put_together
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class TwoSided(Multiset):
    """Rows and how often each is there on the left; beside it, on the right."""

    def _begin(self) -> None:
        super()._begin()
        self._right = Grown(0, np.int64)

    @property
    def right(self) -> I64:
        return self._right.up_to(len(self.numbered))

    @property
    def alive(self) -> I64:
        n = len(self.numbered)
        return np.flatnonzero((self.count[:n] != 0) | (self.right[:n] != 0))

    def forget(self, owners: I64) -> None:
        super().forget(owners)
        self.right[: len(self.numbered)][np.isin(self.owner, owners)] = 0

    def saved(self) -> pa.Table:
        return super().saved().append_column("right", pa.array(self.right[self.alive]))

    def restore(self, table: pa.Table) -> None:
        super().restore(table.drop_columns(["right"]))
        # Rows that are saved differ: numbered anew they are 0, 1, 2 …
        self.right[: table.num_rows] = table.column("right").to_numpy()


class SetOperation(RemembersRows):
    """Promises (tests/operate/test_set_operation.py): exact at every tick, however batches are cut; what is
    gone from both sides is freed; cost by change.
    """

    def __init__(self, node: nodes.SetOperation):
        self.node = node
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> TwoSided:
        return TwoSided(self.types)

    def apply(self, state: TwoSided, given: Changes) -> Signed:
        left, right = given.inputs
        both = put_together(given.inputs)
        steps = Steps.of(state.number(both.query, both.columns), both.tick)
        n = len(left)
        lefts = walk_counts(steps.group, steps.step[:n], left.sign, state.count)
        rights = walk_counts(steps.group, steps.step[n:], right.sign, state.right)
        before, after = (self._told(a, b) for a, b in zip(lefts, rights, strict=True))
        changed = np.flatnonzero(after != before)
        row = steps.group[changed]
        told = Signed(state.owner[row], steps.tick[changed], (after - before)[changed], state.columns(row))
        state.tidy()
        return told

    def _told(self, left: I64, right: I64) -> I64:
        """How often a row is in the answer that is so often on either side."""
        if self.node.kind == nodes.INTERSECT:
            times = np.minimum(left, right)
        elif self.node.is_all:
            times = np.maximum(left - right, 0)
        else:
            times = np.where(right > 0, 0, left)
        return times if self.node.is_all else np.minimum(times, 1)
