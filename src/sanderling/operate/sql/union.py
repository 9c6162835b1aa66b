"""UNION ALL: the rows of all, put together."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sanderling.arrays import I64
from sanderling.operate.sql.signed import Signed, put_together


class Union:
    """Remembers nothing."""

    def apply(self, inputs: Sequence[Signed], begun: Signed) -> Signed:
        return put_together(inputs)

    def forget(self, queries: I64) -> None:
        """Nothing is remembered."""

    def held(self) -> int:
        return 0

    def saved(self) -> dict[str, pa.Table]:
        return {}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        """Nothing is remembered."""
