"""The columnar batches that travel between stages.

readings ──► signed rows
(ingest)     (operate, merge, deliver)
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

# Columns that a reading carries beside its own.
TS = "__ts"
ROW = "__row"
LATE = "__late"


@dataclass(frozen=True, slots=True)
class DeltaBatch:
    """Signed rows of one template: query, tick, sign, then the select list as c0, c1, …"""

    template: int
    rows: pa.Table
