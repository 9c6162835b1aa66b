"""DISTINCT: each row once, as long as it is there at all."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.multiset import Multiset
from sanderling.operate.sql.signed import Signed
from sanderling.plans import nodes


class Distinct:
    """Promises (tests/operate/test_simple.py): exact, however batches are cut; what is gone is freed."""

    def __init__(self, node: nodes.Distinct):
        self.rows = Multiset([t.arrow for t in node.types])

    def apply(self, inputs: Sequence[Signed], begun: Signed) -> Signed:
        (changes,) = inputs
        numbers = self.rows.number(changes.query, changes.columns)
        row, tick, sign = self.rows.presence(numbers, changes.tick, changes.sign)
        told = Signed(self.rows.owner[row], tick, sign, self.rows.columns(row))
        if self.rows.is_wasteful():
            self.rows.compact()
        return told

    def forget(self, queries: I64) -> None:
        self.rows.forget(queries)
        if self.rows.is_wasteful(is_due=True):
            self.rows.compact()

    def held(self) -> int:
        return len(self.rows.alive)

    def saved(self) -> dict[str, pa.Table]:
        return {"rows": self.rows.saved()}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        self.rows.restore(tables["rows"])
