"""What operators have in common that remember nothing but rows and how often each is there."""

from __future__ import annotations

import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.rows.multiset import Multiset


class RemembersRows:
    """Its state is a multiset, whose owners are queries."""

    def forget(self, state: Multiset, queries: I64) -> None:
        state.forget(queries)
        state.tidy(is_due=True)

    def held(self, state: Multiset) -> int:
        return len(state.alive)

    def saved(self, state: Multiset) -> dict[str, pa.Table]:
        return {"rows": state.saved()}

    def restore(self, state: Multiset, tables: dict[str, pa.Table]) -> None:
        state.restore(tables["rows"])
