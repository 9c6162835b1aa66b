"""DISTINCT: each row once, as long as it is there at all."""

from __future__ import annotations

from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.remembered import RemembersRows
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class Distinct(RemembersRows):
    """Promises (tests/operate/test_simple.py): exact, however batches are cut; what is gone is freed."""

    def __init__(self, node: nodes.Distinct):
        self.types = [t.arrow for t in node.types]

    def new_state(self, at: None) -> Multiset:
        return Multiset(self.types)

    def apply(self, state: Multiset, given: Changes) -> Signed:
        (changes,) = given.inputs
        numbers = state.number(changes.query, changes.columns)
        row, tick, sign = state.presence(numbers, changes.tick, changes.sign)
        told = Signed(state.owner[row], tick, sign, state.columns(row))
        state.tidy()
        return told
