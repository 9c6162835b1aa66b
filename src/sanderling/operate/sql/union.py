"""UNION ALL: the rows of all, put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.operate.sql.signed import Signed, put_together

I64 = npt.NDArray[np.int64]


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
